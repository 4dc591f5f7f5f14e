//! The values of Secrets that one request finds at the ends of its references: they go into the cluster, and nowhere else.
//!
//! Remembers the values of Secrets as they are found, and redacts them in all output of the request: an API server
//! quotes what it rejects, in objects of any kind. It does not decide what happens to the values, and who reads the
//! output. Names of the plan's resources and objects are not secrets.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use common::api::deployer::{DiffReport, Event, ObjectStatus, Report, ResourceReport};
use common::redact::Redactor;
use common::work;
use serde_json::Value;

use crate::plan::{Node, Path, Plan, Reference};

#[derive(Default)]
pub struct Secrets(Mutex<Found>);

#[derive(Default)]
struct Found {
    /// By how they are written as JSON.
    values: BTreeMap<String, Value>,
    names: BTreeSet<String>,
    /// A redactor of all values so far. It is made on the first use.
    redactor: Option<Arc<Redactor>>,
}

/// It is kept where much is printed.
impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secrets")
    }
}

impl Secrets {
    /// The names of a plan, which everybody sees anyway.
    pub fn spare(&self, plan: &Plan) {
        let names = plan.nodes.iter().flat_map(|node| {
            let (resource, object) = (&node.resource, &node.object);
            let named = [
                resource.name.as_str(),
                resource.type_name.as_str(),
                &object.kind,
                &object.name,
            ];
            named.into_iter().chain(object.namespace.as_deref())
        });
        self.found().names.extend(names.map(str::to_owned));
    }

    /// What a reference leads to in its live target, if that is secret.
    pub fn learn(&self, reference: &Reference, target: &Value) {
        if !reference.is_secret {
            return;
        }
        // What leads to the metadata leads to the whole Secret, as kubectl keeps it there.
        let values = match reference.path.is_metadata() {
            true => target.get("data"),
            false => reference.path.find(target),
        };
        values.into_iter().for_each(|value| self.remember(value));
    }

    /// What stands now where a secret is going to stand: the secret of before, or another.
    pub fn learn_former(&self, node: &Node, live: &Value, places: &[Path]) {
        let secret: Vec<_> = node.references.iter().filter(|one| one.is_secret).collect();
        let is_secret = |place: &&Path| {
            let asked = place.find(&node.template).and_then(Value::as_str);
            asked.is_some_and(|text| secret.iter().any(|one| text.contains(&one.text)))
        };
        let former = places.iter().filter(is_secret);
        former
            .filter_map(|place| place.find(live))
            .for_each(|value| self.remember(value));
    }

    fn remember(&self, value: &Value) {
        let mut found = self.found();
        let key = value.to_string();
        if found.values.insert(key, value.clone()).is_none() {
            found.redactor = None;
        }
    }

    /// Whether there is one in the value.
    pub fn hide_in(&self, value: &Value) -> bool {
        self.redactor().value(&mut value.clone())
    }

    /// The value without them, as `hide` takes them out of it. A value that many are looked for in may be large: that is
    /// not done on a thread that serves requests.
    pub async fn hidden_in<T: Send + 'static>(
        this: &Arc<Self>,
        mut value: T,
        hide: impl FnOnce(&Self, &mut T) + Send + 'static,
    ) -> T {
        if this.found().values.is_empty() {
            return value;
        }
        let this = this.clone();
        work::large(move || {
            hide(&this, &mut value);
            value
        })
        .await
    }

    /// Redacts them in an output.
    pub fn hide(&self, event: &mut Event) {
        let redactor = self.redactor();
        match event {
            _ if redactor.is_empty() => {}
            Event::Heartbeat | Event::Beat { .. } => {}
            Event::Resource(report) => hide_in_resource(&redactor, report),
            Event::Report(Report {
                resources,
                outputs,
                output_errors,
                ..
            }) => {
                for report in resources {
                    hide_in_resource(&redactor, report);
                }
                for output in outputs {
                    redactor.value(&mut output.value);
                }
                output_errors.iter_mut().for_each(|one| redactor.error(one));
            }
            Event::Diff(DiffReport { resources }) => {
                for diff in resources {
                    redactor.changes(&mut diff.changes);
                    diff.error.iter_mut().for_each(|one| redactor.error(one));
                }
            }
            Event::Error { error } => redactor.error(error),
        }
    }

    pub fn hide_in_statuses(&self, statuses: &mut Vec<ObjectStatus>) {
        let redactor = self.redactor();
        for status in statuses {
            redactor.changes(&mut status.drift);
            if let Some(reason) = &mut status.reason {
                redactor.string(reason);
            }
        }
    }

    fn redactor(&self) -> Arc<Redactor> {
        let mut found = self.found();
        if let Some(redactor) = &found.redactor {
            return redactor.clone();
        }
        let redactor = Arc::new(Redactor::sparing(found.values.values(), &found.names));
        found.redactor = Some(redactor.clone());
        redactor
    }

    fn found(&self) -> MutexGuard<'_, Found> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn hide_in_resource(redactor: &Redactor, report: &mut ResourceReport) {
    if let Some(reason) = &mut report.reason {
        redactor.string(reason);
    }
    if let Some(error) = &mut report.error {
        redactor.error(error);
    }
    if let Some(properties) = &mut report.final_properties {
        redactor.value(properties);
    }
}

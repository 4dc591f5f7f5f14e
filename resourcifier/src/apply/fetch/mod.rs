//! Reads many objects: by one list for each kind and namespace where there are many, one by one where there are few.

pub mod discovery;
pub mod outputs;
mod served;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::Duration;

use common::model::{DeploymentName, ObjectRef};
use futures::StreamExt;
use serde_json::Value;

use crate::apply::context::Context;
use crate::apply::context::pace::Deadline;
use crate::kubectl::{ClusterApi, KubectlError, Outcomes, PageRequest, Query, ServedKind};
use crate::plan::{self, Catalog};

pub use served::read;

/// Calls on their way at once: beyond this an API server gets no faster.
pub const AT_ONCE: usize = 32;
/// So many are read faster one by one, all at once, than by a list.
const FEW: usize = 8;
/// Objects of one page of a list: what is in memory together.
const PAGE: usize = 500;
/// Objects of one answer: a list that is longer is of no use to a caller without pages.
const LISTED: usize = 10_000;

/// What becomes of each object that was asked for, by its place.
type Found<'f> = &'f mut (dyn FnMut(usize, Result<Option<Value>, KubectlError>) + Send);

/// The label selector of a deployment's objects.
pub fn selector(deployment: &DeploymentName) -> String {
    format!("{}={deployment}", plan::DEPLOYMENT)
}

/// Each object, by a call of its own.
pub async fn each(
    kubectl: &dyn ClusterApi,
    objects: &[ObjectRef],
    within: Duration,
) -> Outcomes<Option<Value>> {
    let calls = objects.iter().map(|object| kubectl.get(object, within));
    futures::stream::iter(calls)
        .buffered(AT_ONCE)
        .collect()
        .await
}

/// All that a query finds, if that is not too much.
pub async fn all(
    kubectl: &dyn ClusterApi,
    query: Query<'_>,
    within: Duration,
) -> Result<Vec<Value>, KubectlError> {
    let (mut found, mut next) = (Vec::new(), None);
    loop {
        let request = PageRequest {
            limit: PAGE,
            after: next.as_deref(),
        };
        let page = kubectl.list(query, request, within).await?;
        found.extend(page.items);
        next = page.next;
        if next.is_none() {
            return Ok(found);
        }
        if found.len() >= LISTED {
            return Err(KubectlError::TooMany { limit: LISTED });
        }
    }
}

/// A list goes on as long as one in so many of a page's items was asked for.
const WORTH: usize = 8;

/// Where objects are read.
#[derive(Clone, Copy)]
pub struct Source<'a> {
    pub kubectl: &'a dyn ClusterApi,
    pub catalog: &'a Catalog,
    /// Whose label most of the objects bear.
    pub deployment: &'a DeploymentName,
    pub deadline: Deadline,
}

impl<'a> From<Context<'a>> for Source<'a> {
    fn from(context: Context<'a>) -> Self {
        Self {
            kubectl: context.kubectl,
            catalog: context.catalog,
            deployment: context.deployment,
            deadline: context.deadline,
        }
    }
}

/// Many objects, most of them the deployment's. The outcomes come in any order, each once.
pub async fn many<'a>(source: impl Into<Source<'a>>, objects: &[ObjectRef], found: Found<'_>) {
    let source = source.into();
    let mut groups: BTreeMap<(&str, &str, Option<&str>), Vec<usize>> = BTreeMap::new();
    for (place, object) in objects.iter().enumerate() {
        let key = (
            object.api_version.as_str(),
            object.kind.as_str(),
            object.namespace.as_deref(),
        );
        groups.entry(key).or_default().push(place);
    }
    let mut rest = Vec::new();
    for places in groups.into_values() {
        let kind = source.catalog.current(&objects[places[0]]);
        match kind.filter(|_| places.len() > FEW) {
            None => rest.extend(places),
            Some(kind) => {
                let group = Many {
                    source,
                    kind,
                    namespace: objects[places[0]].namespace.as_deref(),
                    places: places
                        .into_iter()
                        .map(|place| (objects[place].name.as_str(), place))
                        .collect(),
                };
                rest.extend(group.read(found).await);
            }
        }
    }
    let calls = rest.into_iter().map(|place| async move {
        let within = source.deadline.call();
        (place, source.kubectl.get(&objects[place], within).await)
    });
    let mut outcomes = futures::stream::iter(calls).buffer_unordered(AT_ONCE);
    while let Some((place, outcome)) = outcomes.next().await {
        found(place, outcome);
    }
}

/// Many objects of one kind in one namespace.
struct Many<'a> {
    source: Source<'a>,
    kind: &'a ServedKind,
    namespace: Option<&'a str>,
    /// By name.
    places: HashMap<&'a str, usize>,
}

impl Many<'_> {
    /// Gives back those that have to be read one by one: a list is forbidden, or they bear no label of the deployment.
    async fn read(mut self, found: Found<'_>) -> Vec<usize> {
        match self.labelled(found).await {
            Err(error) if error.is_transient() => {
                for place in self.places.into_values() {
                    found(place, Err(error.clone()));
                }
                return Vec::new();
            }
            Err(_) => return self.places.into_values().collect(),
            Ok(is_whole) if !is_whole || self.places.len() <= FEW => {
                return self.places.into_values().collect();
            }
            Ok(_) => {}
        }
        let names = self.names().await;
        let (there, missing): (Vec<_>, Vec<_>) = self
            .places
            .into_iter()
            .partition(|(name, _)| names.as_ref().is_none_or(|names| names.contains(*name)));
        for (_, place) in missing {
            found(place, Ok(None));
        }
        there.into_iter().map(|(_, place)| place).collect()
    }

    /// Those that bear the deployment's label. Gives whether the list was read to its end: where few of its objects are
    /// asked for, asking for each is less.
    async fn labelled(&mut self, found: Found<'_>) -> Result<bool, KubectlError> {
        let selector = selector(self.source.deployment);
        let query = Query {
            selector: Some(&selector),
            ..everything(self.kind, self.namespace)
        };
        let mut next: Option<String> = None;
        loop {
            let request = PageRequest {
                limit: PAGE,
                after: next.as_deref(),
            };
            let within = self.source.deadline.call();
            let page = self.source.kubectl.list(query, request, within).await?;
            let (listed, before) = (page.items.len(), self.places.len());
            for item in page.items {
                let name = item["metadata"]["name"].as_str().unwrap_or_default();
                if let Some(place) = self.places.remove(name) {
                    found(place, Ok(Some(item)));
                }
            }
            next = page.next;
            let asked_for = before - self.places.len();
            if next.is_none() || self.places.is_empty() || asked_for * WORTH < listed {
                return Ok(next.is_none());
            }
        }
    }

    /// The names of all objects there, unless those are so many that it is less to ask for each that is missing.
    async fn names(&self) -> Option<HashSet<String>> {
        let query = Query {
            metadata_only: true,
            ..everything(self.kind, self.namespace)
        };
        let (mut names, mut next): (HashSet<String>, Option<String>) = (HashSet::new(), None);
        loop {
            let request = PageRequest {
                limit: PAGE,
                after: next.as_deref(),
            };
            let within = self.source.deadline.call();
            let page = self.source.kubectl.list(query, request, within).await;
            let page = page.ok()?;
            let name = |item: &Value| item["metadata"]["name"].as_str().map(str::to_owned);
            names.extend(page.items.iter().filter_map(name));
            next = page.next;
            if next.is_none() {
                return Some(names);
            }
            if names.len() > PAGE + self.places.len() {
                return None;
            }
        }
    }
}

fn everything<'q>(kind: &'q ServedKind, namespace: Option<&'q str>) -> Query<'q> {
    Query {
        kind,
        namespace,
        selector: None,
        metadata_only: false,
    }
}

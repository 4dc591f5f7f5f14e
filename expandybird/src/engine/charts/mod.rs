//! Helm charts: packed ones, and folders with a `Chart.yaml` and `templates/`.
//!
//! Decides which files are the chart, and what of a rendered chart becomes a resource. What a chart means,
//! `expandybird-chart` knows; what the objects are called as resources is decided by the expansion.

mod fault;
mod lookups;
mod objects;

use std::sync::Arc;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use common::api::cluster::{self, LookupAnswer};
use common::model::{Import, Language};
use expandybird_chart::{Capabilities, Chart, File, Hosts, Release, render};
use expandybird_gotemplate::budget::Limits;
use serde_json::Value;

use super::manifests::Manifests;
use super::python::current_time;
use super::values::MadeUp;
use super::{Engine, EngineError, Instance, Output, Rendered};
use crate::cache::{Cache, Key};
use fault::{failed, invalid};
use lookups::{Answers, Asked};

/// Bytes of all charts kept read: a quarter of the least memory that an expansion process has.
const KEPT: usize = 32 << 20;
/// Files with this ending are archives, as base 64.
const ARCHIVE: &str = ".tgz";
/// The namespace of a request without one.
const NAMESPACE: &str = "default";

/// Charts that were read, by their files.
pub type ChartCache = Cache<Chart>;

pub fn cache() -> ChartCache {
    Cache::weighing(KEPT, Chart::bytes)
}

#[derive(Debug, Clone)]
pub struct Charts<'c> {
    cache: &'c ChartCache,
    capabilities: Capabilities,
    /// Absent: nothing is looked up.
    answers: Option<Answers>,
    texts: bool,
}

impl<'c> Charts<'c> {
    /// `known`: what the cluster can do. `lookups`: the answers so far, if charts may look at the cluster. `texts`: whether
    /// the texts of the charts are wanted too.
    pub fn new(
        cache: &'c ChartCache,
        known: Option<&cluster::Capabilities>,
        lookups: Option<&[LookupAnswer]>,
        texts: bool,
    ) -> Self {
        Self {
            cache,
            capabilities: capabilities(known, lookups.is_some()),
            answers: lookups.map(Answers::new),
            texts,
        }
    }

    fn chart(&self, instance: &Instance<'_>) -> Result<Arc<Chart>, EngineError> {
        let file = instance.template;
        let refused = |error| failed(instance, None, error);
        if instance.language == Language::Chart {
            return self
                .cache
                .get_or_make(Key::of([file.content.as_str()]), || {
                    Chart::from_archive(&unpacked(file)?).map_err(refused)
                });
        }
        let texts = instance.tree.iter();
        let key = Key::of(texts.flat_map(|(path, file)| [*path, file.content.as_str()]));
        self.cache.get_or_make(key, || {
            let file = |(path, file): &(&str, &Import)| {
                Ok(match path.ends_with(ARCHIVE) {
                    true => File::new(*path, unpacked(file)?),
                    false => File::new(*path, file.content.as_str()),
                })
            };
            let files = instance.tree.iter().map(file);
            Chart::from_folder(files.collect::<Result<_, EngineError>>()?).map_err(refused)
        })
    }
}

impl Engine for Charts<'_> {
    fn render(&mut self, instance: &Instance<'_>) -> Result<Output, EngineError> {
        let has_templates = |(path, _): &(&str, &Import)| path.starts_with("templates/");
        if instance.language == Language::Package && !instance.tree.iter().any(has_templates) {
            return Manifests.render(instance);
        }
        let chart = self.chart(instance)?;
        let values = instance.properties.unwrap_or(&Value::Null);
        let made_up = MadeUp::default();
        let (lookups, asked) = self.answers.as_ref().map(Answers::source).unzip();
        let hosts = Hosts {
            made: Some(made_up.host(&instance.values, current_time(instance.env))),
            lookups,
        };
        let rendered = render(
            &chart,
            values,
            &release(instance),
            &self.capabilities,
            Limits::default(),
            hosts,
        );
        let lookups = asked.map(Asked::into_lookups).unwrap_or_default();
        if !lookups.is_empty() {
            // With the answers, there may be another result, or no error.
            return Ok(Output {
                lookups,
                ..Output::new(Rendered::Placed(Vec::new()))
            });
        }
        let rendered = rendered.map_err(|error| failed(instance, Some(&chart), error))?;
        let text = self.texts.then(|| rendered.text());
        let notes = rendered.notes.trim_end().to_owned();
        let mut warnings = rendered.warnings;
        let placed = objects::placed(
            rendered.crds,
            rendered.manifests,
            rendered.hooks,
            &mut warnings,
        );
        Ok(Output {
            message: Some(notes).filter(|notes| !notes.is_empty()),
            warnings,
            values: made_up.into_used(),
            text,
            ..Output::new(Rendered::Placed(placed.map_err(|error| *error)?))
        })
    }
}

/// A chart is released under the name of its resource.
fn release(instance: &Instance<'_>) -> Release {
    let text = |key: &str| instance.env.get(key).and_then(Value::as_str);
    Release {
        revision: i64::try_from(instance.applied.saturating_add(1)).unwrap_or(i64::MAX),
        is_upgrade: instance.applied > 0,
        ..Release::install(
            text("name").unwrap_or_default(),
            text("namespace").unwrap_or(NAMESPACE),
        )
    }
}

/// What is known of the cluster, or else what Helm assumes. A chart may look at the cluster that its definitions go to.
fn capabilities(known: Option<&cluster::Capabilities>, is_live: bool) -> Capabilities {
    let assumed = Capabilities::default();
    let Some(known) = known else {
        return assumed;
    };
    let mut api_versions = match known.complete {
        true => Vec::new(),
        false => assumed.api_versions,
    };
    api_versions.extend(known.api_versions.iter().cloned());
    let version = known.kube_version.as_deref().map(whole_version);
    Capabilities {
        kube_version: version.unwrap_or(assumed.kube_version),
        api_versions,
        adds_definitions: is_live,
    }
}

/// `v1.30.0` of `1.30`.
fn whole_version(text: &str) -> String {
    let text = text.trim().trim_start_matches('v');
    let parts = text.split('.').count();
    let missing = ".0".repeat(3_usize.saturating_sub(parts));
    format!("v{text}{missing}")
}

fn unpacked(file: &Import) -> Result<Vec<u8>, EngineError> {
    let decoded = BASE64_STANDARD.decode(file.content.trim());
    decoded.map_err(|_| {
        let path = file.path();
        invalid(
            path,
            format!("'{path}' is not base 64; send a packed chart as base 64"),
        )
    })
}

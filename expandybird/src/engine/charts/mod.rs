//! Helm charts: packed ones, and folders with a `Chart.yaml` and `templates/`.
//!
//! Decides which files are the chart, and what of a rendered chart becomes a resource. What a chart means,
//! `expandybird-chart` knows; what the objects are called as resources is decided by the expansion.

mod fault;
mod objects;

use std::sync::Arc;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use common::model::{Import, Language};
use expandybird_chart::{Capabilities, Chart, File, Release, render};
use expandybird_gotemplate::budget::Limits;
use serde_json::Value;

use super::manifests::Manifests;
use super::python::current_time;
use super::values::MadeUp;
use super::{Engine, EngineError, Instance, Output, Rendered};
use crate::cache::{Cache, Key};
use fault::{failed, invalid};

/// Charts kept read. A request has a handful.
const KEPT: usize = 64;
/// Files with this ending are archives, as base 64.
const ARCHIVE: &str = ".tgz";
/// The namespace of a request without one.
const NAMESPACE: &str = "default";

/// Charts that were read, by their files.
pub type ChartCache = Cache<Chart>;

pub fn cache() -> ChartCache {
    Cache::new(KEPT)
}

#[derive(Debug, Clone, Copy)]
pub struct Charts<'c> {
    cache: &'c ChartCache,
}

impl<'c> Charts<'c> {
    pub fn new(cache: &'c ChartCache) -> Self {
        Self { cache }
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
        let rendered = render(
            &chart,
            values,
            &release(instance),
            &Capabilities::default(),
            Limits::default(),
            Some(made_up.host(&instance.values, current_time(instance.env))),
        );
        let rendered = rendered.map_err(|error| failed(instance, Some(&chart), error))?;
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
            ..Output::new(Rendered::Placed(placed.map_err(|error| *error)?))
        })
    }
}

/// A chart is released under the name of its resource.
fn release(instance: &Instance<'_>) -> Release {
    let text = |key: &str| instance.env.get(key).and_then(Value::as_str);
    Release::install(
        text("name").unwrap_or_default(),
        text("namespace").unwrap_or(NAMESPACE),
    )
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

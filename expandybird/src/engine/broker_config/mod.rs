//! Configurations of service brokers: a plan is a type, `FILE#SERVICE/PLAN`, and its properties are the parameters of a
//! request. `FILE#SERVICE/PLAN#binding` is the type of a binding.
//!
//! Responsible for reading one and for where its faults stand in its text. What it means, `expandybird-brokerconfig`
//! knows; what the objects are called as resources is decided by the expansion.

mod fault;
mod objects;
mod parameters;

use std::collections::BTreeMap;
use std::sync::Arc;

use common::api::error::ErrorCode;
use common::manifests::is_broker_config_document;
use common::model::language::part;
use common::model::{Import, Language};
use common::node::Faults;
use common::yaml::{self, Duplicates, Limits};
use expandybird_brokerconfig::{Action, Config, Inputs, Kept, Used, process};
use expandybird_templateobject::Values as _;
use jiff::Timestamp;
use serde_json::{Map, Value};

use super::python::current_time;
use super::values::UsedValue;
use super::{Engine, EngineError, Instance, Output, Rendered};
use crate::cache::{Cache, Key};
use fault::{failed, invalid, refused};

/// Configurations kept read. A request has a handful.
const KEPT: usize = 64;
/// What follows the plan in the type of a binding.
const BINDING: &str = "#binding";
/// The namespace of a request without one.
const NAMESPACE: &str = "default";

/// Configurations that were read, by their texts.
pub type BrokerConfigCache = Cache<Parsed>;

pub fn cache() -> BrokerConfigCache {
    Cache::new(KEPT)
}

/// A configuration that was read.
#[derive(Debug)]
pub struct Parsed {
    config: Arc<Config>,
    /// Which document of the text it is, from 0.
    document: usize,
}

#[derive(Debug, Clone, Copy)]
pub struct BrokerConfigs<'c> {
    cache: &'c BrokerConfigCache,
    env: &'c Map<String, Value>,
}

/// A plan, by the names in a type.
struct Chosen {
    service: String,
    plan: String,
    action: Action,
}

impl<'c> BrokerConfigs<'c> {
    pub fn new(cache: &'c BrokerConfigCache, env: &'c Map<String, Value>) -> Self {
        Self { cache, env }
    }

    fn parsed(&self, file: &Import) -> Result<Arc<Parsed>, EngineError> {
        let key = Key::of([file.content.as_str()]);
        self.cache.get_or_make(key, || parse(file))
    }

    /// Whether a broker asks, which has checked the parameters.
    fn is_of_broker(&self) -> bool {
        self.env.contains_key("instance_id")
    }
}

impl Engine for BrokerConfigs<'_> {
    fn schema(&mut self, template: &Import, _: Language) -> Result<Option<Arc<str>>, EngineError> {
        let parsed = self.parsed(template)?;
        let chosen = chosen(template, &parsed.config)?;
        let plan = parsed.config.plan(&chosen.service, &chosen.plan);
        let schema = plan.and_then(|(_, plan)| match chosen.action {
            Action::Instance => plan.schemas.create.as_ref(),
            Action::Binding => plan.schemas.bind.as_ref(),
        });
        let schema = schema.map(|schema| match self.is_of_broker() {
            true => parameters::marks(schema),
            false => schema.clone(),
        });
        Ok(schema.map(|schema| schema.to_string().into()))
    }

    fn render(&mut self, instance: &Instance<'_>) -> Result<Output, EngineError> {
        let file = instance.template;
        let parsed = self.parsed(file)?;
        let inputs = inputs(instance, chosen(file, &parsed.config)?)?;
        let done = process(&parsed.config, inputs);
        let mut done = done.map_err(|error| failed(file, parsed.document, &error))?;
        let used = done.used.drain(..).map(used).collect();
        let configuration = objects::configuration(file, parsed.document, done)?;
        let warnings = parsed.config.warnings.iter();
        let warnings = warnings.map(|fault| format!("{}: {}", fault.pointer, fault.message));
        Ok(Output {
            warnings: warnings.collect(),
            values: used,
            ..Output::new(Rendered::Data(configuration))
        })
    }
}

fn parse(file: &Import) -> Result<Parsed, EngineError> {
    let documents = yaml::read_all(&file.content, &Limits::DEFAULT, Duplicates::Error);
    let documents = documents.map_err(|source| {
        EngineError::from(common::manifests::ManifestError::Yaml {
            file: file.path().to_owned(),
            source: Box::new(source),
        })
    })?;
    let mut found = documents.iter().enumerate();
    let found = found.find(|(_, document)| is_broker_config_document(&document.value));
    let Some((index, document)) = found else {
        let message = "it has no ServiceBrokerConfig of servicebroker.couchbase.com/v1alpha1";
        return Err(invalid(file, message));
    };
    let faults = Faults::default();
    match Config::read(&document.value, &faults) {
        Some(config) => Ok(Parsed {
            config: Arc::new(config),
            document: index,
        }),
        None => Err(refused(file, index, &faults.into_inner())),
    }
}

/// The plan that the name of a type says. A configuration with one plan needs no name.
fn chosen(file: &Import, config: &Config) -> Result<Chosen, EngineError> {
    let named = part(&file.name).map(|(_, part)| part).unwrap_or_default();
    let (named, action) = match format!("#{named}").strip_suffix(BINDING) {
        Some(plan) => (plan.trim_start_matches('#').to_owned(), Action::Binding),
        None => (named.to_owned(), Action::Instance),
    };
    let services = config.services.iter();
    let plans: Vec<_> = services
        .flat_map(|service| service.plans.iter().map(move |plan| (service, plan)))
        .collect();
    let path = |service: &str, plan: &str| format!("{service}/{plan}");
    let found = match plans.as_slice() {
        [one] if named.is_empty() => Some(one),
        plans => {
            let mut plans = plans.iter();
            plans.find(|(service, plan)| path(&service.name, &plan.name) == named)
        }
    };
    let (service, plan) = found.ok_or_else(|| {
        let known: Vec<_> = plans
            .iter()
            .map(|(service, plan)| format!("#{}", path(&service.name, &plan.name)))
            .collect();
        let known = known.join(", ");
        EngineError {
            file: Some(file.path().to_owned()),
            ..EngineError::new(
                ErrorCode::InvalidConfiguration,
                format!("'{}' names no plan; its types end with {known}", file.name),
            )
        }
    })?;
    Ok(Chosen {
        service: service.name.clone(),
        plan: plan.name.clone(),
        action,
    })
}

fn inputs(instance: &Instance<'_>, chosen: Chosen) -> Result<Inputs, EngineError> {
    let text = |key: &str| instance.env.get(key).and_then(Value::as_str);
    let owned = |key: &str| text(key).map(str::to_owned);
    let kept = instance.values.all_kept().map(|one| {
        let kept = Kept {
            value: one.value.clone(),
            secret: one.secret,
        };
        (one.name.clone(), kept)
    });
    let mut seeded = instance.values.seeded();
    let time = Timestamp::from_second(current_time(instance.env)).unwrap_or_default();
    Ok(Inputs {
        action: chosen.action,
        service: chosen.service,
        plan: chosen.plan,
        // Without a broker, the resource is the instance.
        instance_id: owned("instance_id")
            .or_else(|| owned("name"))
            .unwrap_or_default(),
        binding_id: owned("binding_id"),
        namespace: text("namespace").unwrap_or(NAMESPACE).to_owned(),
        parameters: parameters::of(instance)?,
        kept: kept.collect::<BTreeMap<_, _>>(),
        random: Box::new(move |name, bytes| seeded.random(name, bytes)),
        time,
    })
}

fn used(used: Used) -> UsedValue {
    UsedValue {
        name: used.name,
        value: used.value,
        secret: used.secret,
    }
}

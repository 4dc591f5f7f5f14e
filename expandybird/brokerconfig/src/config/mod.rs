//! A configuration that was read and checked as a whole.

mod binding;
mod catalog;
mod relations;
mod template;

use std::collections::HashMap;

use common::node::{Fault, Faults, Node};
use expandybird_gotemplate::{Options, Set};
use serde_json::Value;

pub use binding::{Actions, Binding, Entry, ReadinessCheck};
pub use catalog::{Plan, Schemas, Service};
pub use template::Template;

use crate::attribute::{self, Found};
use crate::functions::functions;
use crate::run::Snippets;

/// A configuration. Threads may share it.
#[derive(Debug)]
pub struct Config {
    pub services: Vec<Service>,
    /// Texts that look like dynamic attributes and are none.
    pub warnings: Vec<Fault>,
    pub(crate) set: Set,
    templates: Vec<Template>,
    by_name: HashMap<String, usize>,
    pub(crate) bindings: Vec<Binding>,
}

impl Config {
    /// Reads a document. `None`, and all faults with their places, if it is not valid.
    pub fn read(document: &Value, faults: &Faults) -> Option<Self> {
        let before = faults.borrow().len();
        let mut config = Self::parts(document, faults)?;
        let mut found = Found::default();
        config.read_attributes(&mut found);
        relations::check(&config, &found, faults);
        let known = |name: &str| config.by_name.contains_key(name);
        for (name, pointer) in found.snippets.iter().filter(|(name, _)| !known(name)) {
            let message = format!("there is no template {name:?}");
            faults.borrow_mut().push(Fault {
                pointer: pointer.clone(),
                message,
            });
        }
        faults.borrow_mut().append(&mut found.faults);
        config.warnings = found.warnings;
        (faults.borrow().len() == before).then_some(config)
    }

    fn parts(document: &Value, faults: &Faults) -> Option<Self> {
        let root = Node::root(document, faults)?;
        let spec = root.required_object("spec")?;
        let catalog = spec.required_object("catalog");
        let templates = template::read(&spec);
        let names = templates.iter().map(|one| one.name.clone()).zip(0..);
        Some(Self {
            services: catalog.map(|node| catalog::read(&node)).unwrap_or_default(),
            warnings: Vec::new(),
            set: Set::new("configuration", functions(), Options::default()),
            by_name: names.collect(),
            templates,
            bindings: binding::read(&spec),
        })
    }

    fn read_attributes(&mut self, found: &mut Found) {
        for template in &self.templates {
            attribute::read_all(&mut self.set, &template.value, &template.pointer, found);
        }
        for action in self.bindings.iter().flat_map(Binding::actions) {
            for (text, pointer) in action.attributes() {
                attribute::read_text(&mut self.set, text, pointer, found);
            }
        }
    }

    pub(crate) fn template(&self, name: &str) -> Option<&Template> {
        self.templates.get(*self.by_name.get(name)?)
    }

    /// A plan with its service, by their names.
    #[must_use]
    pub fn plan(&self, service: &str, plan: &str) -> Option<(&Service, &Plan)> {
        let service = self.services.iter().find(|one| one.name == service)?;
        let plan = service.plans.iter().find(|one| one.name == plan)?;
        Some((service, plan))
    }

    pub(crate) fn binding(&self, service: &str, plan: &str) -> Option<&Binding> {
        let mut bindings = self.bindings.iter();
        bindings.find(|one| one.service == service && one.plan == plan)
    }
}

impl Snippets for Config {
    fn snippet(&self, name: &str) -> Option<(&Value, &str)> {
        let template = self.template(name)?;
        Some((&template.value, &template.pointer))
    }
}

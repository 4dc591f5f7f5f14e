//! How the parts of a configuration fit together: plans and bindings, bindings and templates, templates among themselves.

use std::collections::{BTreeMap, BTreeSet};

use common::node::{Fault, Faults};

use super::{Actions, Binding, Config, Plan, Service};
use crate::attribute::Found;

/// Notes every fault of the whole.
pub fn check(config: &Config, found: &Found, faults: &Faults) {
    let mut note = |pointer: &str, message: String| {
        faults.borrow_mut().push(Fault {
            pointer: pointer.to_owned(),
            message,
        });
    };
    for service in &config.services {
        for plan in &service.plans {
            plan_fits(config, service, plan, &mut note);
        }
    }
    let mut taken = BTreeSet::new();
    for binding in &config.bindings {
        binding_fits(config, binding, &mut taken, &mut note);
    }
    circles(config, found, &mut note);
}

fn plan_fits(config: &Config, service: &Service, plan: &Plan, note: &mut dyn FnMut(&str, String)) {
    let named = format!(
        "service plan '{}' for offering '{}'",
        plan.name, service.name
    );
    let Some(binding) = config.binding(&service.name, &plan.name) else {
        note(&plan.pointer, format!("{named} does not have a binding"));
        return;
    };
    let name = &binding.name;
    let message = match (plan.is_bindable, binding.binding.is_some()) {
        (false, true) => format!(
            "{named} not bindable, but binding '{name}' defines service binding configuration"
        ),
        (true, false) => format!(
            "{named} bindable, but binding '{name}' does not define service binding configuration"
        ),
        _ => return,
    };
    note(&binding.pointer, message);
}

fn binding_fits<'c>(
    config: &Config,
    binding: &'c Binding,
    taken: &mut BTreeSet<(&'c str, &'c str)>,
    note: &mut dyn FnMut(&str, String),
) {
    let Binding {
        name,
        service,
        plan,
        pointer,
        ..
    } = binding;
    let is_named = !service.is_empty() && !plan.is_empty();
    if is_named && config.plan(service, plan).is_none() {
        let message =
            format!("binding '{name}' is of plan '{plan}' of '{service}', which the catalog lacks");
        note(pointer, message);
    }
    if is_named && !taken.insert((service, plan)) {
        let message = format!("another binding is of plan '{plan}' of '{service}'");
        note(pointer, message);
    }
    let mut check = |actions: &Actions, what: &str| {
        if actions.is_empty() {
            note(
                pointer,
                format!("binding '{name}' does nothing for {what}s"),
            );
        }
        for (template, place) in actions.steps.iter().flat_map(|step| &step.templates) {
            if config.template(template).is_none() {
                note(
                    place,
                    format!(
                        "template '{template}', referenced by binding '{name}' {what}, must exist"
                    ),
                );
            }
        }
    };
    check(&binding.instance, "service instance");
    if let Some(actions) = &binding.binding {
        check(actions, "service binding");
    }
}

/// Templates that use themselves.
fn circles(config: &Config, found: &Found, note: &mut dyn FnMut(&str, String)) {
    let uses: BTreeMap<&str, BTreeSet<&str>> = config
        .templates
        .iter()
        .map(|template| {
            let within = format!("{}/", template.pointer);
            let named = found.snippets.iter();
            let named = named.filter(|(_, pointer)| pointer.starts_with(&within));
            let names = named.map(|(name, _)| name.as_str()).collect();
            (template.name.as_str(), names)
        })
        .collect();
    let mut done = BTreeSet::new();
    for template in &config.templates {
        let mut path = Vec::new();
        if let Some(circle) = circle(&template.name, &uses, &mut path, &mut done) {
            note(
                &template.pointer,
                format!("templates use each other in a circle: {circle}"),
            );
        }
    }
}

/// The first circle that is reached from a template. The recursion is as deep as templates use each other: a set that
/// is deeper than [`DEEPEST`] counts as a circle.
fn circle<'c>(
    name: &'c str,
    uses: &BTreeMap<&'c str, BTreeSet<&'c str>>,
    path: &mut Vec<&'c str>,
    done: &mut BTreeSet<&'c str>,
) -> Option<String> {
    if path.contains(&name) || path.len() > DEEPEST {
        path.push(name);
        return Some(path.join(" → "));
    }
    if done.contains(name) {
        return None;
    }
    path.push(name);
    for next in uses.get(name).into_iter().flatten() {
        if let Some(found) = circle(next, uses, path, done) {
            done.insert(name);
            return Some(found);
        }
    }
    path.pop();
    done.insert(name);
    None
}

/// Snippets are not nested so deeply when they are rendered either.
const DEEPEST: usize = 30;

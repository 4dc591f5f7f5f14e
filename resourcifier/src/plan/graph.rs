//! What depends on what, and whether that can be done at all.

use std::collections::HashMap;

use common::api::deployer::EdgeReason;
use common::api::error::{ErrorBody, ErrorCode};
use common::model::Resource;

use super::fault;
use super::object::{Draft, Object};
use super::references::Names;
use super::uses::Uses;

/// One resource that another depends on, by its index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dependency {
    pub on: usize,
    /// Whether it must be ready, or only be there and have the value that is referred to.
    pub ready: bool,
    pub because: EdgeReason,
    /// What of the resource makes it wait.
    pub detail: String,
}

/// The dependencies of each resource: those written down, and those that follow from the objects.
pub fn edges(drafts: &[Draft<'_>], objects: &[Object]) -> Vec<Result<Vec<Dependency>, ErrorBody>> {
    let names = Names::new(drafts.iter().map(|draft| draft.resource.name.as_str()));
    let (hosts, uses) = (Hosts::new(objects), Uses::new(objects));
    (0..drafts.len())
        .map(|index| {
            let mut found = named(index, &drafts[index], &names)?;
            found.extend(referred(&objects[index]));
            found.extend(hosts.of(&objects[index]));
            found.extend(uses.of(&objects[index]));
            found.retain(|dependency| {
                dependency.on != index || dependency.because == EdgeReason::Reference
            });
            Ok(merged(found))
        })
        .collect()
}

/// Those of `dependsOn`: all that bear the name, but not the resource itself where another bears it too.
fn named(index: usize, draft: &Draft<'_>, names: &Names<'_>) -> Result<Vec<Dependency>, ErrorBody> {
    let mut found = Vec::new();
    for name in &draft.metadata.depends_on {
        let bearers = bearers(draft.resource, name, names)?;
        if bearers == [index] {
            return Err(told(&[draft.resource]));
        }
        found.extend(bearers.iter().map(|&on| Dependency {
            on,
            ready: true,
            because: EdgeReason::DependsOn,
            detail: format!("dependsOn {name}"),
        }));
    }
    Ok(found)
}

fn referred(object: &Object) -> impl Iterator<Item = Dependency> {
    object.references.iter().map(|reference| Dependency {
        on: reference.target,
        ready: false,
        because: EdgeReason::Reference,
        detail: reference.text.clone(),
    })
}

fn bearers<'n>(
    resource: &Resource,
    name: &str,
    names: &'n Names<'_>,
) -> Result<&'n [usize], ErrorBody> {
    let bearers = names.bearers(name);
    if bearers.is_empty() {
        let message = format!(
            "resource {} depends on {name}, but the deployment has no resource of that name",
            resource.name
        );
        return Err(fault(ErrorCode::InvalidReference, resource, message));
    }
    Ok(bearers)
}

/// In order, each once; readiness is the stronger demand, and what is written down the better reason.
fn merged(mut dependencies: Vec<Dependency>) -> Vec<Dependency> {
    dependencies.sort_by_key(|dependency| (dependency.on, !dependency.ready, dependency.because));
    dependencies.dedup_by_key(|dependency| dependency.on);
    dependencies
}

/// Takes back, where resources depend on each other in a circle, what nobody has written down: an object that uses another
/// can do without it for a while, but a circle cannot be applied at all.
pub fn loosen(edges: &mut [Vec<Dependency>]) {
    let mut dependants: Vec<Vec<usize>> = vec![Vec::new(); edges.len()];
    for (index, dependencies) in edges.iter().enumerate() {
        for dependency in dependencies {
            dependants[dependency.on].push(index);
        }
    }
    let mut waits: Vec<usize> = edges.iter().map(Vec::len).collect();
    let mut free: Vec<usize> = (0..edges.len())
        .filter(|&index| waits[index] == 0)
        .collect();
    let mut settled = vec![false; edges.len()];
    loop {
        while let Some(index) = free.pop() {
            settled[index] = true;
            for &dependant in &dependants[index] {
                waits[dependant] -= 1;
                if waits[dependant] == 0 {
                    free.push(dependant);
                }
            }
        }
        for index in (0..edges.len()).filter(|&index| !settled[index]) {
            edges[index].retain(|dependency| {
                dependency.because != EdgeReason::Use || settled[dependency.on]
            });
            let left = edges[index]
                .iter()
                .filter(|dependency| !settled[dependency.on])
                .count();
            if left < waits[index] {
                waits[index] = left;
                free.extend((left == 0).then_some(index));
            }
        }
        if free.is_empty() {
            return;
        }
        dependants
            .iter_mut()
            .enumerate()
            .for_each(|(on, dependants)| {
                dependants.retain(|&dependant| {
                    edges[dependant]
                        .iter()
                        .any(|dependency| dependency.on == on)
                });
            });
    }
}

/// The namespaces and definitions of the request: objects in them, or of them, need them first.
struct Hosts<'a> {
    namespaces: HashMap<&'a str, usize>,
    definitions: HashMap<(&'a str, &'a str), usize>,
}

impl<'a> Hosts<'a> {
    fn new(objects: &'a [Object]) -> Self {
        let (mut namespaces, mut definitions) = (HashMap::new(), HashMap::new());
        for (index, object) in objects.iter().enumerate() {
            let spec = &object.value["spec"];
            if object.id.kind == "Namespace" {
                namespaces.insert(object.id.name.as_str(), index);
            }
            let defined = spec["group"].as_str().zip(spec["names"]["kind"].as_str());
            if let Some(defined) = defined.filter(|_| object.id.kind == "CustomResourceDefinition")
            {
                definitions.insert(defined, index);
            }
        }
        Self {
            namespaces,
            definitions,
        }
    }

    fn of(&self, object: &Object) -> impl Iterator<Item = Dependency> + use<> {
        let namespace = object.id.namespace.as_deref();
        let namespace = namespace.and_then(|namespace| self.namespaces.get(namespace));
        let definition = self
            .definitions
            .get(&(object.id.group(), object.id.kind.as_str()));
        let hosts = [
            (namespace.copied(), "its namespace"),
            (definition.copied(), "its kind"),
        ];
        hosts.into_iter().filter_map(|(on, detail)| {
            Some(Dependency {
                on: on?,
                ready: true,
                because: EdgeReason::Host,
                detail: detail.to_owned(),
            })
        })
    }
}

/// How deep in the graph each resource is; a cycle is named in full.
pub fn waves(edges: &[Vec<Dependency>], resources: &[Resource]) -> Result<Vec<usize>, ErrorBody> {
    let mut waves = vec![None; edges.len()];
    for start in 0..edges.len() {
        descend(start, edges, &mut waves).map_err(|cycle| {
            let cycle: Vec<&Resource> = cycle.iter().map(|&index| &resources[index]).collect();
            told(&cycle)
        })?;
    }
    Ok(waves.into_iter().map(Option::unwrap_or_default).collect())
}

/// Depth first, without recursion: a chain may be as long as there are resources. Fails with the cycle that it found.
fn descend(
    start: usize,
    edges: &[Vec<Dependency>],
    waves: &mut [Option<usize>],
) -> Result<(), Vec<usize>> {
    if waves[start].is_some() {
        return Ok(());
    }
    let mut trail = vec![(start, 0)];
    let mut on_trail = HashMap::from([(start, 0)]);
    while let Some((node, next)) = trail.last_mut() {
        let node = *node;
        let Some(dependency) = edges[node].get(*next) else {
            let deepest = edges[node]
                .iter()
                .filter_map(|dependency| waves[dependency.on])
                .max();
            waves[node] = Some(deepest.map_or(0, |wave| wave + 1));
            on_trail.remove(&node);
            trail.pop();
            continue;
        };
        *next += 1;
        if let Some(&position) = on_trail.get(&dependency.on) {
            return Err(trail[position..].iter().map(|(node, _)| *node).collect());
        }
        if waves[dependency.on].is_none() {
            on_trail.insert(dependency.on, trail.len());
            trail.push((dependency.on, 0));
        }
    }
    Ok(())
}

fn told(cycle: &[&Resource]) -> ErrorBody {
    let circle = cycle.iter().chain(cycle.first());
    let circle: Vec<&str> = circle.map(|resource| resource.name.as_str()).collect();
    let message = format!(
        "resources depend on each other in a circle: {}",
        circle.join(" → ")
    );
    fault(ErrorCode::InvalidReference, cycle[0], message)
}

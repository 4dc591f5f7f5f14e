//! Which resource depends on which, and whether that order is possible.

pub mod order;
mod uses;

use std::collections::HashMap;

use common::api::deployer::EdgeReason;
use common::model::{Resource, ResourceName};

use self::uses::Uses;
use super::error::Fault;
use super::object::{Draft, Object};
use super::references::Names;

/// One resource that another depends on, by its index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dependency {
    pub on: usize,
    /// Whether it must be ready, or only exist and have the value that is referred to.
    pub ready: bool,
    pub because: EdgeReason,
    /// The part of the resource that makes it wait.
    pub detail: String,
}

/// Dependencies of all resources together. Real resources have about ten each. 10,000 resources that all depend on each
/// other would have 100 million.
pub const DEPENDENCIES: usize = 500_000;

/// The dependencies of each resource: those written down, and those that follow from the objects.
pub fn edges(drafts: &[Draft<'_>], objects: &[Object]) -> Vec<Result<Vec<Dependency>, Fault>> {
    let names = Names::new(drafts.iter().map(|draft| draft.resource.name.as_str()));
    let (hosts, uses) = (Hosts::new(objects), Uses::new(objects));
    let mut left = DEPENDENCIES;
    let mut edges = Vec::with_capacity(drafts.len());
    for (index, draft) in drafts.iter().enumerate() {
        let found = named(index, draft, &names, left).map(|mut found| {
            found.extend(referred(&objects[index]));
            found.extend(hosts.of(&objects[index]));
            found.extend(uses.of(&objects[index]));
            found
        });
        let taken = found.as_ref().map_or(0, Vec::len);
        let Some(rest) = left.checked_sub(taken) else {
            edges.push(Err(too_many(draft.resource)));
            return edges;
        };
        left = rest;
        edges.push(found.map(|mut found| {
            found.retain(|dependency| {
                dependency.on != index || dependency.because == EdgeReason::Reference
            });
            merge(&mut found);
            found
        }));
    }
    edges
}

fn too_many(resource: &Resource) -> Fault {
    Fault::TooManyDependencies {
        resource: resource.name.clone(),
    }
}

/// The resources in `dependsOn`: all with that name, except the resource itself.
fn named(
    index: usize,
    draft: &Draft<'_>,
    names: &Names<'_>,
    left: usize,
) -> Result<Vec<Dependency>, Fault> {
    let mut found = Vec::new();
    for name in &draft.metadata.depends_on {
        let bearers = bearers(draft.resource, name, names)?;
        if bearers == [index] {
            return Err(Fault::Circle(vec![draft.resource.name.clone()]));
        }
        if found.len() + bearers.len() > left {
            return Err(too_many(draft.resource));
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
) -> Result<&'n [usize], Fault> {
    match names.bearers(name) {
        [] => Err(Fault::NoDependency {
            resource: resource.name.clone(),
            name: name.to_owned(),
        }),
        bearers => Ok(bearers),
    }
}

/// Sorts the dependencies and removes duplicates. Readiness is the stronger demand, and `dependsOn` the better reason.
pub fn merge(dependencies: &mut Vec<Dependency>) {
    dependencies.sort_by_key(|dependency| (dependency.on, !dependency.ready, dependency.because));
    dependencies.dedup_by_key(|dependency| dependency.on);
}

/// Removes implicit dependencies from circles. An object that uses another one can exist without it for a while, but a
/// circle cannot be applied at all.
///
/// Resources that wait for no circle settle first. Each remaining resource then gives up its uses of other remaining
/// ones. So each dependency is visited twice, even in long chains.
pub fn loosen(edges: &mut [Vec<Dependency>]) {
    let mut dependants: Vec<Vec<usize>> = vec![Vec::new(); edges.len()];
    for (index, dependencies) in edges.iter().enumerate() {
        for dependency in dependencies {
            dependants[dependency.on].push(index);
        }
    }
    let waits = edges.iter().map(Vec::len).collect();
    let mut settling = Settling {
        dependants,
        waits,
        settled: vec![false; edges.len()],
    };
    let free = (0..edges.len()).filter(|&index| edges[index].is_empty());
    settling.settle(free.collect());
    let circles: Vec<usize> = (0..edges.len())
        .filter(|&index| !settling.settled[index])
        .collect();
    for &index in &circles {
        edges[index].retain(|dependency| {
            dependency.because != EdgeReason::Use || settling.settled[dependency.on]
        });
    }
}

/// Which resources can be applied, as far as it is known.
struct Settling {
    /// The resources that wait for each resource.
    dependants: Vec<Vec<usize>>,
    /// For how many unsettled resources each waits.
    waits: Vec<usize>,
    settled: Vec<bool>,
}

impl Settling {
    /// Settles these resources, and all that wait for nothing else.
    fn settle(&mut self, mut free: Vec<usize>) {
        while let Some(index) = free.pop() {
            self.settled[index] = true;
            for &dependant in &self.dependants[index] {
                self.waits[dependant] -= 1;
                if self.waits[dependant] == 0 {
                    free.push(dependant);
                }
            }
        }
    }
}

/// The namespaces and definitions of the request. Objects in these namespaces, or of these kinds, need them first.
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

/// The depth of each resource in the graph. For a cycle, an error that lists all its resources.
pub fn waves(
    edges: &[Vec<Dependency>],
    name: &dyn Fn(usize) -> ResourceName,
) -> Result<Vec<usize>, Fault> {
    let mut waves = vec![None; edges.len()];
    for start in 0..edges.len() {
        descend(start, edges, &mut waves)
            .map_err(|circle| Fault::Circle(circle.into_iter().map(name).collect()))?;
    }
    Ok(waves.into_iter().map(Option::unwrap_or_default).collect())
}

/// Depth first, without recursion: a chain may be as long as the list of resources. Fails with the first cycle.
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

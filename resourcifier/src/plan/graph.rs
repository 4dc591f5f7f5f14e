//! What depends on what, and whether that can be done at all.

use std::collections::HashMap;

use common::api::error::{ErrorBody, ErrorCode};
use common::model::Resource;

use super::fault;
use super::object::{Draft, Object};
use super::references::Names;

/// One resource that another depends on, by its index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dependency {
    pub on: usize,
    /// Whether it must be ready, or only have the value that is referred to.
    pub ready: bool,
}

/// The dependencies of each resource: those written down, and those that follow from the objects.
pub fn edges(drafts: &[Draft<'_>], objects: &[Object]) -> Vec<Result<Vec<Dependency>, ErrorBody>> {
    let names = Names::new(drafts.iter().map(|draft| draft.resource.name.as_str()));
    let hosts = Hosts::new(objects);
    (0..drafts.len())
        .map(|index| {
            let mut found: Vec<Dependency> = objects[index]
                .references
                .iter()
                .map(|reference| Dependency {
                    on: reference.target,
                    ready: false,
                })
                .collect();
            for name in &drafts[index].metadata.depends_on {
                found.extend(
                    bearers(drafts[index].resource, name, &names)?
                        .iter()
                        .map(|&on| Dependency { on, ready: true }),
                );
            }
            found.extend(
                hosts
                    .of(&objects[index])
                    .filter(|&on| on != index)
                    .map(|on| Dependency { on, ready: true }),
            );
            Ok(merged(found))
        })
        .collect()
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

/// In order, each once; readiness is the stronger demand.
fn merged(mut dependencies: Vec<Dependency>) -> Vec<Dependency> {
    dependencies.sort_by_key(|dependency| (dependency.on, !dependency.ready));
    dependencies.dedup_by_key(|dependency| dependency.on);
    dependencies
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

    fn of(&self, object: &Object) -> impl Iterator<Item = usize> + use<> {
        let namespace = object
            .id
            .namespace
            .as_deref()
            .and_then(|namespace| self.namespaces.get(namespace));
        let definition = self
            .definitions
            .get(&(object.id.group(), object.id.kind.as_str()));
        [namespace.copied(), definition.copied()]
            .into_iter()
            .flatten()
    }
}

/// How deep in the graph each resource is; a cycle is named in full.
pub fn waves(edges: &[Vec<Dependency>], resources: &[Resource]) -> Result<Vec<usize>, ErrorBody> {
    let mut waves = vec![None; edges.len()];
    for start in 0..edges.len() {
        descend(start, edges, &mut waves).map_err(|cycle| told(&cycle, resources))?;
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

fn told(cycle: &[usize], resources: &[Resource]) -> ErrorBody {
    let circle = cycle
        .iter()
        .chain(cycle.first())
        .map(|&index| resources[index].name.as_str());
    let message = format!(
        "resources depend on each other in a circle: {}",
        circle.collect::<Vec<_>>().join(" → ")
    );
    fault(ErrorCode::InvalidReference, &resources[cycle[0]], message)
}

//! Plans a deployment before anything is written: each resource as an object, its dependencies, and the order.
//!
//! Pure: it takes the served kinds as a value, and does not know live objects, kubectl or time.

mod address;
mod graph;
mod json_path;
mod kinds;
mod marks;
mod object;
mod order;
mod outputs;
mod path;
mod policies;
mod references;
mod reserved;
mod rule;
mod uses;

use common::api::deployer::{Edge, Policies};
use common::api::error::{ErrorBody, ErrorCode, Location};
use common::model::{
    DeploymentName, Namespace, ObjectRef, Output, Resource, ResourceMetadata, limits,
};
use serde_json::Value;

pub use graph::Dependency;
pub use kinds::{Catalog, Wanted};
pub use marks::{
    ACQUIRED, DELETE_POLICY, DEPLOYMENT, MANAGED_BY, MANAGER, Mark, PREFIX, RESOURCE, WAVE,
    field_manager,
};
pub use order::rank;
pub use outputs::PlannedOutput;
pub use path::{LAST_APPLIED, Path};
pub use policies::holds_data;
pub use references::{Reference, substitute};
pub use rule::{FAIL_WHEN, READY_WHEN, Rule, RuleError, rule_of};

/// What a deployment asks for.
#[derive(Debug, Clone, Copy)]
pub struct Desired<'a> {
    pub deployment: &'a DeploymentName,
    /// The namespace of namespaced objects that name none.
    pub namespace: &'a Namespace,
    pub resources: &'a [Resource],
    pub outputs: &'a [Output],
    pub policies: Policies,
}

/// One resource, ready to be applied after its dependencies.
#[derive(Debug, Clone)]
pub struct Node {
    pub resource: Resource,
    pub metadata: ResourceMetadata,
    pub object: ObjectRef,
    /// The object to apply, with the deployment's marks. It still contains references to values of other resources.
    pub template: Value,
    /// Its dependencies, in the order of the resources.
    pub dependencies: Vec<Dependency>,
    pub references: Vec<Reference>,
    /// The length of the longest chain of dependencies below it. Deletion goes from the highest to the lowest.
    pub wave: usize,
}

/// All resources, in the order of the request.
#[derive(Debug, Clone, Default)]
pub struct Plan {
    pub nodes: Vec<Node>,
    pub outputs: Vec<PlannedOutput>,
}

impl Plan {
    /// The dependencies.
    pub fn edges(&self) -> Vec<Edge> {
        let edges = self.nodes.iter().enumerate().flat_map(|(resource, node)| {
            node.dependencies.iter().map(move |dependency| Edge {
                resource,
                on: dependency.on,
                ready: dependency.ready,
                because: dependency.because,
                detail: dependency.detail.clone(),
            })
        });
        edges.collect()
    }
}

/// The plan, or all its faults, each with its resource.
pub fn plan(desired: Desired<'_>, catalog: &Catalog) -> Result<Plan, ErrorBody> {
    let count = desired.resources.len();
    if count > limits::RESOURCES {
        let message = format!(
            "the configuration has {count} resources, more than the limit of {}",
            limits::RESOURCES
        );
        return Err(ErrorBody::new(ErrorCode::TooManyResources, message));
    }
    let drafts = gathered(object::drafts(desired.resources, catalog))?;
    let objects = gathered(object::resolve(&drafts, desired))?;
    gathered(object::distinct(&objects, desired.resources))?;
    gathered(object::rules(&objects, desired.resources))?;
    let mut outputs = gathered(outputs::planned(desired))?;
    let secrets: Vec<bool> = objects.iter().map(object::Object::is_secret).collect();
    for output in &mut outputs {
        references::mark_secret(&mut output.references, |target| secrets[target]);
    }
    let mut edges = gathered(graph::edges(&drafts, &objects))?;
    graph::loosen(&mut edges);
    let waves = graph::waves(&edges, desired.resources)?;
    let nodes = drafts.into_iter().zip(objects).zip(edges).zip(waves).map(
        |(((draft, object), dependencies), wave)| {
            let mark = Mark {
                deployment: desired.deployment,
                resource: &draft.resource.name,
                wave,
                delete_policy: draft.metadata.delete_policy,
            };
            let template = mark.put_on(object.value);
            let mut references = object.references;
            references::mark_secret(&mut references, |target| secrets[target]);
            Node {
                resource: draft.resource.clone(),
                metadata: policies::overridden(draft.metadata, desired.policies, &object.id),
                object: object.id,
                template,
                dependencies,
                references,
                wave,
            }
        },
    );
    Ok(Plan {
        nodes: nodes.collect(),
        outputs,
    })
}

/// What the resources need to know about the cluster.
pub fn wanted(resources: &[Resource]) -> Vec<Wanted> {
    resources
        .iter()
        .filter_map(|resource| object::wanted(resource).ok())
        .collect()
}

/// The faults of several resources as one error.
fn gathered<T>(results: Vec<Result<T, ErrorBody>>) -> Result<Vec<T>, ErrorBody> {
    let (mut good, mut faults) = (Vec::with_capacity(results.len()), Vec::new());
    for result in results {
        match result {
            Ok(value) => good.push(value),
            Err(fault) => faults.push(fault),
        }
    }
    match faults.len() {
        0 => Ok(good),
        1 => Err(faults.remove(0)),
        count => {
            let message = format!(
                "{count} resources cannot be applied as they are; the first: {}",
                faults[0].message
            );
            Err(ErrorBody::new(faults[0].code, message).caused_by(faults))
        }
    }
}

/// An error about one resource.
fn fault(code: ErrorCode, resource: &Resource, message: String) -> ErrorBody {
    let location = Location {
        resource: Some(resource.name.to_string()),
        ..Location::default()
    };
    ErrorBody::new(code, message).at(location)
}

#[cfg(test)]
mod tests;

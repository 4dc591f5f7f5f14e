//! What is to be done, worked out before anything is: each resource as an object, what it depends on, and in which order.
//!
//! Pure: it takes what the cluster serves as a value, and knows nothing of live objects, kubectl or time.

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
    /// Where namespaced objects go that name no namespace.
    pub namespace: &'a Namespace,
    pub resources: &'a [Resource],
    pub outputs: &'a [Output],
    pub policies: Policies,
}

/// One resource, ready to be applied once what it depends on is there.
#[derive(Debug, Clone)]
pub struct Node {
    pub resource: Resource,
    pub metadata: ResourceMetadata,
    pub object: ObjectRef,
    /// The object as it is to be applied, marked as the deployment's; values of other resources still stand as references.
    pub template: Value,
    /// In the order of the resources: what must be there first.
    pub dependencies: Vec<Dependency>,
    pub references: Vec<Reference>,
    /// How many others must be there first, one after the other. Deletion goes from the highest to the lowest.
    pub wave: usize,
}

/// All of it, in the order of the request.
#[derive(Debug, Clone, Default)]
pub struct Plan {
    pub nodes: Vec<Node>,
    pub outputs: Vec<PlannedOutput>,
}

impl Plan {
    /// What waits for what.
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

/// The plan, or every fault of it, each tied to its resource.
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

/// What the resources need to know of the cluster.
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

//! Plans a deployment before anything is written: each resource as an object, its dependencies, and the order.
//!
//! Pure: it takes the served kinds as a value, and does not know live objects, kubectl or time.

mod error;
mod graph;
pub mod hooks;
mod kinds;
mod marks;
mod object;
mod path;
mod policies;
mod references;
mod rule;

use common::api::deployer::{Edge, Policies};
use common::model::{
    DeletePolicy, DeploymentName, Namespace, ObjectRef, Output, Resource, ResourceMetadata, limits,
};
use serde_json::Value;

use self::object::{Draft, Object};

pub use error::{Fault, PlanError};
pub use graph::Dependency;
pub use graph::order::rank;
pub use kinds::{Catalog, Wanted};
pub use marks::{
    ACQUIRED, DELETE_POLICY, DEPLOYMENT, MANAGED_BY, MANAGER, Mark, PREFIX, RESOURCE, RUN, SHARED,
    SHARED_BY, SHARED_MANAGER, WAVE, field_manager, shared_by,
};
pub use path::{LAST_APPLIED, Path};
pub use policies::holds_data;
pub use references::outputs::PlannedOutput;
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
    /// Set for a hook that runs now.
    pub run: Option<hooks::Run>,
    /// Whether it is only looked at, because others refer to it.
    pub is_observed: bool,
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
        hooks::all_edges(self)
    }
}

/// The plan.
///
/// # Errors
/// All faults of one step, each with its resource. Later steps are not checked.
pub fn plan(desired: Desired<'_>, catalog: &Catalog) -> Result<Plan, PlanError> {
    let count = desired.resources.len();
    if count > limits::RESOURCES {
        return Err(PlanError::TooManyResources { count });
    }
    let drafts = gathered(object::drafts(desired.resources, catalog))?;
    let objects = gathered(object::resolve(&drafts, desired))?;
    gathered(object::distinct(&objects, desired.resources))?;
    gathered(object::rules(&objects, desired.resources))?;
    gathered(object::sharing(&drafts, &objects))?;
    let mut outputs = gathered(references::outputs::planned(desired))?;
    let secrets: Vec<bool> = objects.iter().map(Object::is_secret).collect();
    for output in &mut outputs {
        references::mark_secret(&mut output.references, |target| secrets[target]);
    }
    let mut edges = gathered(graph::edges(&drafts, &objects))?;
    graph::loosen(&mut edges);
    let name = |index: usize| desired.resources[index].name.clone();
    let waves = graph::waves(&edges, &name).map_err(|circle| PlanError::of(circle, Vec::new()))?;
    let parts = drafts.into_iter().zip(objects).zip(edges).zip(waves);
    let nodes = parts.map(|(((draft, mut object), dependencies), wave)| {
        references::mark_secret(&mut object.references, |target| secrets[target]);
        node(desired, draft, object, dependencies, wave)
    });
    Ok(Plan {
        nodes: nodes.collect(),
        outputs,
    })
}

fn node(
    desired: Desired<'_>,
    draft: Draft<'_>,
    object: Object,
    dependencies: Vec<Dependency>,
    wave: usize,
) -> Node {
    let mark = Mark {
        deployment: desired.deployment,
        resource: &draft.resource.name,
        wave,
        delete_policy: match draft.metadata.shared {
            true => DeletePolicy::Abandon,
            false => draft.metadata.delete_policy,
        },
        shared: draft.metadata.is_shared(),
    };
    Node {
        resource: draft.resource.clone(),
        metadata: policies::overridden(draft.metadata, desired.policies, &object.id),
        template: mark.put_on(object.value),
        references: object.references,
        object: object.id,
        dependencies,
        wave,
        run: None,
        is_observed: false,
    }
}

/// What the resources need to know about the cluster.
pub fn wanted(resources: &[Resource]) -> Vec<Wanted> {
    resources
        .iter()
        .filter_map(|resource| object::wanted(resource).ok())
        .collect()
}

/// All values, or all faults.
fn gathered<T>(results: Vec<Result<T, Fault>>) -> Result<Vec<T>, PlanError> {
    let (mut good, mut faults) = (Vec::with_capacity(results.len()), Vec::new());
    for result in results {
        match result {
            Ok(value) => good.push(value),
            Err(fault) => faults.push(fault),
        }
    }
    let mut faults = faults.into_iter();
    match faults.next() {
        None => Ok(good),
        Some(first) => Err(PlanError::of(first, faults.collect())),
    }
}

#[cfg(test)]
mod tests;

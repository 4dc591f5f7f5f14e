//! The part of a plan that one operation handles: which hooks run, and in which order.
//!
//! ```text
//! definitions ─► hooks before, one after the other ─► objects ─► hooks after, one after the other
//! ```
//! Each chart has this order for itself. It is no part of the waves, because those are written on the objects, and the
//! hooks differ from operation to operation.

use std::collections::BTreeMap;

use common::api::deployer::{DeleteHooks, Edge, EdgeReason, Hooks, Occasion};
use common::model::{ChartPath, HookEvent, ObjectRef, ResourceName};

use super::error::{Fault, PlanError};
use super::graph::{self, DEPENDENCIES, Dependency};
use super::marks::RUN;
use super::{Node, Plan};

/// What an operation does now.
#[derive(Debug, Clone, Copy)]
pub enum Moment<'a> {
    /// Applies the plan. Without hooks, none runs.
    Apply(Option<&'a Hooks>),
    BeforeDelete(&'a DeleteHooks),
    AfterDelete(&'a DeleteHooks),
}

/// The run of a hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    /// The operation and the event. The object has it as an annotation, so that an interrupted operation knows its own.
    pub id: String,
    pub event: HookEvent,
}

impl Moment<'_> {
    /// The events before and after the objects of a chart.
    fn events(self, chart: &ChartPath) -> [Option<HookEvent>; 2] {
        use HookEvent as E;
        match self {
            Self::Apply(None) => [None, None],
            Self::Apply(Some(hooks)) => match hooks.occasion {
                Occasion::Test => [Some(E::Test), None],
                _ if !hooks.installed.contains(chart) => {
                    [Some(E::PreInstall), Some(E::PostInstall)]
                }
                Occasion::Upgrade => [Some(E::PreUpgrade), Some(E::PostUpgrade)],
                Occasion::Rollback => [Some(E::PreRollback), Some(E::PostRollback)],
            },
            Self::BeforeDelete(_) => [Some(E::PreDelete), None],
            Self::AfterDelete(_) => [Some(E::PostDelete), None],
        }
    }

    fn is_done(self, event: HookEvent, object: &ObjectRef) -> bool {
        let done = match self {
            Self::Apply(hooks) => hooks.map_or(&[][..], |hooks| &hooks.done),
            Self::BeforeDelete(hooks) | Self::AfterDelete(hooks) => &hooks.done,
        };
        done.iter()
            .any(|done| done.event == event && done.object.is_same_object(object))
    }

    /// Whether objects that are no hooks are applied.
    fn applies(self) -> bool {
        match self {
            Self::Apply(hooks) => hooks.is_none_or(|hooks| hooks.occasion != Occasion::Test),
            Self::BeforeDelete(_) | Self::AfterDelete(_) => false,
        }
    }

    fn place(self, node: &Node) -> Option<ChartPhase> {
        let Some(hook) = &node.metadata.hook else {
            return self.applies().then_some(match node.metadata.shared {
                true => ChartPhase::Definition,
                false => ChartPhase::Object,
            });
        };
        let [before, after] = self.events(&node.metadata.chart);
        let runs = |event: &HookEvent| hook.runs_at(*event) && !self.is_done(*event, &node.object);
        let before = before.filter(runs).map(ChartPhase::Before);
        before.or_else(|| after.filter(runs).map(ChartPhase::After))
    }
}

/// Where a resource stands in the order of its chart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ChartPhase {
    Definition,
    Before(HookEvent),
    Object,
    After(HookEvent),
}

/// The part of the plan for this moment. What it refers to comes along, and is only looked at.
///
/// # Errors
/// The order of a chart makes resources depend on each other in a circle.
pub fn select(plan: Plan, moment: Moment<'_>, operation: &str) -> Result<Plan, PlanError> {
    let is_special = |node: &Node| node.metadata.hook.is_some() || node.metadata.shared;
    if moment.applies() && !plan.nodes.iter().any(is_special) {
        return Ok(plan);
    }
    let places: Vec<Option<ChartPhase>> =
        plan.nodes.iter().map(|node| moment.place(node)).collect();
    let kept = with_targets(&plan.nodes, &places);
    let mut indices = vec![None; plan.nodes.len()];
    let count = kept.iter().filter(|is_kept| **is_kept).count();
    let numbers = (0..plan.nodes.len()).filter(|&index| kept[index]).zip(0..);
    numbers.for_each(|(old, new)| indices[old] = Some(new));
    let mut nodes = Vec::with_capacity(count);
    let mut kept_places = Vec::with_capacity(count);
    for ((node, place), index) in plan.nodes.into_iter().zip(places).zip(&indices) {
        if index.is_some() {
            nodes.push(moved(node, place, &indices, operation));
            kept_places.push(place);
        }
    }
    let mut edges: Vec<Vec<Dependency>> = nodes
        .iter_mut()
        .map(|node| std::mem::take(&mut node.dependencies))
        .collect();
    ordered(&nodes, &kept_places, &mut edges)?;
    let name = |index: usize| nodes[index].resource.name.clone();
    graph::waves(&edges, &name).map_err(|circle| PlanError::of(circle, Vec::new()))?;
    for (node, edges) in nodes.iter_mut().zip(edges) {
        node.dependencies = edges;
    }
    Ok(Plan { nodes, ..plan })
}

/// All dependencies, with the order of hooks as far as it is the same in all operations.
pub fn all_edges(plan: &Plan) -> Vec<Edge> {
    use HookEvent as E;
    let place = |node: &Node| {
        let any = |events: [HookEvent; 3]| {
            let hook = node.metadata.hook.as_ref()?;
            events.into_iter().find(|event| hook.runs_at(*event))
        };
        match (&node.metadata.hook, node.metadata.shared) {
            (None, true) => Some(ChartPhase::Definition),
            (None, false) => Some(ChartPhase::Object),
            (Some(_), _) => any([E::PreInstall, E::PreUpgrade, E::PreRollback])
                .map(ChartPhase::Before)
                .or_else(|| {
                    any([E::PostInstall, E::PostUpgrade, E::PostRollback]).map(ChartPhase::After)
                }),
        }
    };
    let places: Vec<_> = plan.nodes.iter().map(place).collect();
    let mut edges: Vec<_> = plan
        .nodes
        .iter()
        .map(|node| node.dependencies.clone())
        .collect();
    // A plan with too many of them is refused when it is applied.
    let _ = ordered(&plan.nodes, &places, &mut edges);
    let edges = edges.into_iter().enumerate();
    let edges = edges.flat_map(|(resource, dependencies)| {
        dependencies.into_iter().map(move |dependency| Edge {
            resource,
            on: dependency.on,
            ready: dependency.ready,
            because: dependency.because,
            detail: dependency.detail,
        })
    });
    edges.collect()
}

/// Which nodes stay: those with a place, and all that they refer to.
fn with_targets(nodes: &[Node], places: &[Option<ChartPhase>]) -> Vec<bool> {
    let mut kept: Vec<bool> = places.iter().map(Option::is_some).collect();
    let mut open: Vec<usize> = (0..nodes.len()).filter(|&index| kept[index]).collect();
    while let Some(index) = open.pop() {
        // What is only looked at needs no values.
        if places[index].is_none() {
            continue;
        }
        for reference in &nodes[index].references {
            if !std::mem::replace(&mut kept[reference.target], true) {
                open.push(reference.target);
            }
        }
    }
    kept
}

/// The node with the new numbers of the others.
fn moved(
    mut node: Node,
    place: Option<ChartPhase>,
    indices: &[Option<usize>],
    operation: &str,
) -> Node {
    let renumbered = |mut dependency: Dependency| {
        dependency.on = indices[dependency.on]?;
        Some(dependency)
    };
    node.dependencies = node
        .dependencies
        .into_iter()
        .filter_map(renumbered)
        .collect();
    match place {
        None => {
            node.is_observed = true;
            node.references = Vec::new();
            node.dependencies = Vec::new();
        }
        Some(ChartPhase::Before(event) | ChartPhase::After(event)) => {
            let id = format!("{operation}.{}", event.as_str());
            node.template["metadata"]["annotations"][RUN] = id.as_str().into();
            node.run = Some(Run { id, event });
        }
        Some(ChartPhase::Definition | ChartPhase::Object) => {}
    }
    for reference in &mut node.references {
        // Its target is kept.
        reference.target = indices[reference.target].unwrap_or(reference.target);
    }
    node
}

/// The resources of a chart, by their places.
#[derive(Default)]
struct Chart {
    definitions: Vec<usize>,
    before: Vec<usize>,
    objects: Vec<usize>,
    after: Vec<usize>,
}

/// Adds the order of each chart, and takes implicit dependencies out of circles.
fn ordered(
    nodes: &[Node],
    places: &[Option<ChartPhase>],
    edges: &mut [Vec<Dependency>],
) -> Result<(), PlanError> {
    let mut charts: BTreeMap<&ChartPath, Chart> = BTreeMap::new();
    for (index, (node, place)) in nodes.iter().zip(places).enumerate() {
        let Some(place) = place else { continue };
        let chart = charts.entry(&node.metadata.chart).or_default();
        match place {
            ChartPhase::Definition => chart.definitions.push(index),
            ChartPhase::Before(_) => chart.before.push(index),
            ChartPhase::Object => chart.objects.push(index),
            ChartPhase::After(_) => chart.after.push(index),
        }
    }
    let mut left = DEPENDENCIES.saturating_sub(edges.iter().map(Vec::len).sum());
    for mut chart in charts.into_values() {
        in_turn(nodes, &mut chart.before);
        in_turn(nodes, &mut chart.after);
        for (index, on, detail) in chart.waits() {
            left = left.checked_sub(1).ok_or_else(|| too_many(&nodes[index]))?;
            edges[index].push(Dependency {
                on,
                ready: true,
                because: EdgeReason::Hook,
                detail: detail.to_owned(),
            });
        }
    }
    edges.iter_mut().for_each(graph::merge);
    graph::loosen(edges);
    Ok(())
}

fn too_many(node: &Node) -> PlanError {
    let resource: ResourceName = node.resource.name.clone();
    PlanError::of(Fault::TooManyDependencies { resource }, Vec::new())
}

/// By weight, then by name.
fn in_turn(nodes: &[Node], hooks: &mut [usize]) {
    let weight = |index: usize| {
        nodes[index]
            .metadata
            .hook
            .as_ref()
            .map_or(0, |hook| hook.weight)
    };
    hooks.sort_by(|&a, &b| {
        let key = |index: usize| (weight(index), &nodes[index].object.name, index);
        key(a).cmp(&key(b))
    });
}

impl Chart {
    /// Who waits for which, and why.
    fn waits(&self) -> Vec<(usize, usize, &'static str)> {
        let mut waits = Vec::new();
        let mut all = |waiting: &[usize], on: &[usize], why: &'static str| {
            for &index in waiting {
                waits.extend(on.iter().map(|&on| (index, on, why)));
            }
        };
        let (first, last) = (self.before.first().copied(), self.before.last().copied());
        all(
            first.as_slice(),
            &self.definitions,
            "the definitions of its chart",
        );
        match last {
            Some(last) => all(&self.objects, &[last], "the hooks before it"),
            None => all(
                &self.objects,
                &self.definitions,
                "the definitions of its chart",
            ),
        }
        if let Some(first) = self.after.first() {
            all(&[*first], &self.definitions, "the definitions of its chart");
            all(&[*first], last.as_slice(), "the hooks before it");
            all(&[*first], &self.objects, "the objects of its chart");
        }
        for hooks in [&self.before, &self.after] {
            for pair in hooks.windows(2) {
                all(&pair[1..], &pair[..1], "the hook before it");
            }
        }
        waits
    }
}

#[cfg(test)]
mod tests;

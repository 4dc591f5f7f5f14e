//! Plans of the Inter-operator within an expansion: what each is asked, and what it has to say.
//!
//! While one wants live objects, or is asked for something else than resources, the expansion is partial: it has no
//! resources, only their types. So references to resources that are not there yet are no faults.

use common::api::plan::{PlanAction, PlanAnswer};
use common::model::{Configuration, Layout, LayoutPath, Resource};

use super::tree::{Body, Node};
use super::{Expanded, Expander};
use crate::engine::{PlanInputs, PlanOutput};

impl<'a> Expander<'a> {
    pub(super) fn plan_inputs(&self, path: &LayoutPath) -> PlanInputs<'a> {
        let request = self.input.plans;
        let found = request.found.iter().find(|found| found.path == *path);
        PlanInputs {
            action: request.action,
            found: found.map(|found| &found.objects),
        }
    }

    pub(super) fn take_plan(&mut self, output: Option<PlanOutput>, path: &LayoutPath) {
        let answer = output.map(|output| PlanAnswer {
            path: path.clone(),
            wants: output.wants,
            status: output.status,
            selector: output.selector,
            edits: output.edits,
        });
        self.plans.extend(answer);
    }

    pub(super) fn is_partial(&self) -> bool {
        let wants = self.plans.iter().any(|plan| !plan.wants.is_empty());
        wants || self.input.plans.action != PlanAction::Apply
    }
}

impl Expanded {
    /// Only the types of the resources, for references among them.
    pub(super) fn partial(nodes: Vec<Node>) -> Self {
        let mut resources = Vec::new();
        leaves(nodes, &mut resources);
        Self {
            flat: Configuration {
                resources,
                ..Configuration::default()
            },
            layout: Layout::default(),
            instance_outputs: Vec::new(),
            notes: None,
        }
    }
}

/// The recursion is as deep as the tree, whose depth is limited.
fn leaves(nodes: Vec<Node>, found: &mut Vec<Resource>) {
    for node in nodes {
        match node.body {
            Body::Template { children, .. } => leaves(children, found),
            Body::Primitive(_) => found.push(Resource {
                name: node.name,
                type_name: node.type_name,
                properties: None,
                metadata: None,
            }),
        }
    }
}

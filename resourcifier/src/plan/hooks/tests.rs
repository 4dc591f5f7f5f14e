//! Which hooks run when, and in which order.

use common::api::deployer::{DoneHook, Policies};
use common::model::{DeploymentName, Namespace, Resource};
use serde_json::{Value, json};

use super::*;
use crate::kubectl::ServedKind;
use crate::plan::{Catalog, Desired, plan};

fn catalog() -> Catalog {
    let served = |api_version: &str, kind: &str, resource: &str, namespaced| ServedKind {
        api_version: api_version.to_owned(),
        kind: kind.to_owned(),
        resource: resource.to_owned(),
        namespaced,
        applicable: true,
    };
    Catalog::new(vec![
        served("v1", "ConfigMap", "configmaps", true),
        served("batch/v1", "Job", "jobs", true),
        served(
            "apiextensions.k8s.io/v1",
            "CustomResourceDefinition",
            "customresourcedefinitions",
            false,
        ),
    ])
}

fn planned(resources: Value) -> Plan {
    let resources: Vec<Resource> = serde_json::from_value(resources).unwrap();
    let desired = Desired {
        deployment: &DeploymentName::parse("web").unwrap(),
        namespace: &Namespace::parse("home").unwrap(),
        resources: &resources,
        outputs: &[],
        policies: Policies::default(),
    };
    plan(desired, &catalog()).unwrap()
}

fn hook(name: &str, events: &[&str], weight: i64) -> Value {
    json!({"name": name, "type": "Job", "metadata": {"chart": ["web"], "hook": {"events": events, "weight": weight}}})
}

fn object(name: &str) -> Value {
    json!({"name": name, "type": "ConfigMap", "metadata": {"chart": ["web"]}})
}

fn chart() -> Plan {
    planned(json!([
        {"name": "crd", "type": "CustomResourceDefinition", "metadata": {"chart": ["web"], "shared": true}},
        object("a"),
        object("b"),
        hook("late", &["pre-install", "pre-upgrade"], 5),
        hook("early", &["pre-install"], -5),
        hook("after", &["post-install", "post-upgrade", "post-rollback"], 0),
        hook("undo", &["pre-rollback"], 0),
        hook("bye", &["pre-delete"], 0),
        hook("gone", &["post-delete"], 0),
        hook("try", &["test"], 0),
        {"name": "other", "type": "ConfigMap"},
    ]))
}

fn hooks(occasion: Occasion, installed: bool) -> Hooks {
    Hooks {
        occasion,
        installed: match installed {
            true => vec![vec![ResourceName::parse("web").unwrap()]],
            false => Vec::new(),
        },
        done: Vec::new(),
    }
}

/// Each resource with those that it waits for.
fn shown(plan: &Plan) -> Vec<String> {
    let name = |index: usize| plan.nodes[index].resource.name.as_str();
    let node = |node: &Node| {
        let on: Vec<&str> = node.dependencies.iter().map(|one| name(one.on)).collect();
        format!("{}: {}", node.resource.name, on.join(" "))
            .trim_end()
            .to_owned()
    };
    plan.nodes.iter().map(node).collect()
}

fn selected(moment: Moment<'_>) -> Vec<String> {
    shown(&select(chart(), moment, "op-1").unwrap())
}

#[test]
fn an_installation_runs_its_hooks_by_weight_around_the_objects() {
    let install = hooks(Occasion::Upgrade, false);
    assert_eq!(
        selected(Moment::Apply(Some(&install))),
        [
            "crd:",
            "a: late",
            "b: late",
            "late: early",
            "early: crd",
            "after: crd a b late",
            "other:"
        ]
    );
}

#[test]
fn other_occasions_run_other_hooks() {
    let upgrade = hooks(Occasion::Upgrade, true);
    assert_eq!(
        selected(Moment::Apply(Some(&upgrade))),
        [
            "crd:",
            "a: late",
            "b: late",
            "late: crd",
            "after: crd a b late",
            "other:"
        ]
    );
    let rollback = hooks(Occasion::Rollback, true);
    assert_eq!(
        selected(Moment::Apply(Some(&rollback))),
        [
            "crd:",
            "a: undo",
            "b: undo",
            "after: crd a b undo",
            "undo: crd",
            "other:"
        ]
    );
    let test = hooks(Occasion::Test, true);
    assert_eq!(selected(Moment::Apply(Some(&test))), ["try:"]);
    assert_eq!(
        selected(Moment::Apply(None)),
        ["crd:", "a: crd", "b: crd", "other:"]
    );
    let delete = DeleteHooks {
        resources: Vec::new(),
        done: Vec::new(),
    };
    assert_eq!(selected(Moment::BeforeDelete(&delete)), ["bye:"]);
    assert_eq!(selected(Moment::AfterDelete(&delete)), ["gone:"]);
}

#[test]
fn a_hook_that_has_run_does_not_run_again_at_that_event() {
    let plan = chart();
    let late = plan
        .nodes
        .iter()
        .find(|node| node.resource.name.as_str() == "late");
    let done = DoneHook {
        event: HookEvent::PreUpgrade,
        object: late.unwrap().object.clone(),
    };
    let upgrade = Hooks {
        done: vec![done],
        ..hooks(Occasion::Upgrade, true)
    };
    assert_eq!(
        selected(Moment::Apply(Some(&upgrade))),
        ["crd:", "a: crd", "b: crd", "after: crd a b", "other:"]
    );
    let install = Hooks {
        installed: Vec::new(),
        ..upgrade
    };
    assert!(selected(Moment::Apply(Some(&install))).contains(&"late: early".to_owned()));
}

#[test]
fn a_hook_says_for_which_run_its_object_is_and_waves_do_not_change() {
    let before: Vec<usize> = chart().nodes.iter().map(|node| node.wave).collect();
    assert!(before.iter().all(|wave| *wave == 0), "{before:?}");
    let install = hooks(Occasion::Upgrade, false);
    let plan = select(chart(), Moment::Apply(Some(&install)), "op-1").unwrap();
    let runs: Vec<_> = plan
        .nodes
        .iter()
        .filter_map(|node| {
            let run = node.run.as_ref()?;
            assert_eq!(node.template["metadata"]["annotations"][RUN], run.id);
            Some(run.id.as_str())
        })
        .collect();
    assert_eq!(
        runs,
        ["op-1.pre-install", "op-1.pre-install", "op-1.post-install"]
    );
}

#[test]
fn what_a_test_refers_to_is_looked_at_and_not_applied() {
    let test = json!({"name": "try", "type": "Job", "properties": {"spec": {"a": "$(ref.a.data.x)"}},
        "metadata": {"chart": ["web"], "hook": {"events": ["test"]}}});
    let plan = planned(json!([object("b"), object("a"), test]));
    let hooks = hooks(Occasion::Test, true);
    let plan = select(plan, Moment::Apply(Some(&hooks)), "op-1").unwrap();
    assert_eq!(shown(&plan), ["a:", "try: a"]);
    assert!(plan.nodes[0].is_observed && !plan.nodes[1].is_observed);
    assert_eq!(plan.nodes[1].references[0].target, 0);
}

#[test]
fn an_object_that_a_hook_before_it_uses_does_not_wait_in_a_circle() {
    let job = json!({"name": "job", "type": "Job", "metadata": {"chart": ["web"], "hook": {"events": ["pre-upgrade"]}},
        "properties": {"spec": {"template": {"spec": {"volumes": [{"name": "v", "configMap": {"name": "a"}}]}}}}});
    let upgrade = hooks(Occasion::Upgrade, true);
    let plan = select(
        planned(json!([object("a"), job])),
        Moment::Apply(Some(&upgrade)),
        "op-1",
    );
    assert_eq!(shown(&plan.unwrap()), ["a: job", "job:"]);
}

#[test]
fn the_graph_shows_the_order_of_hooks() {
    let edges = super::all_edges(&chart());
    let count = |because| edges.iter().filter(|edge| edge.because == because).count();
    // a, b: undo; late: early; undo: late; early: crd; after: crd, a, b, undo
    assert_eq!(count(EdgeReason::Hook), 9);
}

#[test]
fn only_definitions_can_be_shared() {
    let resources = json!([{"name": "a", "type": "ConfigMap", "metadata": {"shared": true}}]);
    let resources: Vec<Resource> = serde_json::from_value(resources).unwrap();
    let desired = Desired {
        deployment: &DeploymentName::parse("web").unwrap(),
        namespace: &Namespace::parse("home").unwrap(),
        resources: &resources,
        outputs: &[],
        policies: Policies::default(),
    };
    let error = common::api::error::ErrorBody::from(plan(desired, &catalog()).unwrap_err());
    assert!(error.message.contains("cannot be shared"), "{error}");
}

//! Configurations and their plans, without a cluster.

use super::*;
use crate::kubectl::ServedKind;
use common::api::deployer::EdgeReason;
use common::api::error::{ErrorBody, ErrorCode};
use proptest::prelude::*;
use serde_json::json;

fn served(api_version: &str, kind: &str, resource: &str, namespaced: bool) -> ServedKind {
    let applicable = kind != "TokenReview";
    ServedKind {
        api_version: api_version.into(),
        kind: kind.into(),
        resource: resource.into(),
        namespaced,
        applicable,
    }
}

fn catalog() -> Catalog {
    Catalog::new(vec![
        served("events.k8s.io/v1", "Event", "events", true),
        served("v1", "Event", "events", true),
        served("v1", "ConfigMap", "configmaps", true),
        served("v1", "Namespace", "namespaces", false),
        served("v1", "Secret", "secrets", true),
        served("v1", "ServiceAccount", "serviceaccounts", true),
        served("rbac.authorization.k8s.io/v1", "Role", "roles", true),
        served(
            "rbac.authorization.k8s.io/v1",
            "RoleBinding",
            "rolebindings",
            true,
        ),
        served(
            "admissionregistration.k8s.io/v1",
            "ValidatingWebhookConfiguration",
            "validatingwebhookconfigurations",
            false,
        ),
        served("v1", "Service", "services", true),
        served("apps/v1", "Deployment", "deployments", true),
        served("a.example/v1", "Thing", "things", true),
        served("b.example/v1", "Thing", "things", true),
        served(
            "authentication.k8s.io/v1",
            "TokenReview",
            "tokenreviews",
            false,
        ),
        served(
            "apiextensions.k8s.io/v1",
            "CustomResourceDefinition",
            "customresourcedefinitions",
            false,
        ),
    ])
}

fn planned(resources: Value) -> Result<Plan, ErrorBody> {
    let resources: Vec<Resource> = serde_json::from_value(resources).unwrap();
    let (deployment, namespace) = (
        DeploymentName::parse("web").unwrap(),
        Namespace::parse("home").unwrap(),
    );
    let planned = plan(
        Desired {
            deployment: &deployment,
            namespace: &namespace,
            resources: &resources,
            outputs: &[],
            policies: Policies::default(),
        },
        &catalog(),
    );
    Ok(planned?)
}

fn waits(plan: &Plan, index: usize) -> Vec<(usize, bool, EdgeReason, &str)> {
    let dependencies = plan.nodes[index].dependencies.iter();
    dependencies
        .map(|one| (one.on, one.ready, one.because, one.detail.as_str()))
        .collect()
}

fn refused(resources: Value, code: ErrorCode, fragment: &str) {
    let error = planned(resources).unwrap_err();
    assert_eq!(error.code, code, "{error}");
    assert!(error.message.contains(fragment), "{error}");
}

#[test]
fn what_a_primitive_leaves_out_is_filled_in() {
    for type_name in ["Deployment", "apps/v1/Deployment", "apps/v1:Deployment"] {
        let plan = planned(
            json!([{"name": "app", "type": type_name, "properties": {"spec": {"replicas": 1}}}]),
        )
        .unwrap();
        let object = &plan.nodes[0].template;
        assert_eq!(plan.nodes[0].object.to_string(), "Deployment home/app");
        assert_eq!(
            (&object["apiVersion"], &object["kind"], &object["spec"]),
            (
                &json!("apps/v1"),
                &json!("Deployment"),
                &json!({"replicas": 1})
            )
        );
    }
}

#[test]
fn the_core_group_wins_where_kinds_clash() {
    let plan = planned(json!([{"name": "e", "type": "Event"}])).unwrap();
    assert_eq!(plan.nodes[0].object.api_version, "v1");
}

#[test]
fn kinds_of_two_foreign_groups_have_to_be_told_apart() {
    refused(
        json!([{"name": "t", "type": "Thing"}]),
        ErrorCode::UnknownType,
        "a.example/v1/Thing, b.example/v1/Thing",
    );
}

#[test]
fn an_unknown_kind_is_named_with_what_may_be_meant() {
    for (type_name, meant) in [
        ("Deploymnet", "Deployment"),
        ("deployments", "Deployment"),
        ("configmap", "ConfigMap"),
        ("apps/v2/Deployment", "apps/v1/Deployment"),
    ] {
        let error = planned(json!([{"name": "app", "type": type_name}])).unwrap_err();
        assert_eq!(error.code, ErrorCode::UnknownType);
        assert!(
            error
                .message
                .starts_with(&format!("resource app has type {type_name}")),
            "{error}"
        );
        assert!(
            error.message.ends_with(&format!("did you mean {meant}?")),
            "{error}"
        );
    }
    refused(
        json!([{"name": "app", "type": "Wholly-Different"}]),
        ErrorCode::UnknownType,
        "serves no kind Wholly-Different",
    );
}

#[test]
fn all_kinds_of_openshift_are_named_with_what_to_use_instead() {
    let openshift = json!([
        {"name": "dc", "type": "apps.openshift.io/v1/DeploymentConfig"},
        {"name": "route", "type": "Route", "properties": {"apiVersion": "route.openshift.io/v1"}},
        {"name": "stream", "type": "ImageStream"},
        {"name": "build", "type": "v1/BuildConfig"},
        {"name": "template", "type": "template.openshift.io/v1/TemplateInstance"},
        {"name": "other", "type": "example.com/v1/Route"},
        {"name": "fine", "type": "ConfigMap"},
    ]);
    let error = planned(openshift).unwrap_err();
    assert_eq!(error.code, ErrorCode::UnknownType);
    let causes: Vec<_> = error.causes.iter().map(|cause| &*cause.message).collect();
    let expected = [
        ("dc", "use apps/v1/Deployment instead"),
        ("route", "use networking.k8s.io/v1/Ingress instead"),
        ("stream", "write the image with its registry"),
        ("build", "build the image elsewhere"),
        ("template", "deploy to OpenShift, or leave it out"),
        ("other", "serves no kind example.com/v1/Route"),
    ];
    assert_eq!(causes.len(), expected.len(), "{causes:?}");
    for (cause, (resource, advice)) in causes.iter().zip(expected) {
        assert!(
            cause.starts_with(&format!("resource {resource} ")),
            "{cause}"
        );
        assert!(cause.contains(advice), "{cause}");
    }
    assert!(!causes[5].contains("OpenShift"), "{causes:?}");
}

#[test]
fn contradictions_are_refused() {
    let invalid = ErrorCode::InvalidConfiguration;
    refused(
        json!([{"name": "a", "type": "Service", "properties": {"kind": "ConfigMap"}}]),
        invalid,
        "its type is Service and its properties say kind ConfigMap",
    );
    refused(
        json!([{"name": "a", "type": "apps/v1/Deployment", "properties": {"apiVersion": "apps/v2"}}]),
        invalid,
        "apiVersion apps/v2",
    );
    refused(
        json!([{"name": "a", "type": "Namespace", "properties": {"metadata": {"namespace": "x"}}}]),
        invalid,
        "belong to no namespace",
    );
    refused(
        json!([{"name": "a", "type": "ConfigMap", "properties": {"metadata": {"namespace": "../b"}}}]),
        invalid,
        "the object's namespace \"../b\" is not valid",
    );
    refused(
        json!([{"name": "a", "type": "Service", "properties": []}]),
        invalid,
        "not a map",
    );
    refused(
        json!([{"name": "a", "type": "TokenReview"}]),
        invalid,
        "cannot be applied",
    );
    refused(
        json!([{"name": "a", "type": "Service", "metadata": {"createPolicy": "X"}}]),
        invalid,
        "resource a: metadata",
    );
}

#[test]
fn two_resources_that_are_one_object_are_both_named() {
    let same = json!([{"name": "a", "type": "ConfigMap"}, {"name": "b", "type": "v1:ConfigMap", "properties": {"metadata": {"name": "a"}}}]);
    refused(
        same,
        ErrorCode::InvalidConfiguration,
        "resources a (type ConfigMap) and b (type v1:ConfigMap) are the same object, ConfigMap home/a",
    );
}

#[test]
fn all_faults_are_told_together() {
    let error =
        planned(json!([{"name": "a", "type": "Nope"}, {"name": "b", "type": "Nope"}])).unwrap_err();
    assert_eq!(error.causes.len(), 2);
    assert_eq!(
        error.causes[1]
            .location
            .as_ref()
            .unwrap()
            .resource
            .as_deref(),
        Some("b")
    );
}

#[test]
fn objects_are_marked_and_selectors_are_not() {
    let properties = json!({"metadata": {"labels": {"app.kubernetes.io/managed-by": "me"}}, "spec": {"selector": {"matchLabels": {"a": "b"}}}});
    let plan = planned(json!([{"name": "my app", "type": "Deployment", "properties": properties, "metadata": {"deletePolicy": "ABANDON"}}])).unwrap();
    let object = &plan.nodes[0].template;
    assert_eq!(
        object["metadata"]["labels"],
        json!({MANAGED_BY: "me", DEPLOYMENT: "web"})
    );
    assert_eq!(
        object["metadata"]["annotations"],
        json!({RESOURCE: "my app", DELETE_POLICY: "ABANDON"})
    );
    assert_eq!(object["spec"], properties["spec"]);
}

#[test]
fn references_and_depends_on_make_waves() {
    let plan = planned(json!([
        {"name": "c", "type": "ConfigMap", "properties": {"data": {"ip": "http://$(ref.svc.spec.clusterIP)/"}}, "metadata": {"dependsOn": ["b"]}},
        {"name": "b", "type": "ConfigMap", "properties": {"data": {"n": "$(ref.svc.metadata.name)"}}},
        {"name": "svc", "type": "Service"},
    ])).unwrap();
    assert_eq!(
        plan.nodes.iter().map(|node| node.wave).collect::<Vec<_>>(),
        [2, 1, 0]
    );
    assert_eq!(
        waits(&plan, 0),
        [
            (1, true, EdgeReason::DependsOn, "dependsOn b"),
            (2, false, EdgeReason::Reference, "$(ref.svc.spec.clusterIP)")
        ]
    );
    assert_eq!(plan.nodes[0].template["metadata"]["annotations"][WAVE], "2");
}

#[test]
fn what_an_object_uses_comes_first_without_being_told() {
    let pod = json!({"serviceAccountName": "sa", "containers": [{"name": "c", "envFrom": [{"configMapRef": {"name": "conf"}}]}], "volumes": [{"name": "v", "secret": {"secretName": "keys"}}]});
    let plan = planned(json!([
        {"name": "app", "type": "Deployment", "properties": {"spec": {"template": {"spec": pod}}}},
        {"name": "conf", "type": "ConfigMap"}, {"name": "keys", "type": "Secret"}, {"name": "sa", "type": "ServiceAccount"},
        {"name": "bind", "type": "RoleBinding", "properties": {"roleRef": {"kind": "Role", "name": "role"}, "subjects": [{"kind": "ServiceAccount", "name": "sa"}]}},
        {"name": "role", "type": "Role"},
        {"name": "elsewhere", "type": "ConfigMap", "properties": {"metadata": {"namespace": "other", "name": "conf"}}},
    ])).unwrap();
    let on = |index| {
        waits(&plan, index)
            .into_iter()
            .map(|(on, ..)| on)
            .collect::<Vec<_>>()
    };
    assert_eq!(on(0), [1, 2, 3, 4]);
    assert_eq!(on(4), [3, 5]);
    assert!(
        waits(&plan, 0)
            .iter()
            .all(|(_, ready, because, _)| !ready && *because == EdgeReason::Use)
    );
}

#[test]
fn a_webhook_waits_for_the_server_behind_its_service() {
    let service = json!({"spec": {"selector": {"app": "hook"}}});
    let server = json!({"spec": {"template": {"metadata": {"labels": {"app": "hook", "x": "y"}}}}});
    let hook =
        json!({"webhooks": [{"clientConfig": {"service": {"namespace": "home", "name": "svc"}}}]});
    let plan = planned(json!([
        {"name": "hook", "type": "ValidatingWebhookConfiguration", "properties": hook},
        {"name": "svc", "type": "Service", "properties": service},
        {"name": "server", "type": "Deployment", "properties": server},
    ]))
    .unwrap();
    let waits: Vec<_> = waits(&plan, 0)
        .into_iter()
        .map(|(on, ready, ..)| (on, ready))
        .collect();
    assert_eq!(waits, [(1, false), (2, true)]);
}

#[test]
fn what_is_written_down_wins_over_what_objects_use() {
    let pod =
        json!({"containers": [{"name": "c", "envFrom": [{"configMapRef": {"name": "conf"}}]}]});
    let plan = planned(json!([
        {"name": "app", "type": "Deployment", "properties": {"spec": {"template": {"spec": pod}}}},
        {"name": "conf", "type": "ConfigMap", "metadata": {"dependsOn": ["app"]}},
    ]))
    .unwrap();
    assert_eq!((plan.nodes[0].wave, plan.nodes[1].wave), (0, 1));
}

#[test]
fn a_name_borne_twice_means_all_that_bear_it_but_not_oneself() {
    let plan = planned(json!([
        {"name": "web", "type": "Deployment", "metadata": {"dependsOn": ["web"]}}, {"name": "web", "type": "Service"},
        {"name": "after", "type": "ConfigMap", "metadata": {"dependsOn": ["web"]}},
    ])).unwrap();
    assert_eq!(
        plan.nodes.iter().map(|node| node.wave).collect::<Vec<_>>(),
        [1, 0, 2]
    );
    assert_eq!(waits(&plan, 2).len(), 2);
    refused(
        json!([{"name": "a", "type": "ConfigMap", "metadata": {"dependsOn": ["a"]}}]),
        ErrorCode::InvalidReference,
        "a → a",
    );
}

#[test]
fn a_condition_of_readiness_that_cannot_be_read_is_refused_with_its_place() {
    let properties = json!({"metadata": {"annotations": {READY_WHEN: "{.status.phase"}}});
    let error =
        planned(json!([{"name": "a", "type": "ConfigMap", "properties": properties}])).unwrap_err();
    assert_eq!(error.code, ErrorCode::InvalidConfiguration);
    assert!(
        error
            .message
            .contains("resource a: annotation deployment-manager.dev/ready-when"),
        "{error}"
    );
    let path = error.location.unwrap().path.unwrap();
    assert_eq!(
        path,
        "metadata.annotations['deployment-manager.dev/ready-when']"
    );
}

#[test]
fn a_circle_is_named_in_full() {
    let circle = json!([
        {"name": "a", "type": "ConfigMap", "metadata": {"dependsOn": ["b"]}},
        {"name": "b", "type": "ConfigMap", "properties": {"data": {"x": "$(ref.c.data.x)"}}},
        {"name": "c", "type": "ConfigMap", "metadata": {"dependsOn": ["a"]}},
    ]);
    refused(circle, ErrorCode::InvalidReference, "a → b → c → a");
}

#[test]
fn references_that_mean_nothing_are_refused() {
    for (text, fragment) in [
        ("$(ref.nope.metadata.name)", "names no resource"),
        ("$(ref.a)", "no valid path"),
        ("$(ref.a.b[)", "no valid path"),
        ("$(ref.a.b", "has no end"),
        ("$(ref.twin.metadata.name)", "any of 2 resources"),
    ] {
        let resources = json!([
            {"name": "a", "type": "ConfigMap"}, {"name": "twin", "type": "ConfigMap"}, {"name": "twin", "type": "Service"},
            {"name": "z", "type": "ConfigMap", "properties": {"data": {"x": text}}},
        ]);
        refused(resources, ErrorCode::InvalidReference, fragment);
    }
    refused(
        json!([{"name": "a", "type": "ConfigMap", "metadata": {"dependsOn": ["gone"]}}]),
        ErrorCode::InvalidReference,
        "depends on gone",
    );
}

#[test]
fn a_name_may_refer_only_to_what_is_written() {
    let plan = planned(json!([
        {"name": "ns", "type": "Namespace", "properties": {"metadata": {"name": "team"}}},
        {"name": "a", "type": "ConfigMap", "properties": {"metadata": {"namespace": "$(ref.ns.metadata.name)", "name": "$(ref.ns.metadata.name)-config"}}},
    ])).unwrap();
    assert_eq!(
        plan.nodes[1].object.to_string(),
        "ConfigMap team/team-config"
    );
    assert_eq!(
        waits(&plan, 1),
        [(0, true, EdgeReason::Host, "its namespace")]
    );
    let unknown = json!([{"name": "s", "type": "Service"}, {"name": "a", "type": "ConfigMap", "properties": {"metadata": {"name": "$(ref.s.spec.clusterIP)"}}}]);
    refused(
        unknown,
        ErrorCode::InvalidReference,
        "must be known before anything is applied",
    );
}

#[test]
fn a_definition_makes_its_kind_known_and_comes_first() {
    let definition = json!({"spec": {"group": "c.example", "scope": "Cluster", "names": {"kind": "Crate", "plural": "crates"}, "versions": [{"name": "v1beta1", "served": true}, {"name": "v1", "served": true}]}});
    let plan = planned(json!([{"name": "x", "type": "Crate"}, {"name": "d", "type": "CustomResourceDefinition", "properties": definition}])).unwrap();
    assert_eq!(plan.nodes[0].object.api_version, "c.example/v1");
    assert_eq!(plan.nodes[0].object.namespace, None);
    assert_eq!(waits(&plan, 0), [(1, true, EdgeReason::Host, "its kind")]);
}

#[test]
fn a_reference_alone_keeps_its_type_and_among_text_is_text() {
    let lookup = |text: &str| (text == "$(ref.a.b)").then(|| json!(80));
    let value =
        json!({"port": "$(ref.a.b)", "url": "http://x:$(ref.a.b)/$(VAR)", "other": "$(ref.c.d)"});
    assert_eq!(
        substitute(&value, &lookup),
        json!({"port": 80, "url": "http://x:80/$(VAR)", "other": "$(ref.c.d)"})
    );
}

proptest! {
    #[test]
    fn no_text_breaks_the_reader_of_references(text in "[$()ref.a\\[\\]'\"0-9é ]{0,40}") {
        let resources = json!([{"name": "a", "type": "ConfigMap"}, {"name": "z", "type": "ConfigMap", "properties": {"data": {"x": text}}}]);
        if let Err(error) = planned(resources) {
            prop_assert_eq!(error.code, ErrorCode::InvalidReference);
        }
    }

    #[test]
    fn a_value_found_by_its_path_is_the_one_put_there(key in "[a-zA-Z][a-zA-Z0-9./-]{0,12}", index in 0usize..4) {
        let names = references::Names::new(["a"].into_iter());
        let mut items = vec![json!(0); index];
        items.push(json!("here"));
        let object = json!({"data": {key.clone(): items}});
        let found = references::collect(&json!(format!("$(ref.a.data['{key}'][{index}])")), &names).unwrap();
        prop_assert_eq!(found[0].path.find(&object), Some(&json!("here")));
    }
}

#[test]
fn a_reference_of_many_parts_is_refused_and_costs_no_more_than_its_length() {
    let parts = "b.".repeat(100_000);
    for count in [1, 20] {
        let text = format!("$(ref.a.{parts}c)");
        let texts = vec![text; count];
        let error = planned(json!([
            {"name": "a", "type": "ConfigMap"},
            {"name": "b", "type": "ConfigMap", "properties": {"data": texts}},
        ]));
        assert_eq!(error.unwrap_err().code, ErrorCode::InvalidReference);
    }
}

#[test]
fn more_dependencies_than_are_followed_are_refused_by_a_code_of_their_own() {
    let names: Vec<String> = (0..1_000).map(|number| format!("r{number}")).collect();
    let resources = |on: &dyn Fn(usize) -> Vec<String>| -> Value {
        let resource = |index: usize| json!({"name": names[index], "type": "ConfigMap", "metadata": {"dependsOn": on(index)}});
        (0..names.len()).map(resource).collect()
    };
    let before = resources(&|index| names[..index].to_vec());
    assert_eq!(planned(before).unwrap().nodes[999].wave, 999);
    let twice = |index: usize| [&names[..index], &names[..index]].concat();
    let error = planned(resources(&twice)).unwrap_err();
    assert_eq!(error.code, ErrorCode::TooManyReferences, "{error}");
}

#[test]
fn a_long_chain_of_uses_that_ends_in_a_circle_is_loosened_in_one_go() {
    // Each workload mounts the config map of the next one, and the first and the last wait for each other.
    let chain = (0..2_000).map(|index| {
        let mounts = json!([{"name": "v", "configMap": {"name": format!("c{}", index + 1)}}]);
        let next = format!("$(ref.p{}.metadata.name)", index + 1);
        json!([
            {"name": format!("p{index}"), "type": "Deployment", "properties": {"spec": {"template": {"spec": {"volumes": mounts, "containers": []}}}}},
            {"name": format!("c{index}"), "type": "ConfigMap", "properties": {"data": {"next": next}}},
        ])
    });
    let mut resources: Vec<Value> = chain
        .flat_map(|pair| pair.as_array().cloned().unwrap())
        .collect();
    resources
        .push(json!({"name": "p2000", "type": "Deployment", "metadata": {"dependsOn": ["c0"]}}));
    let plan = planned(json!(resources))
        .map_err(|error| error.message)
        .unwrap();
    assert_eq!(plan.nodes.len(), 4_001);
    // Explicit dependencies stay: each config map waits for the next workload.
    assert_eq!(plan.nodes[1].dependencies[0].on, 2);
}

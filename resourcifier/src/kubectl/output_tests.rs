//! Against what kubectl 1.36 and 1.32 printed.

use super::*;

fn config_map(name: &str) -> ObjectRef {
    ObjectRef {
        api_version: "v1".into(),
        kind: "ConfigMap".into(),
        namespace: Some("default".into()),
        name: name.into(),
    }
}

fn texts(objects: &[ObjectRef], failed: &[usize], stderr: &str) -> Vec<(ObjectFault, String)> {
    let errors = assign(objects, failed, stderr);
    assert_eq!(errors.len(), failed.len(), "an object was lost");
    failed
        .iter()
        .map(|index| (errors[index].fault, errors[index].text.clone()))
        .collect()
}

#[test]
fn conflicts_are_tied_to_their_objects_though_they_name_none() {
    let objects = ["c1", "c2", "c3"].map(config_map);
    for stderr in [
        include_str!("captured/conflict_two.36.err"),
        include_str!("captured/conflict_two.32.err"),
    ] {
        let errors = texts(&objects, &[0, 1], stderr);
        assert!(
            errors
                .iter()
                .all(|(fault, _)| *fault == ObjectFault::Conflict)
        );
        assert!(
            errors[0].1.contains("\"other\": .data.a, .data.x;"),
            "{}",
            errors[0].1
        );
        assert!(
            errors[1].1.contains("\"other\": .data.a;"),
            "{}",
            errors[1].1
        );
    }
}

#[test]
fn a_single_error_has_another_form_and_is_read_too() {
    for stderr in [
        include_str!("captured/conflict_one.36.err"),
        include_str!("captured/conflict_one.32.err"),
    ] {
        let errors = texts(&[config_map("c1")], &[0], stderr);
        assert!(errors[0].1.contains(".data.a, .data.x"), "{}", errors[0].1);
    }
    for stderr in [
        include_str!("captured/immutable.36.err"),
        include_str!("captured/immutable.32.err"),
    ] {
        let errors = texts(&[config_map("imm")], &[0], stderr);
        assert!(
            errors[0].1.contains("spec.selector") && errors[0].1.contains("immutable"),
            "{}",
            errors[0].1
        );
    }
}

#[test]
fn an_object_without_permission_is_refused_by_name() {
    let objects = ["c1", "c2", "c3"].map(config_map);
    for stderr in [
        include_str!("captured/forbidden_apply.36.err"),
        include_str!("captured/delete_forbidden.32.err"),
    ] {
        for (index, (fault, text)) in texts(&objects, &[0, 1, 2], stderr).into_iter().enumerate() {
            assert_eq!(fault, ObjectFault::Refused);
            assert!(
                text.starts_with(&format!("configmaps \"c{}\" is forbidden", index + 1)),
                "{text}"
            );
        }
    }
}

#[test]
fn an_api_server_that_is_away_fails_every_object_for_the_time_being() {
    let objects = ["c1", "c2", "c3"].map(config_map);
    for stderr in [
        include_str!("captured/refused.36.err"),
        include_str!("captured/refused.32.err"),
    ] {
        let errors = texts(&objects, &[0, 1, 2], stderr);
        assert!(
            errors
                .iter()
                .all(|(fault, text)| *fault == ObjectFault::Transient
                    && text.contains("connection refused"))
        );
    }
}

#[test]
fn refusals_of_several_lines_stay_together_and_in_order() {
    let stderr = "unable to recognize no matches for kind \"Nope\" in version \"v1\"\n\
        Error from server (NotFound): namespaces \"nope\" not found\n\
        Error from server: failed to create typed patch object (default/unk; apps/v1, Kind=Deployment): errors:\n  \
        .spec.foo: field not declared in schema\n  .spec.bar: field not declared in schema\n";
    let unserved = ObjectRef {
        kind: "Nope".into(),
        ..config_map("nokind")
    };
    let objects = [
        config_map("a"),
        config_map("fine"),
        config_map("unk"),
        unserved,
    ];
    let errors = texts(&objects, &[0, 2, 3], stderr);
    assert_eq!(errors[0].1, "namespaces \"nope\" not found");
    assert!(errors[1].1.ends_with(
        ".spec.foo: field not declared in schema .spec.bar: field not declared in schema"
    ));
    assert_eq!(errors[2].0, ObjectFault::Transient);
}

#[test]
fn an_object_of_which_nothing_is_said_is_failed_and_not_lost() {
    let errors = texts(&["a", "b"].map(config_map), &[0, 1], "");
    assert!(
        errors
            .iter()
            .all(|(fault, text)| *fault == ObjectFault::Refused && text.contains("neither"))
    );
    let errors = texts(
        &["a", "b"].map(config_map),
        &[0, 1],
        "something new went wrong\n",
    );
    assert!(
        errors
            .iter()
            .all(|(_, text)| text == "something new went wrong")
    );
}

#[test]
fn the_table_of_kinds_is_read_whatever_columns_are_empty() {
    let table = "bindings                v1        true    Binding   create\n\
        configmaps    cm        v1        true    ConfigMap create,delete,get,patch\n\
        nodes         no        v1        false   Node      [create delete patch get]\n\
        deployments   deploy    apps/v1   true    Deployment create,patch   all\n";
    let kinds = kinds(table);
    let seen: Vec<_> = kinds
        .iter()
        .map(|k| (&k.api_version[..], &k.kind[..], k.namespaced, k.applicable))
        .collect();
    assert_eq!(
        seen,
        [
            ("v1", "Binding", true, false),
            ("v1", "ConfigMap", true, true),
            ("v1", "Node", false, false),
            ("apps/v1", "Deployment", true, true)
        ]
    );
}

#[test]
fn nothing_one_object_and_a_list_are_read_alike() {
    assert_eq!(objects(b" \n").unwrap().len(), 0);
    assert_eq!(objects(br#"{"kind":"Pod"}"#).unwrap().len(), 1);
    assert_eq!(
        objects(br#"{"kind":"List","items":[{"kind":"Pod"},{"kind":"Pod"}]}"#)
            .unwrap()
            .len(),
        2
    );
    assert!(objects(b"{").is_err());
}

#[test]
fn what_was_done_is_told_by_order_where_names_repeat_across_namespaces() {
    let deployment = ObjectRef {
        api_version: "apps/v1".into(),
        kind: "Deployment".into(),
        ..config_map("web")
    };
    let elsewhere = ObjectRef {
        namespace: Some("other".into()),
        ..config_map("a")
    };
    let objects = [config_map("a"), config_map("bad"), elsewhere, deployment];
    assert_eq!(
        done(&objects, "configmap/a\ndeployment.apps/web\n"),
        [true, false, false, true]
    );
    assert_eq!(
        done(&objects, "configmap/a\nconfigmap/a\n"),
        [true, false, true, false]
    );
}

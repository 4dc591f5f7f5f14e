use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn object(kind: &str, metadata: &str) -> String {
    format!("---\napiVersion: v1\nkind: {kind}\nmetadata: {metadata}\n")
}

fn names_in(text: &str) -> Result<Vec<String>, ManifestError> {
    let named = named(read("m.yaml", text)?)?;
    Ok(named.into_iter().map(|(name, _)| name).collect())
}

#[test]
fn objects_that_share_a_name_get_what_distinguishes_them() {
    let one = object("Service", "{name: web}");
    for (rest, names) in [
        (object("Service", "{name: db}"), vec!["web", "db"]),
        (
            object("Deployment", "{name: web}"),
            vec!["web-service", "web-deployment"],
        ),
        (
            object("Deployment", "{name: web}") + &object("Secret", "{name: web-service}"),
            vec!["web-service", "web-deployment", "web-service-secret"],
        ),
        (
            object("Service", "{name: web, namespace: a}"),
            vec!["web-service", "web-service-a"],
        ),
        (
            object("Service", "{name: web}").replace("v1", "serving.dev/v1"),
            vec!["web-service", "web-service-serving.dev"],
        ),
        (
            object("SERVICE", "{name: web}"),
            vec!["web/Service//", "web/SERVICE//"],
        ),
    ] {
        let text = format!("{one}{rest}");
        assert_eq!(names_in(&text).unwrap(), names, "{text}");
    }
}

#[test]
fn an_object_that_is_there_twice_is_an_error_with_both_places() {
    let one = object("Service", "{name: web, namespace: a}");
    let other = one.replace("v1", "v1beta1");
    let list = "---\napiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Service, metadata: {name: web, namespace: a}}\n";
    for (text, second) in [
        (&one, "m.yaml:6"),
        (&other, "m.yaml:6"),
        (&list.to_owned(), "m.yaml:6, items[0]"),
    ] {
        let error = names_in(&format!("{one}{text}")).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("the object Service a/web is in m.yaml:2 and again in {second}; remove one")
        );
    }
}

#[test]
fn a_name_that_no_resource_can_have_is_shortened_and_stays_unique() {
    let long = "x".repeat(253);
    let text = object("Service", &format!("{{name: {long}}}"))
        + &object("Secret", &format!("{{name: {long}}}"));
    let names = names_in(&text).unwrap();
    assert!(names.iter().all(|name| name.len() == 253), "{names:?}");
    assert_ne!(names[0], names[1]);
}

#[test]
fn empty_documents_are_skipped_and_lists_are_unfolded() {
    let text = "# nothing\n---\n---\napiVersion: v1\nkind: List\nitems:\n\
                - {apiVersion: v1, kind: Secret, metadata: {name: a, namespace: own}}\n\
                - {apiVersion: v1, kind: ConfigMapList, items: [{apiVersion: v1, kind: ConfigMap, metadata: {name: b}}]}\n";
    let found = read("m.yaml", text).unwrap();
    let shown: Vec<_> = found
        .iter()
        .map(|o| (o.kind.as_str(), o.name.as_str()))
        .collect();
    assert_eq!(shown, [("Secret", "a"), ("ConfigMap", "b")]);
    assert_eq!(found[0].value["metadata"]["namespace"], "own");
    assert_eq!(found[1].place.pointer.path, "/items/1/items/0");
    assert_eq!(read("m.yaml", "# nothing\n").unwrap(), []);
}

#[test]
fn a_document_that_is_no_object_is_refused_with_its_line() {
    let good = object("Secret", "{name: a}");
    for (text, expected) in [
        (format!("{good}---\njust text\n"), ["m.yaml:6", "not a map"]),
        (good.replace("kind: Secret\n", ""), ["m.yaml:2", "no kind"]),
        (
            good.replace("apiVersion: v1\n", ""),
            ["m.yaml:2", "no apiVersion"],
        ),
        (good.replace("v1", "a/b/c"), ["m.yaml:2", "GROUP/VERSION"]),
        (
            good.replace("name: a", "labels: {}"),
            ["m.yaml:2", "no metadata.name"],
        ),
        (
            good.replace("name: a", "generateName: a"),
            ["m.yaml:2", "generateName"],
        ),
        (
            good.replace("name: a", "name: a/b"),
            ["m.yaml:2", "\"a/b\""],
        ),
        (
            good.replace("Secret", "'redis:v1'"),
            ["m.yaml:2", "\"redis:v1\""],
        ),
        (
            "{apiVersion: v1, kind: List, items: [{kind: Secret}]}".to_owned(),
            ["m.yaml:1, items[0]", "no apiVersion"],
        ),
        (format!("{good}  a: b: c\n"), ["m.yaml", "line"]),
        (format!("{good}kind: Secret\n"), ["m.yaml", "kind"]),
    ] {
        let error = read("dir/m.yaml", &text).unwrap_err().to_string();
        for expected in expected {
            assert!(
                error.contains(expected),
                "{text}: {expected} is not in: {error}"
            );
        }
    }
}

#[test]
fn manifests_are_recognised_by_their_content() {
    for (text, is_one) in [
        ("{apiVersion: v1, kind: Pod}", true),
        (
            "# nothing\n---\n{apiVersion: v1, kind: Pod}\n---\nkind: Pod",
            true,
        ),
        ("{apiVersion: v1, kind: List, items: []}", true),
        ("{\"apiVersion\": \"v1\", \"kind\": \"Pod\"}", true),
        (
            "{apiVersion: v1, kind: Kustomization, resources: [a.yaml]}",
            false,
        ),
        ("{apiVersion: v2, name: redis, version: 1.0.0}", false),
        ("{apiVerson: v1, kind: Pod}", false),
        ("resources: []", false),
        ("apiVersion: v1\nkind: {{ kind }}", false),
        ("{% if a %}\napiVersion: v1\nkind: Pod\n{% endif %}", false),
        ("", false),
        ("- {apiVersion: v1, kind: Pod}", false),
    ] {
        assert_eq!(is_manifests(text), is_one, "{text}");
    }
}

/// Few words, so that many objects share a name.
fn objects_with_distinct_identities() -> impl Strategy<Value = Vec<Value>> {
    let word = || {
        prop::sample::select(vec![
            "a",
            "a-b",
            "b",
            "a-service",
            "a-service-b",
            "service",
            "b-a",
        ])
    };
    let kind = prop::sample::select(vec!["Service", "SERVICE", "B", "A", "ServiceB"]);
    let version = prop::sample::select(vec!["v1", "a/v1", "b.c/v1", "service/v2"]);
    let one = (version, kind, prop::option::of(word()), word());
    prop::collection::btree_map(one, Just(()), 1..30).prop_map(|found| {
        let mut groups = BTreeMap::new();
        for ((version, kind, namespace, name), ()) in found {
            let mut metadata = json!({"name": name});
            if let Some(namespace) = namespace {
                metadata["namespace"] = json!(namespace);
            }
            let value = json!({"apiVersion": version, "kind": kind, "metadata": metadata});
            let group = version.rsplit_once('/').map_or("", |(group, _)| group);
            groups.insert((group, kind, namespace, name), value);
        }
        groups.into_values().collect()
    })
}

proptest! {
    #[test]
    fn names_are_unique_and_nothing_is_lost_in_whatever_order(
        (one, other) in objects_with_distinct_identities().prop_flat_map(|found| (Just(found.clone()), Just(found).prop_shuffle())),
        split in 0..30_usize,
    ) {
        // Each text has its first objects as documents, and the rest in a List.
        let text = |objects: &[Value]| {
            let (documents, items) = objects.split_at(split.min(objects.len()));
            let documents: String = documents.iter().map(|one| format!("---\n{one}\n")).collect();
            format!("{documents}---\n{}\n", json!({"apiVersion": "v1", "kind": "List", "items": items}))
        };
        let read = |objects: &[Value]| -> BTreeMap<String, Value> {
            let named = named(read("m.yaml", &text(objects)).unwrap()).unwrap();
            assert_eq!(named.len(), objects.len());
            named.into_iter().map(|(name, object)| (name, object.value)).collect()
        };
        let (found, shuffled) = (read(&one), read(&other));
        prop_assert_eq!(&found, &shuffled);
        prop_assert_eq!(found.len(), one.len());
        for value in &one {
            prop_assert!(found.values().any(|kept| kept == value));
        }
    }
}

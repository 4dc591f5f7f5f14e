//! Taking and giving back, over every combination of what an object had, what is asked for and what others did since.

use super::*;

/// Values that a field may have; `None` is no field.
const VALUES: &[Option<&str>] = &[None, Some("old"), Some("new")];

fn tree(fields: &[(&str, Option<&str>)]) -> Value {
    let set = fields.iter().filter(|(_, value)| value.is_some());
    let leaves: Map<String, Value> = set
        .map(|(key, _)| (format!("f:{key}"), json!({})))
        .collect();
    match leaves.is_empty() {
        true => json!({}),
        false => json!({"f:data": leaves}),
    }
}

fn object(fields: &[(&str, Option<&str>)], managers: &[(&str, Value)]) -> Value {
    let data: Map<String, Value> = fields
        .iter()
        .filter_map(|(key, value)| Some(((*key).to_owned(), json!((*value)?))))
        .collect();
    let entry = |(manager, fields): &(&str, Value)| json!({"manager": manager, "operation": "Apply", "apiVersion": "v1", "fieldsV1": fields});
    let managed: Vec<Value> = managers.iter().map(entry).collect();
    let mut object = json!({"metadata": {"managedFields": managed}});
    if !data.is_empty() {
        object["data"] = Value::Object(data);
    }
    object
}

/// What an apply makes of two fields: what is asked for goes over what was there.
fn over<'v>(before: Option<&'v str>, asked: Option<&'v str>) -> Option<&'v str> {
    asked.or(before)
}

fn web() -> DeploymentName {
    DeploymentName::parse("web").unwrap()
}

fn data(object: &Value) -> Value {
    object.get("data").cloned().unwrap_or_default()
}

#[test]
fn whatever_an_object_had_and_whatever_is_asked_for_it_gets_all_back() {
    for &a in VALUES {
        for &b in VALUES {
            for &asked_a in VALUES {
                for &asked_b in VALUES {
                    let (had, asked) = ([("a", a), ("b", b)], [("a", asked_a), ("b", asked_b)]);
                    let before = object(&had, &[("kubectl", tree(&had))]);
                    let then = [("a", over(a, asked_a)), ("b", over(b, asked_b))];
                    let after = object(&then, &[("dm-web", tree(&asked))]);
                    let taken = Taken::nothing().and(&before, &after, "dm-web");
                    let back = taken.given_back(&after, &web());
                    assert_eq!(data(&back), data(&before), "{had:?} {asked:?} {taken:?}");
                }
            }
        }
    }
}

#[test]
fn what_a_later_apply_takes_more_or_drops_comes_back_too() {
    for &first in VALUES {
        for &second in VALUES {
            let had = [("a", Some("had")), ("b", Some("had"))];
            let before = object(&had, &[("kubectl", tree(&had))]);
            let once = [("a", first), ("b", None)];
            let live = object(
                &[("a", over(Some("had"), first)), ("b", Some("had"))],
                &[("dm-web", tree(&once))],
            );
            let taken = Taken::nothing().and(&before, &live, "dm-web");
            // An apply removes what it asked for before and no longer does.
            let twice = [("a", None), ("b", second)];
            let a_is_gone = if first.is_some() { None } else { Some("had") };
            let after = object(
                &[("a", a_is_gone), ("b", over(Some("had"), second))],
                &[("dm-web", tree(&twice))],
            );
            let taken = taken.and(&live, &after, "dm-web");
            let back = taken.given_back(&after, &web());
            assert_eq!(data(&back), data(&before), "{first:?} {second:?}");
        }
    }
}

#[test]
fn what_others_have_changed_since_stays_as_they_want_it() {
    let before = object(&[("a", Some("old"))], &[]);
    let asked = [("a", Some("new"))];
    let after = object(&asked, &[("dm-web", tree(&asked))]);
    let taken = Taken::nothing().and(&before, &after, "dm-web");
    let theirs = object(&[("a", Some("theirs"))], &[("kubectl", tree(&asked))]);
    let back = taken.given_back(&theirs, &web());
    assert_eq!(data(&back), json!({"a": "theirs"}));
}

#[test]
fn items_of_lists_come_and_go_by_their_keys() {
    let ours = json!({"f:spec": {"f:containers": {
        "k:{\"name\":\"app\"}": {".": {}, "f:image": {}, "f:name": {}},
        "k:{\"name\":\"side\"}": {".": {}, "f:image": {}, "f:name": {}},
    }, "f:finalizers": {"v:\"x/y\"": {}}}});
    let with = |containers: Value, finalizers: Value, managers: Value| json!({"metadata": {"managedFields": managers}, "spec": {"containers": containers, "finalizers": finalizers}});
    let app = |image: &str| json!({"name": "app", "image": image, "tty": true});
    let before = with(json!([app("old")]), json!(["a/b"]), json!([]));
    let after = with(
        json!([{"name": "side", "image": "s"}, app("new")]),
        json!(["a/b", "x/y"]),
        json!([{"manager": "dm-web", "operation": "Apply", "fieldsV1": ours}]),
    );
    let taken = Taken::nothing().and(&before, &after, "dm-web");
    assert_eq!(taken.given_back(&after, &web())["spec"], before["spec"]);
}

#[test]
fn fields_go_back_to_the_managers_that_had_them() {
    let fields = [("a", Some("old")), ("b", Some("old"))];
    let before = object(&fields, &[("kubectl", tree(&fields))]);
    let asked = [("a", Some("new"))];
    let after = object(
        &[("a", Some("new")), ("b", Some("old"))],
        &[("dm-web", tree(&asked)), ("kubectl", tree(&fields[1..]))],
    );
    let taken = Taken::nothing().and(&before, &after, "dm-web");
    let left = entries(&after).filter(|entry| entry["manager"] != "dm-web");
    let returned = taken.returned_to_owners(left.cloned().collect());
    assert_eq!(returned.len(), 1);
    assert_eq!(returned[0]["manager"], "kubectl");
    assert_eq!(
        union(returned[0]["fieldsV1"].clone(), json!({})),
        json!({"f:data": {"f:a": {}, "f:b": {}}})
    );
}

#[test]
fn the_annotation_is_read_as_it_was_written_and_is_never_too_large() {
    let had = [("a", Some("old"))];
    let (before, asked) = (object(&had, &[]), [("a", Some("new"))]);
    let after = object(&asked, &[("dm-web", tree(&asked))]);
    let taken = Taken::nothing().and(&before, &after, "dm-web");
    assert_eq!(Taken::read(&taken.write_on(json!({}))), Some(taken));
    let large = "x".repeat(BYTES);
    let before = object(&[("a", Some(&large))], &[]);
    let taken = Taken::nothing().and(&before, &after, "dm-web");
    let read = Taken::read(&taken.write_on(json!({}))).unwrap();
    assert!(!read.is_known());
    assert_eq!(Taken::read(&json!({"metadata": {}})), None);
}

#[test]
fn a_merge_patch_makes_one_object_the_other() {
    let (before, after) = (
        json!({"a": 1, "b": {"c": 1, "d": [1, 2]}, "e": {"f": 1}}),
        json!({"a": 1, "b": {"d": [2]}, "g": {"h": 1}}),
    );
    let patch = json!({"b": {"c": null, "d": [2]}, "e": null, "g": {"h": 1}});
    assert_eq!(merge_patch(&before, &after), Some(patch));
    assert_eq!(merge_patch(&before, &before), None);
}

//! Each rule finds what breaks it, and nothing where all is well.

use e2e::audit::AuditedWrite;
use serde_json::{Value, json};

use super::Point;
use crate::known::{Asked, Foreign, Known};
use crate::model::{Configuration, Item, Kind, Names, ObjectId, Options};
use crate::seen::{Live, Seen};

const NAME: &str = "q-d0";
const MAP: ObjectId = ObjectId::own(0, Kind::Map, 0);
const THEIRS: ObjectId = ObjectId::own(0, Kind::Map, 1);

/// One deployment of one ConfigMap, applied by one operation, beside an object of somebody else.
struct Case {
    known: Known,
    seen: Seen,
    writes: Vec<AuditedWrite>,
}

fn names() -> Names {
    Names {
        prefix: "q".to_owned(),
    }
}

fn live(object: ObjectId, uid: &str, value: u32, deployment: Option<&str>) -> Live {
    Live {
        kind: "ConfigMap",
        namespace: "q".to_owned(),
        name: object.name(&names()),
        uid: uid.to_owned(),
        deployment: deployment.map(str::to_owned),
        object: object.object(&names(), value),
    }
}

fn write(verb: &str, received: &str) -> AuditedWrite {
    AuditedWrite {
        received: received.to_owned(),
        verb: verb.to_owned(),
        resource: "configmaps".to_owned(),
        subresource: String::new(),
        namespace: "q".to_owned(),
        name: MAP.name(&names()),
        field_manager: Some(format!("dm-{NAME}")),
        user_agent: "resourcifier/1 (operation op-1)".to_owned(),
    }
}

fn manifest() -> Value {
    let map = MAP.name(&names());
    json!({
        "name": "m1", "createdAt": "2026-01-01T00:00:00Z", "inputConfig": {}, "resolvedTypes": [],
        "expandedConfig": {"resources": [{"name": map, "type": "ConfigMap", "properties": Kind::Map.body(3, crate::model::Pace::Well)}]},
        "layout": {"resources": [{"name": map, "type": "ConfigMap"}]},
    })
}

impl Case {
    fn sound() -> anyhow::Result<Self> {
        let map = MAP.name(&names());
        let key = (NAME.to_owned(), "m1".to_owned());
        let mut known = Known::default();
        known.objects.extend([MAP, THEIRS]);
        known.manifests.insert(key.clone(), manifest());
        known.foreign.push(Foreign {
            object: THEIRS,
            uid: "theirs".to_owned(),
            value: 7,
            label: None,
            made: "2026-01-01T01:00:00Z".parse()?,
        });
        let mut seen = Seen {
            operations: vec![json!({
                "id": "op-1", "type": "CREATE", "deployment": NAME, "manifest": "m1", "status": "DONE",
                "startTime": "2026-01-01T00:00:00Z", "endTime": "2026-01-01T00:00:10Z",
            })],
            instances: vec![json!({
                "name": map, "type": "ConfigMap", "deployment": NAME, "manifest": "m1", "path": "$.resources[0]",
            })],
            objects: vec![
                live(MAP, "ours", 3, Some(NAME)),
                live(THEIRS, "theirs", 7, None),
            ],
            verification: json!({"ok": true}),
            ..Seen::default()
        };
        seen.deployments.insert(
            NAME.to_owned(),
            json!({"latestManifest": "m1", "deployedManifest": "m1", "state": {"status": "Deployed"}}),
        );
        seen.manifests.insert(key, manifest());
        let record = json!({"kind": "ConfigMap", "namespace": "q", "name": map, "uid": "ours"});
        seen.records.insert(NAME.to_owned(), vec![record]);
        Ok(Self {
            known,
            seen,
            writes: vec![write("patch", "2026-01-01T00:00:05Z")],
        })
    }

    fn rules(&self) -> Vec<&'static str> {
        let point = Point {
            names: &names(),
            known: &self.known,
            seen: &self.seen,
            writes: &self.writes,
        };
        let mut rules: Vec<_> = point.violations().iter().map(|found| found.rule).collect();
        rules.dedup();
        rules
    }

    fn deployment(&mut self) -> Option<&mut Value> {
        self.seen.deployments.get_mut(NAME)
    }
}

#[test]
fn a_sound_state_breaks_no_rule() -> anyhow::Result<()> {
    assert_eq!(Case::sound()?.rules(), Vec::<&str>::new());
    Ok(())
}

#[test]
fn each_rule_finds_what_breaks_it() -> anyhow::Result<()> {
    type Change = fn(&mut Case);
    let cases: [(&str, Change); 17] = [
        ("unfinished", |case| {
            case.seen.operations[0]["status"] = json!("RUNNING")
        }),
        ("internal", |case| {
            case.seen.operations[0]["error"] = json!({"code": "INTERNAL"})
        }),
        ("state", |case| {
            if let Some(deployment) = case.deployment() {
                deployment["state"]["status"] = json!("Modified");
            }
        }),
        ("dangling", |case| {
            if let Some(deployment) = case.deployment() {
                deployment["deployedManifest"] = json!("m0");
            }
        }),
        ("manifest", |case| {
            for manifest in case.seen.manifests.values_mut() {
                manifest["inputConfig"] = json!({"content": "another"});
            }
        }),
        ("types", |case| case.seen.instances.clear()),
        ("verify", |case| {
            case.seen.verification = json!({"ok": false})
        }),
        ("value", |case| {
            case.seen.objects[0] = live(MAP, "ours", 4, Some(NAME))
        }),
        ("record", |case| case.seen.objects[0].deployment = None),
        ("record", |case| case.seen.records.clear()),
        ("left over", |case| {
            case.seen.objects[0].deployment = Some("q-d1".to_owned())
        }),
        ("left over", |case| {
            case.seen.deployments.clear();
            case.seen.instances.clear();
            case.seen.objects[0].deployment = None;
        }),
        ("of others", |case| {
            case.seen.objects.truncate(1);
        }),
        ("of others", |case| {
            case.seen.objects[1] = live(THEIRS, "theirs", 8, None)
        }),
        ("late call", |case| {
            case.writes.push(write("delete", "2026-01-01T00:00:11Z"))
        }),
        ("late call", |case| {
            // While the next operation runs.
            let mut next = case.seen.operations[0].clone();
            next["id"] = json!("op-2");
            next["startTime"] = json!("2026-01-01T00:00:10Z");
            next["endTime"] = json!("2026-01-01T00:00:20Z");
            case.seen.operations.push(next);
            case.writes.push(write("patch", "2026-01-01T00:00:11Z"))
        }),
        ("needless deletion", |case| {
            case.writes.push(write("delete", "2026-01-01T00:00:06Z"))
        }),
    ];
    for (rule, change) in cases {
        let mut case = Case::sound()?;
        change(&mut case);
        let found = case.rules();
        assert!(found.contains(&rule), "{rule}: {found:?}");
    }
    Ok(())
}

#[test]
fn what_others_changed_since_is_not_compared_until_it_is_applied_again() -> anyhow::Result<()> {
    let mut case = Case::sound()?;
    case.seen.objects[0] = live(MAP, "ours", 4, Some(NAME));
    case.known
        .disturbed
        .insert(MAP, "2026-01-01T00:00:20Z".parse()?);
    assert_eq!(case.rules(), Vec::<&str>::new());
    case.seen.operations.push(json!({
        "id": "op-2", "type": "CORRECT", "deployment": NAME, "manifest": "m1", "status": "DONE",
        "startTime": "2026-01-01T00:00:30Z", "endTime": "2026-01-01T00:00:31Z",
    }));
    assert_eq!(case.rules(), ["value"]);
    Ok(())
}

#[test]
fn what_a_later_operation_may_acquire_is_not_held_against_it() -> anyhow::Result<()> {
    let mut case = Case::sound()?;
    case.seen.objects.truncate(1);
    // An operation whose request is not known may have asked for it.
    case.seen.operations[0]["endTime"] = json!("2026-01-01T02:00:00Z");
    assert_eq!(case.rules(), Vec::<&str>::new());
    case.seen.operations[0]["rollback"] = json!({});
    assert_eq!(case.rules(), ["of others"]);
    Ok(())
}

#[test]
fn an_operation_that_goes_back_may_acquire_what_an_earlier_one_asked_for() -> anyhow::Result<()> {
    let mut case = Case::sound()?;
    let asked = |object| Asked {
        options: Options::default(),
        configuration: Some(Configuration::of([Item::new(object, 1)])),
    };
    case.known.asked.insert("op-1".to_owned(), asked(THEIRS));
    case.known.asked.insert("op-2".to_owned(), asked(MAP));
    case.seen.operations.push(json!({
        "id": "op-2", "type": "UPDATE", "deployment": NAME, "manifest": "m2", "status": "DONE",
        "startTime": "2026-01-01T02:00:00Z", "endTime": "2026-01-01T02:00:10Z",
    }));
    case.seen.objects[1] = live(THEIRS, "theirs", 7, Some(NAME));
    assert!(case.rules().contains(&"of others"));
    case.seen.operations[1]["rollback"] = json!({});
    assert!(!case.rules().contains(&"of others"));
    Ok(())
}

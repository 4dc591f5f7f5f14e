//! Applies, patches and deletions, alone and beside others.

use super::*;

pub async fn what_is_applied_is_there_and_applying_it_again_changes_nothing(world: &World) {
    let map = world.map("again", json!({"a": "1"}));
    assert_eq!(world.live(&map).await, None);
    let first = world.apply(&map).await;
    assert!(first["metadata"]["uid"].is_string());
    assert_eq!(world.live(&map).await.unwrap()["data"], json!({"a": "1"}));
    let second = world.apply(&map).await;
    assert_eq!(
        first["metadata"]["resourceVersion"],
        second["metadata"]["resourceVersion"]
    );
    let third = world.apply(&world.map("again", json!({"b": "2"}))).await;
    assert_eq!(
        third["data"],
        json!({"b": "2"}),
        "what is not applied any more goes"
    );
    assert_ne!(
        first["metadata"]["resourceVersion"],
        third["metadata"]["resourceVersion"]
    );
}

pub async fn a_dry_run_tells_and_writes_nothing(world: &World) {
    let map = world.map("dry", json!({"a": "1"}));
    let options = ApplyOptions {
        dry_run: true,
        ..by("dm-a")
    };
    let would = world.kubectl.apply(&map, options, LONG).await.unwrap();
    assert_eq!(would["data"], json!({"a": "1"}));
    assert_eq!(world.live(&map).await, None);
}

pub async fn fields_are_owned(world: &World) {
    world
        .apply_as(
            "other",
            &world.map("shared", json!({"a": "theirs", "b": "theirs"})),
        )
        .await
        .unwrap();
    let ours = world.map("shared", json!({"a": "ours", "b": "theirs", "c": "ours"}));
    let error = world.apply_as("dm-a", &ours).await.unwrap_err();
    assert_eq!(error.fault(), Some(ObjectFault::Conflict), "{error}");
    let fields: Vec<_> = error
        .conflicts()
        .iter()
        .map(|cause| cause.field.as_str())
        .collect();
    assert_eq!(fields, [".data.a"]);
    assert!(
        error.conflicts()[0].message.contains("\"other\""),
        "{error}"
    );
    let forced = ApplyOptions {
        force: true,
        ..by("dm-a")
    };
    let taken = world.kubectl.apply(&ours, forced, LONG).await.unwrap();
    assert_eq!(
        taken["data"],
        json!({"a": "ours", "b": "theirs", "c": "ours"})
    );
    let managers: Vec<_> = taken["metadata"]["managedFields"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| entry["manager"].as_str().unwrap())
        .collect();
    assert!(
        managers.contains(&"dm-a") && managers.contains(&"other"),
        "{managers:?}"
    );
}

pub async fn only_the_object_with_the_uid_is_deleted(world: &World) {
    let map = world.map("once", json!({"a": "1"}));
    let object = object_ref(&map);
    let live = world.apply(&map).await;
    let delete = |uid| world.kubectl.delete(&object, delete_of(uid), LONG);
    assert_eq!(delete(Some("another")).await, Ok(Deletion::Replaced));
    assert!(world.live(&map).await.is_some());
    assert_eq!(
        delete(live["metadata"]["uid"].as_str()).await,
        Ok(Deletion::Gone)
    );
    assert_eq!(world.live(&map).await, None);
    assert_eq!(
        delete(live["metadata"]["uid"].as_str()).await,
        Ok(Deletion::Missing)
    );
    assert_eq!(delete(None).await, Ok(Deletion::Missing));
}

pub async fn labels_come_off(world: &World) {
    let map = world.map("marked", json!({"a": "1"}));
    world.apply(&map).await;
    let patch = json!({"metadata": {"labels": {"part-of": null, "never": null}}});
    for _ in 0..2 {
        world.patch(&map, &patch, Precondition::None).await.unwrap();
    }
    let live = world.live(&map).await.unwrap();
    assert_eq!(live["metadata"]["labels"].get("part-of"), None);
    let missing = world.map("never", json!({}));
    let patched = world.patch(&missing, &patch, Precondition::None).await;
    assert_eq!(patched, Ok(None));
}

/// What a writer has read does not count any more once somebody else has written: nothing is created, changed or deleted.
pub async fn a_write_that_comes_second_writes_nothing(world: &World) {
    let map = |value: &str| world.map("raced", json!({"a": value}));
    let absent = |map: Value| async move { world.apply_if(&map, Precondition::Absent).await };
    let read = absent(map("1")).await.unwrap();
    let second = world.apply(&map("2")).await;
    let is_lost = |outcome: Result<Value, KubectlError>| outcome.unwrap_err().is_lost_race();
    assert!(is_lost(absent(map("2")).await));
    let forced = ApplyOptions {
        force: true,
        precondition: unchanged(&read),
        ..by("dm-b")
    };
    assert!(is_lost(world.kubectl.apply(&map("3"), forced, LONG).await));
    let patch = json!({"data": {"a": "3"}});
    let outcome = world.patch(&map("3"), &patch, unchanged(&read)).await;
    assert!(outcome.unwrap_err().is_lost_race());
    let stale = DeleteOptions {
        version: read["metadata"]["resourceVersion"].as_str(),
        ..delete_of(read["metadata"]["uid"].as_str())
    };
    let deleted = world
        .kubectl
        .delete(&object_ref(&map("3")), stale, LONG)
        .await;
    assert_eq!(deleted, Ok(Deletion::Changed));
    assert_eq!(world.live(&map("3")).await, Some(second.clone()));
    let third = world.apply_if(&map("3"), unchanged(&second)).await.unwrap();
    assert_eq!(third["data"]["a"], "3");
    let version = third["metadata"]["resourceVersion"].as_str();
    let fresh = DeleteOptions {
        version,
        ..delete_of(third["metadata"]["uid"].as_str())
    };
    let id = object_ref(&third);
    let deleted = world.kubectl.delete(&id, fresh, LONG).await;
    assert_eq!(deleted, Ok(Deletion::Gone));
    assert!(is_lost(world.apply_if(&map("4"), unchanged(&third)).await));
    assert_eq!(
        world.live(&map("4")).await,
        None,
        "an update creates nothing"
    );
}

pub async fn another_object_of_the_name_is_not_written(world: &World) {
    let map = world.map("reborn", json!({"a": "1"}));
    let first = world.apply(&map).await;
    let id = object_ref(&map);
    let deleted = world.kubectl.delete(&id, delete_of(None), LONG).await;
    assert_eq!(deleted, Ok(Deletion::Gone));
    let second = world.apply(&map).await;
    let error = world.apply_if(&map, unchanged(&first)).await.unwrap_err();
    assert!(error.is_lost_race(), "{error}");
    assert_eq!(world.live(&map).await, Some(second));
}

pub async fn a_create_is_tried_beside_the_object_that_has_the_name(world: &World) {
    let map = world.map("tried", json!({"a": "1"}));
    let live = world.apply(&map).await;
    for object in [&map, &world.map("untried", json!({"a": "1"}))] {
        let tried = world.kubectl.try_create(object, "dm-a", LONG).await;
        assert_eq!(tried, Ok(()));
    }
    assert_eq!(world.live(&map).await, Some(live));
    let missing = world.live(&world.map("untried", json!({}))).await;
    assert_eq!(missing, None);
}

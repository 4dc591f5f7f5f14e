//! Lists, changes, and what is not there.

use super::*;

pub async fn a_list_comes_in_pages(world: &World) {
    for name in ["page-1", "page-2", "page-3"] {
        world.apply(&world.map(name, json!({"a": "1"}))).await;
    }
    let kind = world.kind("ConfigMap").await;
    let query = Query {
        metadata_only: true,
        ..world.query(&kind)
    };
    let (mut found, mut after) = (Vec::new(), None);
    loop {
        let request = PageRequest {
            limit: 2,
            after: after.as_deref(),
        };
        let page = world.kubectl.list(query, request, LONG).await.unwrap();
        assert!(page.items.len() <= 2);
        assert!(
            page.items
                .iter()
                .all(|item| item["kind"] == "ConfigMap" && item.get("data").is_none())
        );
        found.extend(names(&page.items));
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    for name in ["page-1", "page-2", "page-3"] {
        assert_eq!(
            found.iter().filter(|found| *found == name).count(),
            1,
            "{found:?}"
        );
    }
    let nothing = Query {
        selector: Some("part-of=nothing"),
        ..query
    };
    let page = world
        .kubectl
        .list(
            nothing,
            PageRequest {
                limit: 2,
                after: None,
            },
            LONG,
        )
        .await
        .unwrap();
    assert_eq!((page.items, page.next), (Vec::new(), None));
}

pub async fn changes_are_watched(world: &World) {
    let kind = world.kind("ConfigMap").await;
    let query = world.query(&kind);
    let page = world
        .kubectl
        .list(
            query,
            PageRequest {
                limit: 500,
                after: None,
            },
            LONG,
        )
        .await
        .unwrap();
    let map = world.map("watched", json!({"a": "1"}));
    let missed = world.apply(&map).await;
    let mut changes = world
        .kubectl
        .watch(query, &page.version, LONG)
        .await
        .unwrap();
    let first = changes.next().await.unwrap().unwrap();
    assert_eq!(first.object()["metadata"]["uid"], missed["metadata"]["uid"]);
    assert!(matches!(first, Change::Is(_)));
    world
        .kubectl
        .delete(&object_ref(&map), delete_of(None), LONG)
        .await
        .unwrap();
    let second = changes.next().await.unwrap().unwrap();
    assert!(matches!(second, Change::Gone(_)), "{second:?}");
    drop(changes);
    let mut short = world
        .kubectl
        .watch(query, &page.version, Duration::from_secs(1))
        .await
        .unwrap();
    while short.next().await.is_some() {}
}

pub async fn what_is_not_there_is_told(world: &World) {
    let map = world.map("unnoted", json!({"a": "1"}));
    world.apply(&map).await;
    assert_eq!(
        world.kubectl.events(&object_ref(&map), None, LONG).await,
        Ok(Vec::new())
    );
    let log = Log {
        namespace: &world.namespace,
        pod: "none",
        container: "main",
        lines: 20,
        previous: false,
    };
    let error = world.kubectl.log(log, LONG).await.unwrap_err();
    assert!(
        error.to_string().contains("pods \"none\" not found"),
        "{error}"
    );
    let odd = ObjectRef {
        api_version: "no.such/v1".to_owned(),
        kind: "Odd".to_owned(),
        namespace: Some(world.namespace.clone()),
        name: "odd".to_owned(),
    };
    let error = world.kubectl.get(&odd, LONG).await.unwrap_err();
    assert_eq!(error.fault(), Some(ObjectFault::Unserved), "{error}");
}

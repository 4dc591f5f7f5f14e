//! What registries offer, as the command line shows it.

use dm::ExitCode;
use serde_json::{Value, json};

use crate::stand_in::{Manager, NEVER};

fn registries(names: &[&str]) -> Value {
    let registry = |name: &&str| json!({"name": name, "type": "git", "url": "https://host/r.git"});
    json!({"items": names.iter().map(registry).collect::<Vec<_>>()})
}

fn templates() -> Value {
    json!({"items": [{"name": "redis", "versions": ["v1", "v1.0.1", "v1.1"]}, {"name": "web/nginx", "versions": ["v2"]}]})
}

#[actix_web::test]
async fn templates_are_listed_by_registry_with_the_newest_version_first() {
    let manager = Manager::start(&[
        ("GET /registries?limit=1000", 200, registries(&["shop"])),
        ("GET /registries/shop/types?limit=1000", 200, templates()),
        ("GET /templates?limit=1000", 200, json!({"items": []})),
    ]);
    let said = manager.dm(&["templates"]).await;
    assert_eq!(said.code, ExitCode::Done, "{said:?}");
    insta::assert_snapshot!(said.stdout, @r"
    REGISTRY  TEMPLATE   VERSIONS
    shop      redis      v1.1, v1.0.1, v1
    shop      web/nginx  v2
    ");
    assert_eq!(manager.dm(&["templates", "shop"]).await.stdout, said.stdout);
    let document = manager.dm(&["templates", "-o", "json"]).await.stdout;
    let document: Value = serde_json::from_str(&document).unwrap();
    let first = json!({"registry": "shop", "name": "redis", "versions": ["v1", "v1.0.1", "v1.1"]});
    assert_eq!(document["items"][0], first);
}

#[actix_web::test]
async fn registries_that_are_away_or_silent_are_told_beside_what_the_others_hold() {
    let away =
        json!({"code": "REGISTRY_UNAVAILABLE", "message": "registry away cannot be fetched"});
    let manager = Manager::start(&[
        (
            "GET /registries?limit=1000",
            200,
            registries(&["away", "shop", "silent"]),
        ),
        ("GET /registries/away/types?limit=1000", 503, away),
        ("GET /registries/shop/types?limit=1000", 200, templates()),
        (
            "GET /registries/silent/types?limit=1000",
            NEVER,
            Value::Null,
        ),
        ("GET /templates?limit=1000", 200, json!({"items": []})),
    ]);
    let said = manager.dm(&["templates", "--timeout", "1s"]).await;
    assert_eq!(said.code, ExitCode::Unavailable, "{said:?}");
    assert!(said.stdout.contains("shop      redis"), "{said:?}");
    for reported in [
        "registry away cannot be fetched",
        "registry silent has not answered within 1 s",
        "dm templates silent",
    ] {
        assert!(said.stderr.contains(reported), "{reported}: {said:?}");
    }
}

#[actix_web::test]
async fn that_nothing_is_there_is_said() {
    let nothing = json!({"items": []});
    let manager = Manager::start(&[
        (
            "GET /registries/shop/types?limit=1000",
            200,
            nothing.clone(),
        ),
        (
            "GET /registries/shop/types?limit=1000&regex=%5Ex",
            200,
            nothing,
        ),
    ]);
    let said = manager.dm(&["templates", "shop"]).await;
    assert_eq!(said.stdout, "there are no templates\n");
    let said = manager.dm(&["templates", "shop", "^x"]).await;
    assert_eq!(said.stdout, "no template matches ^x\n");
}

#[actix_web::test]
async fn registries_are_listed_with_what_is_particular_about_them() {
    let manager = Manager::start(&[(
        "GET /registries?limit=1000",
        200,
        json!({"items": [
            {"name": "default", "type": "directory", "url": "file:///srv/charts"},
            {"name": "shop", "type": "git", "url": "https://host/r.git", "ref": "stable", "collection": "db",
                "credential": "own", "publicKeys": ["k"]},
        ]}),
    )]);
    let said = manager.dm(&["registries"]).await;
    insta::assert_snapshot!(said.stdout, @r"
    NAME     TYPE       URL                 DETAILS
    default  directory  file:///srv/charts
    shop     git        https://host/r.git  ref stable, collection db, credential own, signed templates only
    ");
}

#[actix_web::test]
async fn stored_templates_are_listed_by_namespace_behind_those_of_registries() {
    let stored = json!({"kind": "TemplateList", "items": [
        {"metadata": {"name": "web"}}, {"metadata": {"name": "db"}}]});
    let manager = Manager::start(&[
        ("GET /registries?limit=1000", 200, registries(&["shop"])),
        (
            "GET /registries/shop/types?limit=1000",
            200,
            json!({"items": [{"name": "redis", "versions": ["v1"]}]}),
        ),
        ("GET /templates?namespace=team&limit=1000", 200, stored),
        (
            "GET /templates?limit=1000",
            403,
            json!({"code": "FORBIDDEN", "message": "no"}),
        ),
    ]);
    let said = manager.dm(&["templates", "-n", "team"]).await;
    insta::assert_snapshot!(said.stdout, @r"
    REGISTRY       TEMPLATE  VERSIONS
    shop           redis     v1
    template:team  web
    template:team  db
    ");
    let said = manager.dm(&["templates", "template:team", "^d"]).await;
    assert!(said.stdout.ends_with("template:team  db\n"), "{said:?}");
    assert!(!said.stdout.contains("web"), "{said:?}");
    let said = manager.dm(&["templates"]).await;
    assert_eq!(said.code, ExitCode::Done, "{said:?}");
    assert!(!said.stdout.contains("template:"), "{said:?}");
}

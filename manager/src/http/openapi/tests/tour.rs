//! A tour of every route, which brings about every success that it has.

use serde_json::{Value, json};

use super::driver::{Ask, Driver, ask, finished};

/// One after the other; later ones go on from what earlier ones made.
pub async fn everywhere(driver: &mut Driver) {
    for path in [
        "/healthz",
        "/metrics",
        "/readyz",
        "/openapi.json",
        "/whoami",
        "/registries",
    ] {
        driver.ask("GET", path, Ask::default()).await;
    }
    reading(driver).await;
    new_versions(driver).await;
    going_back_and_forth(driver).await;
    writing(driver).await;
    registering(driver).await;
    clusters(driver).await;
    stopping(driver).await;
    administering(driver).await;
    processing(driver).await;
    exporting(driver).await;
    testing(driver).await;
}

/// The test hooks of a deployment.
async fn testing(driver: &mut Driver) {
    let hook = json!({"hook": {"events": ["test"]}});
    let resource = json!([{"name": "try", "type": "Pod", "metadata": hook}]);
    let body = json!({"name": "tested", "content": content(resource)});
    let deploy = Ask {
        body,
        ..Ask::default()
    };
    driver.json("POST", "/deployments", deploy).await;
    let test = || Ask {
        at: &["tested"],
        ..Ask::default()
    };
    let path = "/deployments/{deployment}/test";
    driver.json("POST", path, test()).await;
    let later = Ask {
        headers: &[("prefer", "respond-async")],
        ..test()
    };
    let accepted = driver.json("POST", path, later).await;
    finished(driver, &accepted).await;
}

/// Template objects from live ones.
async fn exporting(driver: &mut Driver) {
    let resource =
        json!([{"name": "live", "type": "ConfigMap", "properties": {"data": {"a": "b"}}}]);
    let body = json!({"name": "exported", "content": content(resource)});
    let deploy = Ask {
        body,
        ..Ask::default()
    };
    driver.json("POST", "/deployments", deploy).await;
    let export = Ask {
        body: json!({"objects": [{"type": "ConfigMap", "name": "live"}]}),
        ..Ask::default()
    };
    let found = driver.json("POST", "/export", export).await;
    assert_eq!(found["items"][0]["data"]["a"], "b");
    let ask = Ask {
        query: "?kind=ConfigMap&name=live",
        ..Ask::default()
    };
    let found = driver.json("GET", "/export", ask).await;
    assert_eq!(found["objects"][0]["data"]["a"], "b");
}

/// Template objects, below each of the paths that they have.
async fn processing(driver: &mut Driver) {
    let template = json!({
        "kind": "Template", "apiVersion": "v1", "metadata": {"name": "own"}, "parameters": [{"name": "A", "value": "a"}],
        "objects": [{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "$(A)"}}],
    });
    let ask = |at: &'static [&'static str], body: &Value| Ask {
        at,
        body: body.clone(),
        ..Ask::default()
    };
    let prefixes: [(&str, &[&str], &[&str]); 3] = [
        ("", &[], &["own"]),
        (
            "/api/v1/namespaces/{namespace}",
            &["shop"],
            &["shop", "own"],
        ),
        (
            "/apis/template.openshift.io/v1/namespaces/{namespace}",
            &["other"],
            &["other", "own"],
        ),
    ];
    for (prefix, all, one) in prefixes {
        let (list, processed) = (
            format!("{prefix}/templates"),
            format!("{prefix}/processedtemplates"),
        );
        let own = format!("{list}/{{template}}");
        driver.json("POST", &list, ask(all, &template)).await;
        driver.json("GET", &list, ask(all, &Value::Null)).await;
        driver.json("GET", &own, ask(one, &Value::Null)).await;
        driver.json("PUT", &own, ask(one, &template)).await;
        let patch = Ask {
            at: one,
            headers: &[("content-type", "application/merge-patch+json")],
            raw: Some(r#"{"labels": {"a": "b"}}"#.to_owned()),
            ..Ask::default()
        };
        driver.json("PATCH", &own, patch).await;
        let parameters = json!({"A": "b"});
        let path = format!("{own}/processed");
        let found = driver.json("POST", &path, ask(one, &parameters)).await;
        assert_eq!(found["objects"][0]["metadata"]["name"], "b");
        driver.json("POST", &processed, ask(all, &template)).await;
        driver.json("DELETE", &own, ask(one, &Value::Null)).await;
    }
}

fn content(resources: Value) -> Value {
    json!({"resources": resources}).to_string().into()
}

async fn registering(driver: &mut Driver) {
    let ask = |name: &'static [&'static str], body: Value| Ask {
        at: name,
        body,
        ..Ask::default()
    };
    let (credential, registry) = ("/credentials/{credential}", "/registries/{registry}");
    let (own, hub) = (&["own"], &["hub"]);
    for _ in ["new", "again"] {
        driver
            .json("POST", credential, ask(own, json!({"token": "t"})))
            .await;
    }
    driver.json("GET", credential, ask(own, Value::Null)).await;
    driver.json("GET", "/credentials", Ask::default()).await;
    let definition = json!({"type": "github", "url": "github.com/o/r", "credential": "own"});
    driver.json("POST", registry, ask(hub, definition)).await;
    driver.json("GET", registry, ask(hub, Value::Null)).await;
    let verified = driver.json("GET", "/admin/verify", Ask::default()).await;
    assert_eq!(verified["ok"], true, "{verified}");
    driver.json("DELETE", registry, ask(hub, Value::Null)).await;
    driver
        .json("DELETE", credential, ask(own, Value::Null))
        .await;
}

async fn clusters(driver: &mut Driver) {
    let ask = |body: Value| Ask {
        at: &["far"],
        body,
        ..Ask::default()
    };
    let (all, one) = ("/clusters", "/clusters/{cluster}");
    let far = json!({"name": "far", "url": "https://far:8082", "capacity": {"cpu": "8"}});
    let create = Ask {
        body: far.clone(),
        ..Ask::default()
    };
    driver.json("POST", all, create).await;
    driver.json("GET", all, Ask::default()).await;
    driver.json("GET", one, ask(Value::Null)).await;
    driver.json("PUT", one, ask(far)).await;
    let verified = driver.json("GET", "/admin/verify", Ask::default()).await;
    assert_eq!(verified["ok"], true, "{verified}");
    driver.json("DELETE", one, ask(Value::Null)).await;
}

async fn reading(driver: &mut Driver) {
    let name = json!({"name": "web", "content": content(json!([{"name": "two", "type": "pair:v1", "properties": {"a": 1}}]))});
    driver
        .json(
            "POST",
            "/expand",
            Ask {
                body: name.clone(),
                ..Ask::default()
            },
        )
        .await;
    let web = driver
        .json(
            "POST",
            "/deployments",
            Ask {
                body: name,
                ..Ask::default()
            },
        )
        .await;
    let manifest = web["latestManifest"].as_str().unwrap().to_owned();
    let operation = web["operation"].as_str().unwrap().to_owned();
    driver
        .json(
            "GET",
            "/deployments",
            Ask {
                query: "?limit=10",
                ..Ask::default()
            },
        )
        .await;
    for route in [
        "/deployments/{deployment}",
        "/deployments/{deployment}/resources",
        "/deployments/{deployment}/events",
        "/deployments/{deployment}/graph",
        "/deployments/{deployment}/manifests",
    ] {
        driver.json("GET", route, ask(&["web"])).await;
        assert_eq!(driver.ask("GET", route, ask(&["absent"])).await.0, 404);
        assert_eq!(driver.ask("GET", route, ask(&["NO NAME"])).await.0, 400);
    }
    let logs = "/deployments/{deployment}/logs";
    assert_eq!(driver.ask("GET", logs, ask(&["web"])).await.0, 200);
    assert_eq!(driver.ask("GET", logs, ask(&["absent"])).await.0, 404);
    let at = ["web", manifest.as_str()];
    driver
        .json(
            "GET",
            "/deployments/{deployment}/manifests/{manifest}",
            ask(&at),
        )
        .await;
    let diff = "/deployments/{deployment}/manifests/{manifest}/diff";
    let from = |manifest: &str| format!("?from={manifest}");
    let query = &from(&manifest);
    driver.json("GET", diff, Ask { query, ..ask(&at) }).await;
    let query = &from("absent");
    let missing = driver.ask("GET", diff, Ask { query, ..ask(&at) }).await;
    assert_eq!(missing.0, 404);
    for query in ["", "?path=$.resources[0]"] {
        let layout = "/deployments/{deployment}/manifests/{manifest}/layout";
        driver.json("GET", layout, Ask { query, ..ask(&at) }).await;
    }
    driver.json("GET", "/types", Ask::default()).await;
    driver
        .json("GET", "/types/{type}/instances", ask(&["all"]))
        .await;
    for route in ["/types/{type}/metadata", "/types/{type}/registry"] {
        driver.json("GET", route, ask(&["pair:v1"])).await;
        driver.ask("GET", route, ask(&["absent:v1"])).await;
    }
    driver
        .json(
            "GET",
            "/operations",
            Ask {
                query: "?deployment=web",
                ..Ask::default()
            },
        )
        .await;
    driver
        .json("GET", "/operations/{operation}", ask(&[&operation]))
        .await;
    driver
        .ask("GET", "/operations/{operation}/events", ask(&[&operation]))
        .await;
    let query = format!("?operations={operation}");
    let all = Ask {
        query: &query,
        ..Ask::default()
    };
    driver.ask("GET", "/events", all).await;
    registries(driver).await;
}

async fn registries(driver: &mut Driver) {
    let list = driver.json("GET", "/registries", Ask::default()).await;
    let registry = list["items"][0]["name"].as_str().unwrap().to_owned();
    driver
        .json("GET", "/registries/{registry}", ask(&[&registry]))
        .await;
    driver
        .ask("GET", "/registries/{registry}", ask(&["absent"]))
        .await;
    driver
        .json(
            "GET",
            "/registries/{registry}/types",
            Ask {
                query: "?regex=p.*",
                ..ask(&[&registry])
            },
        )
        .await;
    driver
        .json(
            "GET",
            "/registries/{registry}/types/{type}",
            ask(&[&registry, "pair:v1"]),
        )
        .await;
    let refresh = "/registries/{registry}/refresh";
    driver.json("POST", refresh, ask(&[&registry])).await;
    let at = [registry.as_str()];
    let download = Ask {
        query: "?file=pair/v1/pair.jinja",
        ..ask(&at)
    };
    driver
        .ask("GET", "/registries/{registry}/download", download)
        .await;
}

async fn writing(driver: &mut Driver) {
    let preferred: &[_] = &[("prefer", "respond-async")];
    let one = content(json!([{"name": "a", "type": "Service"}]));
    let later = Ask {
        headers: preferred,
        body: json!({"name": "later", "content": one}),
        ..Ask::default()
    };
    driver.json("POST", "/deployments", later).await;
    let route = "/deployments/{deployment}";
    let again = Ask {
        body: json!({"name": "web", "content": one}),
        ..Ask::default()
    };
    assert_eq!(driver.ask("POST", "/deployments", again).await.0, 409);
    let change = || Ask {
        at: &["web"],
        body: json!({"content": one}),
        ..Ask::default()
    };
    driver.json("PUT", route, change()).await;
    let accepted = driver
        .json(
            "PUT",
            route,
            Ask {
                headers: preferred,
                ..change()
            },
        )
        .await;
    finished(driver, &accepted).await;
    let stale = Ask {
        at: &["web"],
        headers: &[("if-match", "\"no\"")],
        ..Ask::default()
    };
    assert_eq!(driver.ask("DELETE", route, stale).await.0, 412);
    driver
        .json(
            "DELETE",
            route,
            Ask {
                at: &["web"],
                ..Ask::default()
            },
        )
        .await;
    let other = Ask {
        body: json!({"name": "other", "content": one}),
        ..Ask::default()
    };
    driver.json("POST", "/deployments", other).await;
    let remove = Ask {
        at: &["other"],
        headers: preferred,
        ..Ask::default()
    };
    let accepted = driver.json("DELETE", route, remove).await;
    finished(driver, &accepted).await;
}

/// Previews, differences and rollbacks of the deployment that is there.
async fn going_back_and_forth(driver: &mut Driver) {
    let route = "/deployments/{deployment}";
    let preview = "/deployments/{deployment}/preview";
    let body = json!({"content": content(json!([{"name": "a", "type": "Service"}]))});
    let change = |query| Ask {
        query,
        body: body.clone(),
        ..ask(&["web"])
    };
    let diff = "/deployments/{deployment}/diff";
    driver.json("POST", diff, change("?timeoutMs=10000")).await;
    assert_eq!(driver.ask("GET", preview, ask(&["web"])).await.0, 404);
    driver.json("PUT", route, change("?preview=true")).await;
    let seen = driver.json("GET", preview, ask(&["web"])).await;
    driver.json("DELETE", preview, ask(&["web"])).await;
    driver.json("PUT", route, change("?preview=true")).await;
    let outdated = Ask {
        body: json!({"manifest": seen["name"]}),
        ..ask(&["web"])
    };
    assert_eq!(driver.ask("PUT", route, outdated).await.0, 404);
    let web = driver.json("GET", route, ask(&["web"])).await;
    let committed = Ask {
        body: json!({"manifest": web["preview"]}),
        ..ask(&["web"])
    };
    driver.json("PUT", route, committed).await;
    let rollback = "/deployments/{deployment}/rollback";
    let back = || Ask {
        body: json!({"manifest": web["latestManifest"]}),
        ..ask(&["web"])
    };
    driver.json("POST", rollback, back()).await;
    let later = Ask {
        headers: &[("prefer", "respond-async")],
        ..back()
    };
    let accepted = driver.json("POST", rollback, later).await;
    finished(driver, &accepted).await;
}

/// Another version of a template, in a deployment that is made for it.
async fn new_versions(driver: &mut Driver) {
    let made = content(json!([{"name": "two", "type": "pair:v1"}]));
    let create = Ask {
        body: json!({"name": "upgraded", "content": made}),
        ..ask(&[])
    };
    driver.json("POST", "/deployments", create).await;
    let template = json!({"template": "pair:v1"});
    let whatif = Ask {
        query: "?full=true",
        body: template.clone(),
        ..ask(&[])
    };
    driver.json("POST", "/templates/whatif", whatif).await;
    let upgrade = "/deployments/{deployment}/upgrade";
    let again = || Ask {
        body: template.clone(),
        ..ask(&["upgraded"])
    };
    driver.json("POST", upgrade, again()).await;
    let later = Ask {
        headers: &[("prefer", "respond-async")],
        ..again()
    };
    let accepted = driver.json("POST", upgrade, later).await;
    finished(driver, &accepted).await;
}

async fn stopping(driver: &mut Driver) {
    let _gate = driver.served.bed.deployer.hold();
    let preferred: &[_] = &[("prefer", "respond-async")];
    let body = json!({"content": content(json!([{"name": "b", "type": "Service"}]))});
    let (stop, cancel) = (
        "/deployments/{deployment}/stop",
        "/operations/{operation}/cancel",
    );
    for headers in [preferred, &[]] {
        for by_operation in [true, false] {
            let change = Ask {
                headers: preferred,
                body: body.clone(),
                ..ask(&["later"])
            };
            let accepted = driver
                .json("PUT", "/deployments/{deployment}", change)
                .await;
            let id = accepted["id"].as_str().unwrap();
            let (route, at) = match by_operation {
                true => (cancel, [id]),
                false => (stop, ["later"]),
            };
            let ask = || Ask {
                at: &at,
                headers,
                ..Ask::default()
            };
            driver.json("POST", route, ask()).await;
            finished(driver, &accepted).await;
            assert_eq!(driver.ask("POST", route, ask()).await.0, 409);
        }
    }
    driver.served.bed.deployer.release();
}

async fn administering(driver: &mut Driver) {
    driver.json("GET", "/admin/verify", Ask::default()).await;
    driver.json("POST", "/admin/rotate", Ask::default()).await;
    driver.json("GET", "/admin/upgrade", Ask::default()).await;
    driver.json("POST", "/admin/upgrade", Ask::default()).await;
    let (_, archive) = driver.ask("GET", "/admin/backup", Ask::default()).await;
    let raw = || Ask {
        raw: Some(archive.clone()),
        ..Ask::default()
    };
    assert_eq!(driver.ask("POST", "/admin/restore", raw()).await.0, 409);
    let mut other = Driver::new().await;
    other.json("POST", "/admin/restore", raw()).await;
    driver.seen.extend(other.seen);
}

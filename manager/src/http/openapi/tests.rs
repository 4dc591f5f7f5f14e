use std::collections::{BTreeMap, BTreeSet};

use common::api::error::ErrorCode;
use reqwest::Method;
use serde_json::{Value, json};

use super::document;
use crate::http::ROUTES;
use crate::stage::Served;

/// Drives routes and holds what comes back to the document that the manager serves.
struct Driver {
    served: Served,
    document: Value,
    http: reqwest::Client,
    seen: BTreeSet<(String, String, String)>,
}

/// A request of a route: the path's parameters, the rest of the address, headers, the body.
#[derive(Default)]
struct Ask<'a> {
    at: &'a [&'a str],
    query: &'a str,
    headers: &'a [(&'a str, &'a str)],
    body: Value,
    raw: Option<String>,
}

fn ask<'a>(at: &'a [&'a str]) -> Ask<'a> {
    Ask {
        at,
        ..Ask::default()
    }
}

impl Driver {
    async fn new() -> Self {
        let served = Served::new().await;
        let http = common::client::http::builder().build().unwrap();
        let document = http.get(format!("{}/openapi.json", served.url));
        let document = document.send().await.unwrap().json().await.unwrap();
        Self {
            served,
            document,
            http,
            seen: BTreeSet::new(),
        }
    }

    async fn ask(&mut self, method: &str, route: &str, ask: Ask<'_>) -> (u16, String) {
        let mut at = ask.at.iter();
        let parts = route.split('/').map(|part| match part.strip_prefix('{') {
            Some(_) => at.next().unwrap().replace('/', "%2F"),
            None => part.to_owned(),
        });
        let path = parts.collect::<Vec<_>>().join("/");
        let url = format!("{}{path}{}", self.served.url, ask.query);
        let mut request = self
            .http
            .request(Method::from_bytes(method.as_bytes()).unwrap(), url);
        for (name, value) in ask.headers {
            request = request.header(*name, *value);
        }
        if let Some(raw) = ask.raw {
            request = request.body(raw);
        } else if !ask.body.is_null() {
            self.fits(&self.operation(method, route)["requestBody"]["content"]["application/json"]["schema"], &ask.body);
            request = request.json(&ask.body);
        }
        let response = request.send().await.unwrap();
        let status = response.status().as_u16();
        let media_type = response.headers()["content-type"]
            .to_str()
            .unwrap()
            .to_owned();
        let text = response.text().await.unwrap();
        self.check(method, route, status, &media_type, &text);
        (status, text)
    }

    fn operation(&self, method: &str, route: &str) -> &Value {
        &self.document["paths"][route][method.to_lowercase()]
    }

    fn check(&mut self, method: &str, route: &str, status: u16, media_type: &str, text: &str) {
        let answers = &self.operation(method, route)["responses"];
        let answer = &answers[status.to_string()];
        assert!(
            answer.is_object(),
            "{method} {route} answers {status}, undocumented: {text}"
        );
        let media_type = media_type.split(';').next().unwrap();
        let schema = &answer["content"][media_type]["schema"];
        assert!(
            !schema.is_null(),
            "{method} {route} answers {media_type}, undocumented"
        );
        if media_type == "application/json" {
            self.fits(schema, &serde_json::from_str(text).unwrap());
        }
        if status < 300 {
            let seen = (route.to_owned(), method.to_owned(), status.to_string());
            self.seen.insert(seen);
        }
    }

    fn fits(&self, schema: &Value, instance: &Value) {
        let whole = json!({"allOf": [schema], "components": self.document["components"]});
        let validator = jsonschema::validator_for(&whole).unwrap();
        let errors: Vec<_> = validator
            .iter_errors(instance)
            .map(|e| e.to_string())
            .collect();
        assert!(errors.is_empty(), "{errors:?}: {instance}");
    }

    /// A JSON answer that must be a success.
    async fn json(&mut self, method: &str, route: &str, ask: Ask<'_>) -> Value {
        let (status, text) = self.ask(method, route, ask).await;
        assert!(status < 300, "{method} {route}: {text}");
        serde_json::from_str(&text).unwrap()
    }
}

fn content(resources: Value) -> Value {
    json!({"resources": resources}).to_string().into()
}

/// Every success that the document speaks of.
fn documented(document: &Value) -> BTreeSet<(String, String, String)> {
    let mut found = BTreeSet::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let statuses = operation["responses"].as_object().unwrap().keys();
            for status in statuses.filter(|status| status.starts_with('2')) {
                found.insert((path.clone(), method.to_uppercase(), status.clone()));
            }
        }
    }
    found
}

#[tokio::test(flavor = "multi_thread")]
async fn every_answer_that_is_documented_is_given_and_fits_its_schema() {
    let mut driver = Driver::new().await;
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
    reading(&mut driver).await;
    new_versions(&mut driver).await;
    going_back_and_forth(&mut driver).await;
    writing(&mut driver).await;
    registering(&mut driver).await;
    stopping(&mut driver).await;
    administering(&mut driver).await;
    let missing: Vec<_> = documented(&driver.document)
        .difference(&driver.seen)
        .cloned()
        .collect();
    assert!(missing.is_empty(), "documented, and not seen: {missing:?}");
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
        "/deployments/{deployment}/graph",
        "/deployments/{deployment}/manifests",
    ] {
        driver.json("GET", route, ask(&["web"])).await;
        assert_eq!(driver.ask("GET", route, ask(&["absent"])).await.0, 404);
        assert_eq!(driver.ask("GET", route, ask(&["NO NAME"])).await.0, 400);
    }
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
    let _gate = driver.served.stage.deployer.hold();
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
    driver.served.stage.deployer.release();
}

async fn finished(driver: &Driver, operation: &Value) {
    let id = serde_json::from_value(operation["id"].clone()).unwrap();
    if let Some(ticket) = driver.served.app.engine.ticket(&id) {
        ticket.outcome().await.unwrap();
    }
}

async fn administering(driver: &mut Driver) {
    driver.json("GET", "/admin/verify", Ask::default()).await;
    driver.json("POST", "/admin/rotate", Ask::default()).await;
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

#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_is_too_large_or_of_another_kind_is_refused_as_documented() {
    let mut driver = Driver::new().await;
    let plain: &[_] = &[("content-type", "text/plain")];
    let large = "x".repeat(common::model::limits::REQUEST_BYTES + 1);
    for (headers, raw, status, code) in [
        (plain, String::new(), 415, ErrorCode::UnsupportedMediaType),
        (&[], large, 413, ErrorCode::PayloadTooLarge),
    ] {
        let asked = Ask {
            headers,
            raw: Some(raw),
            ..Ask::default()
        };
        let (answered, text) = driver.ask("POST", "/expand", asked).await;
        assert_eq!(answered, status);
        assert!(text.contains(code.as_str()), "{text}");
    }
}

#[test]
fn every_route_of_the_table_is_in_the_document_and_no_other() {
    let document = document(ROUTES);
    let mut table: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for route in super::SHARED.iter().chain(ROUTES) {
        let methods = table.entry(route.path.to_owned()).or_default();
        assert!(
            methods.insert(route.method.to_lowercase()),
            "{} twice",
            route.path
        );
    }
    for (path, methods) in document["paths"].as_object().unwrap() {
        let methods: BTreeSet<_> = methods.as_object().unwrap().keys().cloned().collect();
        assert_eq!(table.remove(path), Some(methods), "{path}");
    }
    assert!(table.is_empty(), "{table:?}");
}

#[test]
fn every_code_belongs_to_some_route() {
    let text = document(ROUTES).to_string();
    // Answered before a route is found.
    let general = [
        "METHOD_NOT_ALLOWED",
        "URI_TOO_LONG",
        "HEADERS_TOO_LARGE",
        "TOO_MANY_REQUESTS",
    ];
    for code in ErrorCode::ALL {
        let named = text.contains(&format!("`{code}`"));
        assert!(named || general.contains(&code.as_str()), "{code}");
    }
}

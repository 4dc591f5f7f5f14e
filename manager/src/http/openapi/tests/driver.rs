//! Drives routes and holds what comes back to the document that the manager serves.

use std::collections::BTreeSet;

use common::api::manager::{IDEMPOTENCY_KEY, IDEMPOTENT_REPLAYED};
use reqwest::Method;
use serde_json::{Value, json};

use crate::http::{ROUTES, is_repeatable};
use crate::testing::Served;

/// Drives routes and holds what comes back to the document that the manager serves.
pub struct Driver {
    pub served: Served,
    pub document: Value,
    http: reqwest::Client,
    pub seen: BTreeSet<(String, String, String)>,
    /// Writes that were repeated with their key.
    pub repeated: BTreeSet<(String, String)>,
    keys: usize,
}

/// A request of a route: the path's parameters, the rest of the address, headers, the body.
#[derive(Default)]
pub struct Ask<'a> {
    pub at: &'a [&'a str],
    pub query: &'a str,
    pub headers: &'a [(&'a str, &'a str)],
    pub body: Value,
    pub raw: Option<String>,
}

pub fn ask<'a>(at: &'a [&'a str]) -> Ask<'a> {
    Ask {
        at,
        ..Ask::default()
    }
}

impl Driver {
    pub async fn new() -> Self {
        let served = Served::new().await;
        let http = common::client::http::builder().build().unwrap();
        let document = http.get(format!("{}/openapi.json", served.url));
        let document = document.send().await.unwrap().json().await.unwrap();
        Self {
            served,
            document,
            http,
            seen: BTreeSet::new(),
            repeated: BTreeSet::new(),
            keys: 0,
        }
    }

    pub async fn ask(&mut self, method: &str, route: &str, ask: Ask<'_>) -> (u16, String) {
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
        let mut repeat = None;
        let has_key = ask.headers.iter().any(|(name, _)| *name == IDEMPOTENCY_KEY);
        if is_write(method, route) && !has_key {
            self.keys += 1;
            request = request.header(IDEMPOTENCY_KEY, format!("key-{}", self.keys));
            repeat = request.try_clone();
        }
        let response = request.send().await.unwrap();
        let status = response.status().as_u16();
        let media_type = response.headers()["content-type"]
            .to_str()
            .unwrap()
            .to_owned();
        let text = response.text().await.unwrap();
        self.check(method, route, status, &media_type, &text);
        if let Some(repeat) = repeat.filter(|_| status < 300) {
            self.repeats(method, route, repeat, (status, &text)).await;
            let write = (route.to_owned(), method.to_owned());
            self.repeated.insert(write);
        }
        (status, text)
    }

    /// A write that comes again with its key has the answer of the first time.
    async fn repeats(
        &self,
        method: &str,
        route: &str,
        repeat: reqwest::RequestBuilder,
        first: (u16, &str),
    ) {
        let again = repeat.send().await.unwrap();
        let status = again.status().as_u16();
        let is_replayed = again.headers().contains_key(IDEMPOTENT_REPLAYED);
        let text = again.text().await.unwrap();
        assert_eq!(status, first.0, "{method} {route} again: {text}");
        assert!(is_replayed, "{method} {route} again");
        // An accepted operation goes on.
        if status != 202 {
            assert_eq!(text, first.1, "{method} {route} again");
        }
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
            let body: Value = serde_json::from_str(text).unwrap();
            self.fits(schema, &body);
            let codes = answer["x-codes"].as_array();
            let is_listed = codes.is_none_or(|codes| codes.contains(&body["code"]));
            assert!(
                is_listed,
                "{method} {route} answers an undocumented code: {text}"
            );
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
    pub async fn json(&mut self, method: &str, route: &str, ask: Ask<'_>) -> Value {
        let (status, text) = self.ask(method, route, ask).await;
        assert!(status < 300, "{method} {route}: {text}");
        serde_json::from_str(&text).unwrap()
    }
}

fn is_write(method: &str, route: &str) -> bool {
    let mut routes = ROUTES.iter();
    let found = routes.find(|one| one.path == route && one.method == method);
    found.is_some_and(is_repeatable)
}

pub async fn finished(driver: &Driver, operation: &Value) {
    let id = serde_json::from_value(operation["id"].clone()).unwrap();
    if let Some(handle) = driver.served.app.engine.handle(&id) {
        handle.outcome().await.unwrap();
    }
}

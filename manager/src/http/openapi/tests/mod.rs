mod driver;
mod generated;
mod making;
mod tour;

use std::collections::{BTreeMap, BTreeSet};

use common::api::error::ErrorCode;
use serde_json::Value;

use self::driver::{Ask, Driver};
use super::{SHARED, document};
use crate::http::{ROUTES, is_repeatable};

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
    tour::everywhere(&mut driver).await;
    let missing: Vec<_> = documented(&driver.document)
        .difference(&driver.seen)
        .cloned()
        .collect();
    assert!(missing.is_empty(), "documented, and not seen: {missing:?}");
    let writes = ROUTES.iter().filter(|route| is_repeatable(route));
    let writes: BTreeSet<_> = writes
        .map(|route| (route.path.to_owned(), route.method.to_owned()))
        .collect();
    assert_eq!(driver.repeated, writes, "repeated with their keys");
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
    for route in SHARED.iter().chain(ROUTES) {
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
fn no_answer_lists_a_code_twice() {
    let document = document(ROUTES);
    for (path, methods) in document["paths"].as_object().unwrap() {
        for answer in methods.as_object().unwrap().values().flat_map(answers) {
            let Some(codes) = answer["x-codes"].as_array() else {
                continue;
            };
            let different: BTreeSet<_> = codes.iter().map(Value::as_str).collect();
            assert_eq!(different.len(), codes.len(), "{path}: {codes:?}");
        }
    }
}

fn answers(operation: &Value) -> Vec<&Value> {
    operation["responses"]
        .as_object()
        .unwrap()
        .values()
        .collect()
}

#[test]
fn every_code_belongs_to_some_route() {
    let text = document(ROUTES).to_string();
    for code in ErrorCode::ALL {
        // Only what is no route answers so.
        let named = text.contains(&format!("`{code}`")) || *code == ErrorCode::MethodNotAllowed;
        assert!(named, "{code}");
    }
}

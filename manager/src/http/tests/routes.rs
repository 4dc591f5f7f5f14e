//! The table of routes.

use super::*;
use crate::http::ROUTES;
use crate::http::openapi::Route;

/// Each path with its methods.
fn table() -> Vec<(String, String)> {
    let rows = ROUTES.chunk_by(|one, other| one.path == other.path);
    let row = |routes: &[Route]| {
        let methods: Vec<_> = routes.iter().map(|route| route.method).collect();
        (routes[0].path.to_owned(), methods.join(", "))
    };
    rows.map(row).collect()
}

#[test]
fn the_routes_are_a_promise() {
    let rows: Vec<_> = table()
        .into_iter()
        .map(|(path, methods)| format!("{path} {methods}"))
        .collect();
    insta::assert_snapshot!(rows.join("\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_path_names_the_methods_that_it_has() {
    let served = Served::new().await;
    for (path, methods) in table() {
        let path = path.replace(['{', '}'], "");
        let methods = methods.replace("GET", "GET, HEAD");
        let response = send(&served, Method::TRACE, &path, &[], Value::Null).await;
        assert_eq!(response.headers()["allow"], methods, "{path}");
        assert_eq!(code(response).await.1, ErrorCode::MethodNotAllowed);
    }
}

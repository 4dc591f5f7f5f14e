//! The table of routes.

use super::*;

/// The table of routes as it is written: path, methods.
fn table() -> Vec<(String, String)> {
    let lines = include_str!("../mod.rs").lines().map(str::trim);
    let routes = lines.filter(|line| line.starts_with("\"/") && line.ends_with(';'));
    let row = |line: &str| {
        let mut words = line.split_whitespace();
        let path = words.next().unwrap().trim_matches('"').to_owned();
        let methods: Vec<_> = words.step_by(2).collect();
        (path, methods.join(", "))
    };
    routes.map(row).collect()
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
        let response = send(&served, Method::PATCH, &path, &[], Value::Null).await;
        assert_eq!(response.headers()["allow"], methods, "{path}");
        assert_eq!(code(response).await.1, ErrorCode::MethodNotAllowed);
    }
}

//! Every route, asked by everybody.

use std::collections::BTreeSet;

use sha2::{Digest, Sha256};
use tempfile::TempDir;

use super::*;
use crate::http::openapi::SHARED;
use crate::http::{Need, ROUTES};
use crate::testing::TestBed;

/// Callers, as the columns of the table: without a token, with one that nobody knows, an administrator of another
/// namespace, and those of namespace `shop` and of all.
const CALLERS: [&str; 6] = ["", "stranger", "other", "viewer", "editor", "admin"];

/// What each route answers each caller. `web` is a deployment of `shop` with a preview and without templates, nothing runs
/// on it.
const TABLE: &[(&str, &str, [u16; 6])] = &[
    ("GET", "/healthz", [200, 200, 200, 200, 200, 200]),
    ("GET", "/metrics", [401, 401, 200, 200, 200, 200]),
    ("GET", "/whoami", [401, 401, 200, 200, 200, 200]),
    ("GET", "/readyz", [200, 200, 200, 200, 200, 200]),
    ("GET", "/openapi.json", [200, 200, 200, 200, 200, 200]),
    ("GET", "/admin/backup", [401, 401, 403, 403, 403, 200]),
    ("POST", "/admin/restore", [401, 401, 403, 403, 403, 409]),
    ("GET", "/admin/verify", [401, 401, 403, 403, 403, 200]),
    ("POST", "/admin/rotate", [401, 401, 403, 403, 403, 200]),
    ("GET", "/admin/upgrade", [401, 401, 403, 403, 403, 200]),
    ("POST", "/admin/upgrade", [401, 401, 403, 403, 403, 200]),
    ("GET", "/deployments", [401, 401, 200, 200, 200, 200]),
    ("POST", "/deployments", [401, 401, 403, 403, 201, 201]),
    (
        "GET",
        "/deployments/{deployment}",
        [401, 401, 404, 200, 200, 200],
    ),
    (
        "PUT",
        "/deployments/{deployment}",
        [401, 401, 404, 403, 200, 200],
    ),
    (
        "DELETE",
        "/deployments/{deployment}",
        [401, 401, 404, 403, 200, 200],
    ),
    (
        "POST",
        "/deployments/{deployment}/rollback",
        [401, 401, 404, 403, 200, 200],
    ),
    (
        "POST",
        "/deployments/{deployment}/upgrade",
        [401, 401, 404, 403, 400, 400],
    ),
    (
        "POST",
        "/deployments/{deployment}/test",
        [401, 401, 404, 403, 400, 400],
    ),
    (
        "POST",
        "/deployments/{deployment}/stop",
        [401, 401, 404, 403, 409, 409],
    ),
    (
        "GET",
        "/deployments/{deployment}/preview",
        [401, 401, 404, 200, 200, 200],
    ),
    (
        "DELETE",
        "/deployments/{deployment}/preview",
        [401, 401, 404, 403, 200, 200],
    ),
    (
        "POST",
        "/deployments/{deployment}/diff",
        [401, 401, 404, 200, 200, 200],
    ),
    (
        "GET",
        "/deployments/{deployment}/resources",
        [401, 401, 404, 200, 200, 200],
    ),
    (
        "GET",
        "/deployments/{deployment}/events",
        [401, 401, 404, 200, 200, 200],
    ),
    (
        "GET",
        "/deployments/{deployment}/logs",
        [401, 401, 404, 200, 200, 200],
    ),
    (
        "GET",
        "/deployments/{deployment}/graph",
        [401, 401, 404, 200, 200, 200],
    ),
    (
        "GET",
        "/deployments/{deployment}/manifests",
        [401, 401, 404, 200, 200, 200],
    ),
    (
        "GET",
        "/deployments/{deployment}/manifests/{manifest}",
        [401, 401, 404, 200, 200, 200],
    ),
    (
        "GET",
        "/deployments/{deployment}/manifests/{manifest}/diff",
        [401, 401, 404, 200, 200, 200],
    ),
    (
        "GET",
        "/deployments/{deployment}/manifests/{manifest}/layout",
        [401, 401, 404, 200, 200, 200],
    ),
    ("POST", "/templates/whatif", [401, 401, 200, 200, 200, 200]),
    ("GET", "/types", [401, 401, 200, 200, 200, 200]),
    (
        "GET",
        "/types/{type}/instances",
        [401, 401, 200, 200, 200, 200],
    ),
    (
        "GET",
        "/types/{type}/metadata",
        [401, 401, 200, 200, 200, 200],
    ),
    (
        "GET",
        "/types/{type}/registry",
        [401, 401, 200, 200, 200, 200],
    ),
    ("GET", "/registries", [401, 401, 200, 200, 200, 200]),
    (
        "GET",
        "/registries/{registry}",
        [401, 401, 404, 404, 404, 404],
    ),
    (
        "POST",
        "/registries/{registry}",
        [401, 401, 403, 403, 403, 201],
    ),
    (
        "DELETE",
        "/registries/{registry}",
        [401, 401, 403, 403, 403, 404],
    ),
    (
        "POST",
        "/registries/{registry}/refresh",
        [401, 401, 404, 404, 404, 404],
    ),
    (
        "GET",
        "/registries/{registry}/types",
        [401, 401, 404, 404, 404, 404],
    ),
    (
        "GET",
        "/registries/{registry}/types/{type}",
        [401, 401, 404, 404, 404, 404],
    ),
    (
        "GET",
        "/registries/{registry}/download",
        [401, 401, 404, 404, 404, 404],
    ),
    ("GET", "/credentials", [401, 401, 403, 403, 403, 200]),
    (
        "GET",
        "/credentials/{credential}",
        [401, 401, 403, 403, 403, 404],
    ),
    (
        "POST",
        "/credentials/{credential}",
        [401, 401, 403, 403, 403, 201],
    ),
    (
        "DELETE",
        "/credentials/{credential}",
        [401, 401, 403, 403, 403, 404],
    ),
    ("GET", "/clusters", [401, 401, 200, 200, 200, 200]),
    ("POST", "/clusters", [401, 401, 403, 403, 403, 201]),
    ("GET", "/clusters/{cluster}", [401, 401, 404, 404, 404, 404]),
    ("PUT", "/clusters/{cluster}", [401, 401, 403, 403, 403, 404]),
    (
        "DELETE",
        "/clusters/{cluster}",
        [401, 401, 403, 403, 403, 404],
    ),
    ("POST", "/expand", [401, 401, 200, 200, 200, 200]),
    ("GET", "/export", [401, 401, 403, 404, 404, 404]),
    ("POST", "/export", [401, 401, 403, 200, 200, 200]),
    ("GET", "/events", [401, 401, 400, 400, 400, 400]),
    ("GET", "/operations", [401, 401, 200, 200, 200, 200]),
    (
        "GET",
        "/operations/{operation}",
        [401, 401, 404, 200, 200, 200],
    ),
    (
        "GET",
        "/operations/{operation}/events",
        [401, 401, 404, 200, 200, 200],
    ),
    (
        "POST",
        "/operations/{operation}/cancel",
        [401, 401, 404, 403, 409, 409],
    ),
    ("GET", "/templates", [401, 401, 403, 200, 200, 200]),
    ("POST", "/templates", [401, 401, 403, 403, 201, 201]),
    (
        "GET",
        "/templates/{template}",
        [401, 401, 404, 404, 404, 404],
    ),
    (
        "PUT",
        "/templates/{template}",
        [401, 401, 404, 404, 404, 404],
    ),
    (
        "PATCH",
        "/templates/{template}",
        [401, 401, 415, 415, 415, 415],
    ),
    (
        "DELETE",
        "/templates/{template}",
        [401, 401, 404, 404, 404, 404],
    ),
    (
        "POST",
        "/templates/{template}/processed",
        [401, 401, 404, 404, 404, 404],
    ),
    (
        "POST",
        "/processedtemplates",
        [401, 401, 201, 201, 201, 201],
    ),
    (
        "GET",
        "/api/v1/namespaces/{namespace}/templates",
        [401, 401, 403, 200, 200, 200],
    ),
    (
        "POST",
        "/api/v1/namespaces/{namespace}/templates",
        [401, 401, 403, 403, 201, 201],
    ),
    (
        "GET",
        "/api/v1/namespaces/{namespace}/templates/{template}",
        [401, 401, 404, 404, 404, 404],
    ),
    (
        "PUT",
        "/api/v1/namespaces/{namespace}/templates/{template}",
        [401, 401, 404, 404, 404, 404],
    ),
    (
        "PATCH",
        "/api/v1/namespaces/{namespace}/templates/{template}",
        [401, 401, 415, 415, 415, 415],
    ),
    (
        "DELETE",
        "/api/v1/namespaces/{namespace}/templates/{template}",
        [401, 401, 404, 404, 404, 404],
    ),
    (
        "POST",
        "/api/v1/namespaces/{namespace}/templates/{template}/processed",
        [401, 401, 404, 404, 404, 404],
    ),
    (
        "POST",
        "/api/v1/namespaces/{namespace}/processedtemplates",
        [401, 401, 201, 201, 201, 201],
    ),
    (
        "GET",
        "/apis/template.openshift.io/v1/namespaces/{namespace}/templates",
        [401, 401, 403, 200, 200, 200],
    ),
    (
        "POST",
        "/apis/template.openshift.io/v1/namespaces/{namespace}/templates",
        [401, 401, 403, 403, 201, 201],
    ),
    (
        "GET",
        "/apis/template.openshift.io/v1/namespaces/{namespace}/templates/{template}",
        [401, 401, 404, 404, 404, 404],
    ),
    (
        "PUT",
        "/apis/template.openshift.io/v1/namespaces/{namespace}/templates/{template}",
        [401, 401, 404, 404, 404, 404],
    ),
    (
        "PATCH",
        "/apis/template.openshift.io/v1/namespaces/{namespace}/templates/{template}",
        [401, 401, 415, 415, 415, 415],
    ),
    (
        "DELETE",
        "/apis/template.openshift.io/v1/namespaces/{namespace}/templates/{template}",
        [401, 401, 404, 404, 404, 404],
    ),
    (
        "POST",
        "/apis/template.openshift.io/v1/namespaces/{namespace}/templates/{template}/processed",
        [401, 401, 404, 404, 404, 404],
    ),
    (
        "POST",
        "/apis/template.openshift.io/v1/namespaces/{namespace}/processedtemplates",
        [401, 401, 201, 201, 201, 201],
    ),
];

const POLICY: &str = r#"
bindings:
- {role: admin, users: [admin], namespaces: ["*"]}
- {role: admin, users: [other], namespaces: [elsewhere]}
- {role: view, users: [viewer], namespaces: [shop]}
- {role: edit, groups: [editors], namespaces: [shop]}
"#;

/// A manager with authenticated callers, and `web`.
pub(super) struct Guarded {
    pub served: Served,
    files: TempDir,
    manifest: String,
    operation: String,
}

/// The file of static tokens, in which everybody's is their name.
fn tokens() -> String {
    let users = CALLERS.iter().skip(2);
    let entries = users.map(|user| {
        let digest = Sha256::digest(user.as_bytes());
        let digest: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        format!("- {{sha256: {digest}, user: {user}, groups: [{user}s]}}\n")
    });
    format!("tokens:\n{}", entries.collect::<String>())
}

impl Guarded {
    pub async fn new() -> Self {
        let files = tempfile::tempdir().unwrap();
        let written = |name: &str, text: &str| {
            let path = files.path().join(name);
            std::fs::write(&path, text).unwrap();
            Some(path)
        };
        let mut bed = TestBed::new();
        bed.auth.auth_tokens = written("tokens", &tokens());
        bed.auth.auth_policy = written("policy", POLICY);
        bed.auth.audit_log = Some(files.path().join("audit"));
        bed.auth.trusted_proxies = vec![[127, 0, 0, 1].into()];
        let served = Served::on(bed).await;
        let mut guarded = Self {
            served,
            files,
            manifest: String::new(),
            operation: String::new(),
        };
        let body = json!({"name": "web", "namespace": "shop", "content": content(service("a"))});
        let web = guarded
            .ask("editor", Method::POST, "/deployments", body)
            .await;
        assert_eq!(web.status(), 201);
        let web: Value = web.json().await.unwrap();
        guarded.manifest = web["latestManifest"].as_str().unwrap().to_owned();
        guarded.operation = web["operation"].as_str().unwrap().to_owned();
        let path = "/deployments/web?preview=true";
        let body = json!({"content": content(service("a"))});
        let previewed = guarded.ask("editor", Method::PUT, path, body).await;
        assert_eq!(previewed.status(), 200);
        guarded
    }

    pub async fn ask(&self, caller: &str, method: Method, path: &str, body: Value) -> Response {
        let header = format!("Bearer {caller}");
        let headers = [("authorization", header.as_str())];
        let headers = if caller.is_empty() { &[][..] } else { &headers };
        send(&self.served, method, path, headers, body).await
    }

    /// The lines of the audit log from one on, without times and ids.
    fn audited(&self, from: usize) -> Vec<String> {
        let text = std::fs::read_to_string(self.files.path().join("audit")).unwrap();
        let line = |line| {
            let mut line: Value = serde_json::from_str(line).unwrap();
            let fields = line.as_object_mut().unwrap();
            assert!(fields.shift_remove("time").is_some());
            fields.shift_remove("requestId");
            fields.shift_remove("operation");
            line.to_string()
        };
        text.lines().skip(from).map(line).collect()
    }

    async fn ask_route(&self, caller: &str, method: &str, route: &str) -> Response {
        let path = route
            .replace("{deployment}", "web")
            .replace("{manifest}", &self.manifest)
            .replace("{operation}", &self.operation)
            .replace("{type}", "pair:v1")
            .replace("{registry}", "hub")
            .replace("{credential}", "own")
            .replace("{cluster}", "far")
            .replace("{namespace}", "shop")
            .replace("{template}", "pair");
        let path = match route {
            "/registries/{registry}/download" => path + "?file=a",
            "/deployments/{deployment}/manifests/{manifest}/diff" => {
                format!("{path}?from={}", self.manifest)
            }
            "/export" if method == "GET" => path + "?namespace=shop&kind=ConfigMap&name=none",
            route if route.starts_with("/templates") && !route.ends_with("whatif") => {
                path + "?namespace=shop"
            }
            _ => path,
        };
        let body = self.body(method, route);
        let method = Method::from_bytes(method.as_bytes()).unwrap();
        self.ask(caller, method, &path, body).await
    }

    fn body(&self, method: &str, route: &str) -> Value {
        let one = content(service("a"));
        match (method, route) {
            ("POST", "/deployments") => {
                json!({"name": "new", "namespace": "shop", "content": one})
            }
            ("POST", "/expand") => json!({"name": "new", "content": one}),
            ("POST", "/export") => json!({"namespace": "shop", "objects": [{"type": "ConfigMap"}]}),
            ("PUT", "/deployments/{deployment}") => json!({"content": one}),
            ("POST", "/deployments/{deployment}/diff") => json!({"content": one}),
            ("POST", "/deployments/{deployment}/rollback") => json!({"manifest": self.manifest}),
            ("POST", "/deployments/{deployment}/upgrade" | "/templates/whatif") => {
                json!({"template": "pair:v1"})
            }
            ("POST", "/registries/{registry}") => {
                json!({"type": "github", "url": "github.com/o/r"})
            }
            ("POST", "/clusters") | ("PUT", "/clusters/{cluster}") => {
                json!({"name": "far", "url": "https://far:8082"})
            }
            ("POST", "/credentials/{credential}") => json!({"token": "t"}),
            (_, route) if route.ends_with("/processed") => json!({"parameters": {}}),
            ("POST" | "PUT", route) if route.contains("templates") => json!({
                "kind": "Template", "apiVersion": "v1", "metadata": {"name": "pair"}, "objects": [one_object()],
            }),
            _ => Value::Null,
        }
    }
}

fn one_object() -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}})
}

#[tokio::test(flavor = "multi_thread")]
async fn every_route_answers_each_caller_as_the_table_says() {
    let mut wrong = Vec::new();
    for (method, route, expected) in TABLE {
        let mut guarded = Guarded::new().await;
        for (caller, expected) in CALLERS.iter().zip(expected) {
            if *caller == "admin" {
                // What the editor may do is done.
                guarded = Guarded::new().await;
            }
            let before = guarded.served.bed.keys().await;
            let answer = guarded.ask_route(caller, method, route).await;
            let status = answer.status().as_u16();
            let challenge = answer.headers().contains_key("www-authenticate");
            if status != *expected || challenge != (status == 401) {
                let text = answer.text().await.unwrap();
                wrong.push(format!(
                    "{method} {route} as {caller:?}: {status}, not {expected}: {text}"
                ));
            } else if [401, 403, 404].contains(&status) {
                assert_eq!(guarded.served.bed.keys().await, before, "{method} {route}");
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_route_has_a_row_in_the_table_of_callers() {
    let routes = SHARED.iter().chain(ROUTES);
    let routes: BTreeSet<_> = routes.map(|route| (route.method, route.path)).collect();
    let rows: BTreeSet<_> = TABLE
        .iter()
        .map(|(method, path, _)| (*method, *path))
        .collect();
    assert_eq!(rows, routes);
}

#[test]
fn only_what_probes_and_newcomers_need_is_open() {
    let open = SHARED.iter().chain(ROUTES);
    let open = open.filter(|route| route.need == Need::Nothing);
    let open: Vec<_> = open.map(|route| route.path).collect();
    assert_eq!(open, ["/healthz", "/readyz", "/openapi.json"]);
}

async fn refused(answer: Response) -> (ErrorCode, String) {
    let body: ErrorBody = answer.json().await.unwrap();
    (body.code, body.message)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refusal_names_who_what_and_what_would_allow_it() {
    let guarded = Guarded::new().await;
    let body = json!({"content": content(service("b"))});
    let answer = guarded
        .ask("viewer", Method::PUT, "/deployments/web", body)
        .await;
    let (code, message) = refused(answer).await;
    assert_eq!(code, ErrorCode::Forbidden);
    assert_eq!(
        message,
        "user 'viewer' may not update deployments 'web' in namespace 'shop': it takes the role 'edit' in namespace 'shop'"
    );
    let answer = guarded
        .ask("", Method::GET, "/deployments", Value::Null)
        .await;
    assert_eq!(answer.headers()["www-authenticate"], "Bearer");
    let (code, message) = refused(answer).await;
    assert_eq!(code, ErrorCode::Unauthenticated);
    assert!(message.contains("Authorization: Bearer TOKEN"), "{message}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_somebody_may_not_see_is_told_as_what_is_not_there() {
    let guarded = Guarded::new().await;
    for (method, hidden, absent) in [
        (Method::GET, "/deployments/web", "/deployments/nil"),
        (Method::DELETE, "/deployments/web", "/deployments/nil"),
        (
            Method::GET,
            "/deployments/web/manifests/a",
            "/deployments/nil/manifests/a",
        ),
    ] {
        let ask = |path| guarded.ask("other", method.clone(), path, Value::Null);
        let (code, message) = refused(ask(hidden).await).await;
        assert_eq!(code, ErrorCode::NotFound);
        assert_eq!(
            message.replace("web", "nil"),
            refused(ask(absent).await).await.1
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn lists_hold_what_the_caller_may_see_and_nothing_else() {
    let guarded = Guarded::new().await;
    let body = json!({"name": "own", "namespace": "elsewhere", "content": content(json!([{"name": "p", "type": "pair:v1"}, {"name": "x", "type": "Service"}]))});
    let made = guarded
        .ask("other", Method::POST, "/deployments", body)
        .await;
    assert_eq!(made.status(), 201);
    let list = async |caller: &str, path: &str, field: &str| {
        let answer = guarded.ask(caller, Method::GET, path, Value::Null).await;
        let page: Value = answer.json().await.unwrap();
        let items = page["items"].as_array().unwrap();
        let named = items
            .iter()
            .map(|item| item[field].as_str().unwrap().to_owned());
        named
            .collect::<BTreeSet<_>>()
            .into_iter()
            .collect::<Vec<_>>()
            .join(" ")
    };
    for (caller, deployments, types) in [
        ("viewer", "web", "Service"),
        ("other", "own", "Pod Service pair:v1"),
        ("admin", "own web", "Pod Service pair:v1"),
    ] {
        assert_eq!(list(caller, "/deployments", "name").await, deployments);
        assert_eq!(list(caller, "/operations", "deployment").await, deployments);
        let instances = "/types/all/instances";
        assert_eq!(list(caller, instances, "deployment").await, deployments);
        assert_eq!(list(caller, "/types", "name").await, types);
    }
    let answer = guarded
        .ask("viewer", Method::GET, "/types", Value::Null)
        .await;
    let types: Value = answer.json().await.unwrap();
    assert_eq!(types["items"], json!([{"name": "Service", "instances": 1}]));
}

#[tokio::test(flavor = "multi_thread")]
async fn each_write_each_denial_and_each_operations_end_is_a_line_for_auditors() {
    let guarded = Guarded::new().await;
    let before = guarded.audited(0).len();
    let change = || json!({"content": content(service("b")), "description": "not for auditors"});
    for (caller, method, path, body) in [
        ("viewer", Method::GET, "/deployments/web", Value::Null),
        ("viewer", Method::PUT, "/deployments/web", change()),
        ("other", Method::GET, "/deployments/web", Value::Null),
        ("stranger", Method::GET, "/deployments", Value::Null),
        ("editor", Method::PUT, "/deployments/web", change()),
        (
            "editor",
            Method::PUT,
            "/deployments/web?preview=yes",
            change(),
        ),
        ("admin", Method::GET, "/credentials", Value::Null),
    ] {
        guarded.ask(caller, method, path, body).await;
    }
    insta::assert_snapshot!(guarded.audited(before).join("\n"));
    let text = std::fs::read_to_string(guarded.files.path().join("audit")).unwrap();
    for secret in ["not for auditors", "Bearer", "stranger"] {
        assert!(!text.contains(secret), "{secret}: {text}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_address_is_believed_of_trusted_proxies_alone_and_only_the_one_they_saw() {
    let guarded = Guarded::new().await;
    let from = async |served: &Served, forwarded: &str| {
        let headers = [
            ("authorization", "Bearer editor"),
            ("x-forwarded-for", forwarded),
        ];
        let body = json!({"content": content(service("b"))});
        let answer = send(served, Method::PUT, "/deployments/web", &headers, body).await;
        let deployment: Value = answer.json().await.unwrap();
        let path = format!("/operations/{}", deployment["operation"].as_str().unwrap());
        let answer = send(served, Method::GET, &path, &headers, Value::Null).await;
        let operation: Value = answer.json().await.unwrap();
        assert_eq!(operation["user"], "editor");
        operation["from"].as_str().unwrap().to_owned()
    };
    let reported = from(&guarded.served, "10.9.9.9, 192.0.2.7").await;
    assert_eq!(reported, "192.0.2.7");
    assert_eq!(from(&guarded.served, "nonsense").await, "127.0.0.1");
}

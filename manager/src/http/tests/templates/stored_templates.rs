//! Template objects over HTTP: stored, and processed without a deployment.

use crate::http::templates::patches::{LIST, MERGE};
use crate::http::tests::*;

const KUBERNETES: &str = "/apis/template.openshift.io/v1/namespaces/shop";
const KUBERNETES_TEMPLATES: &str = "/apis/template.openshift.io/v1/namespaces/shop/templates";

/// The example of OpenShift's dialect.
fn template() -> Value {
    json!({
        "kind": "Template", "apiVersion": "template.openshift.io/v1", "metadata": {"name": "q"},
        "message": "user ${USER} / ${PASS}", "labels": {"app": "${NAME}"},
        "parameters": [
            {"name": "NAME", "value": "q", "required": true}, {"name": "N", "value": "2"}, {"name": "USER", "value": "root"},
            {"name": "PASS", "generate": "expression", "from": "pw-[a-f0-9]{6}", "required": true},
        ],
        "objects": [{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "${NAME}", "namespace": "fixed"},
            "spec": {"replicas": "${{N}}", "selector": {"matchLabels": {"d": "${NAME}"}}}}],
    })
}

async fn answer(served: &Served, method: Method, path: &str, body: Value) -> (u16, Value) {
    let response = send(served, method, path, &[], body).await;
    (response.status().as_u16(), response.json().await.unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_template_is_processed_and_nothing_is_stored() {
    let served = Served::new().await;
    let (status, found) = answer(&served, Method::POST, "/processedtemplates", template()).await;
    assert_eq!(status, 201, "{found}");
    assert_eq!(found["kind"], "Template");
    let object = &found["objects"][0];
    assert_eq!(
        object["metadata"],
        json!({"name": "q", "labels": {"app": "q"}})
    );
    assert_eq!(object["spec"]["replicas"], 2);
    assert_eq!(object["spec"]["selector"]["matchLabels"], json!({"d": "q"}));
    let password = found["parameters"][3]["value"].as_str().unwrap();
    assert!(
        password.starts_with("pw-") && password.len() == 9,
        "{password}"
    );
    assert_eq!(found["message"], format!("user root / {password}"));

    let (_, other) = answer(&served, Method::POST, "/processedtemplates", template()).await;
    assert_ne!(other["message"], found["message"]);
    let path = "/processedtemplates?output=List";
    let (status, list) = answer(&served, Method::POST, path, template()).await;
    assert_eq!(
        (
            status,
            &list["kind"],
            list["items"].as_array().unwrap().len()
        ),
        (201, &json!("List"), 1)
    );
    let headers = [("accept", "application/json;as=List")];
    let list = send(
        &served,
        Method::POST,
        "/processedtemplates",
        &headers,
        template(),
    )
    .await;
    assert_eq!(list.json::<Value>().await.unwrap()["kind"], "List");
    let (_, all) = answer(&served, Method::GET, "/templates", Value::Null).await;
    assert_eq!(all["items"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stored_template_is_where_its_location_says() {
    let served = Served::new().await;
    for path in [
        "/templates",
        "/templates?namespace=shop",
        KUBERNETES_TEMPLATES,
    ] {
        let created = send(&served, Method::POST, path, &[], template()).await;
        assert_eq!(created.status(), 201, "{path}");
        let place = created.headers()["location"].to_str().unwrap().to_owned();
        let (status, found) = answer(&served, Method::GET, &place, Value::Null).await;
        assert_eq!(status, 200, "{path}: {place}");
        let made: Value = created.json().await.unwrap();
        assert_eq!(
            found["metadata"]["namespace"],
            made["metadata"]["namespace"]
        );
        let (status, _) = answer(&served, Method::DELETE, &place, Value::Null).await;
        assert_eq!(status, 200, "{path}: {place}");
    }
}

/// What is said of a Template with a fault.
async fn posted(served: &Served, kind: &str, body: &str) -> Value {
    let client = common::client::http::builder().build().unwrap();
    let request = client.post(format!("{}/processedtemplates", served.url));
    let request = request.header("content-type", kind).body(body.to_owned());
    let response = request.send().await.unwrap();
    assert_eq!(response.status(), 422);
    response.json().await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn all_faults_are_causes_and_a_status_on_the_paths_of_kubernetes() {
    let served = Served::new().await;
    let mut wrong = template();
    wrong["parameters"][0] = json!({"name": "NAME", "required": true});
    wrong["parameters"][3]["from"] = json!("[Z-A]{3}");
    let required = "template.parameters[0]: Required value: template.parameters[0]: parameter NAME is required and must be specified";
    let (status, found) = answer(&served, Method::POST, "/processedtemplates", wrong.clone()).await;
    assert_eq!(
        (status, &found["code"]),
        (422, &json!(ErrorCode::InvalidTemplate))
    );
    assert_eq!(found["causes"][0]["message"], required);
    assert_eq!(
        found["causes"][1]["location"]["path"],
        "template.parameters[3]"
    );

    let yaml = "kind: Template\napiVersion: v1\nparameters:\n- name: A\n  type: int\n  value: two\nobjects:\n- 1\n";
    let found = posted(&served, "application/yaml", yaml).await;
    assert_eq!(
        found["causes"][0]["location"],
        json!({"path": "objects[0]", "line": 8, "column": 3})
    );
    let one = "{\"kind\": \"Template\", \"apiVersion\": \"v1\", \"objects\": [],\n\"parameters\": [{\"name\": \"A\", \"required\": true}]}";
    let found = posted(&served, "application/json", one).await;
    assert_eq!(found["causes"][0]["location"]["line"], 2, "{found}");

    let path = format!("{KUBERNETES}/processedtemplates");
    let (status, found) = answer(&served, Method::POST, &path, wrong).await;
    assert_eq!(
        (status, &found["kind"], &found["reason"]),
        (422, &json!("Status"), &json!("Invalid"))
    );
    let start = format!("Template.template.openshift.io \"q\" is invalid: [{required}, ");
    assert!(
        found["message"].as_str().unwrap().starts_with(&start),
        "{found}"
    );
    assert_eq!(
        found["details"]["causes"][0],
        json!({"reason": "FieldValueRequired", "field": "template.parameters[0]",
            "message": "Required value: template.parameters[0]: parameter NAME is required and must be specified"})
    );
    for body in [json!({"kind": "List", "apiVersion": "v1"}), json!([])] {
        let (status, found) = answer(&served, Method::POST, &path, body).await;
        assert_eq!((status, &found["reason"]), (400, &json!("BadRequest")));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_template_is_stored_in_its_namespace_and_processed_with_parameters() {
    let served = Served::new().await;
    let all = format!("{KUBERNETES}/templates");
    let (status, stored) = answer(&served, Method::POST, &all, template()).await;
    assert_eq!(status, 201, "{stored}");
    assert_eq!(stored["metadata"]["namespace"], "shop");
    assert_eq!(stored["objects"], template()["objects"]);
    let own = format!("{all}/q");
    let (status, conflict) = answer(&served, Method::POST, &all, template()).await;
    assert_eq!(
        (status, &conflict["reason"]),
        (409, &json!("AlreadyExists"))
    );
    let paths = [
        own.as_str(),
        "/templates/q?namespace=shop",
        "/api/v1/namespaces/shop/templates/q",
    ];
    for path in paths {
        assert_eq!(
            answer(&served, Method::GET, path, Value::Null).await,
            (200, stored.clone())
        );
    }
    let (status, missing) = answer(&served, Method::GET, "/templates/q", Value::Null).await;
    assert_eq!(
        (status, &missing["code"]),
        (404, &json!(ErrorCode::NotFound))
    );

    let path = format!("{own}/processed");
    let parameters = json!({"parameters": {"NAME": "blue"}, "labels": {"tier": "${NAME}"}});
    let (status, found) = answer(&served, Method::POST, &path, parameters).await;
    assert_eq!(status, 201, "{found}");
    let labels = json!({"app": "blue", "tier": "blue"});
    assert_eq!(found["objects"][0]["metadata"]["labels"], labels);
    let (status, found) = answer(&served, Method::POST, &path, json!({"OTHER": "x"})).await;
    assert_eq!(status, 422, "{found}");
    for body in [
        json!([{"name": "NAME", "value": "green"}]),
        json!({"NAME": "green"}),
    ] {
        let (status, found) = answer(&served, Method::POST, &path, body).await;
        assert_eq!(
            (status, &found["objects"][0]["metadata"]["name"]),
            (201, &json!("green"))
        );
    }
    let ignoring = format!("{path}?ignoreUnknownParameters=true");
    let (status, _) = answer(&served, Method::POST, &ignoring, json!({"OTHER": "x"})).await;
    assert_eq!(status, 201);

    let (_, list) = answer(
        &served,
        Method::GET,
        "/templates?namespace=shop",
        Value::Null,
    )
    .await;
    assert_eq!(
        (&list["kind"], &list["items"][0]),
        (&json!("TemplateList"), &stored)
    );
    let (status, _) = answer(&served, Method::DELETE, &own, Value::Null).await;
    assert_eq!(status, 200);
    let (status, missing) = answer(&served, Method::GET, &own, Value::Null).await;
    assert_eq!((status, &missing["reason"]), (404, &json!("NotFound")));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_template_that_has_changed_is_not_overwritten() {
    let served = Served::new().await;
    let (_, first) = answer(&served, Method::POST, "/templates", template()).await;
    let (status, second) = answer(&served, Method::PUT, "/templates/q", first.clone()).await;
    assert_eq!(status, 200);
    assert_ne!(
        second["metadata"]["resourceVersion"],
        first["metadata"]["resourceVersion"]
    );
    assert_eq!(second["metadata"]["uid"], first["metadata"]["uid"]);
    let stale = answer(&served, Method::PUT, "/templates/q", first).await;
    assert_eq!(
        (stale.0, &stale.1["code"]),
        (409, &json!(ErrorCode::Conflict))
    );
    let (status, _) = answer(&served, Method::PUT, "/templates/q", template()).await;
    assert_eq!(status, 200);
    let mut other = template();
    other["metadata"]["name"] = json!("other");
    let (status, _) = answer(&served, Method::PUT, "/templates/q", other.clone()).await;
    assert_eq!(status, 400);
    other["metadata"]["name"] = json!("Bad_Name");
    let (status, found) = answer(&served, Method::POST, "/templates", other).await;
    assert_eq!(
        (status, &found["causes"][0]["location"]["path"]),
        (422, &json!("metadata.name"))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stored_template_has_valid_parameters_and_any_objects() {
    let served = Served::new().await;
    let all = format!("{KUBERNETES}/templates");
    let mut wrong = template();
    wrong["objects"] = json!([{"kind": "${NAME}"}, 1]);
    wrong["parameters"] = json!([{"name": "a-b"}, {}, {"name": "A"}, {"name": "A"}]);
    let (status, said) = answer(&served, Method::POST, &all, wrong.clone()).await;
    assert_eq!((status, &said["reason"]), (422, &json!("Invalid")));
    let causes = said["details"]["causes"].as_array().unwrap().iter();
    let fields: Vec<_> = causes
        .map(|cause| cause["field"].as_str().unwrap())
        .collect();
    assert_eq!(
        fields,
        [
            "parameters[0].name",
            "parameters[1].name",
            "parameters[3].name"
        ]
    );
    let (status, _) = answer(&served, Method::POST, &all, template()).await;
    assert_eq!(status, 201);
    let own = format!("{all}/q");
    let (status, _) = answer(&served, Method::PUT, &own, wrong.clone()).await;
    assert_eq!(status, 422);
    wrong["parameters"] = Value::Null;
    let (status, stored) = answer(&served, Method::PUT, &own, wrong.clone()).await;
    assert_eq!((status, &stored["objects"]), (200, &wrong["objects"]));
}

/// A PATCH with the media type and the body.
async fn patched(served: &Served, path: &str, kind: &str, body: &str) -> (u16, Value) {
    let client = common::client::http::builder().build().unwrap();
    let request = client.patch(format!("{}{path}", served.url));
    let request = request.header("content-type", kind).body(body.to_owned());
    let response = request.send().await.unwrap();
    (response.status().as_u16(), response.json().await.unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_patch_changes_what_it_names() {
    let served = Served::new().await;
    let all = format!("{KUBERNETES}/templates");
    let (_, first) = answer(&served, Method::POST, &all, template()).await;
    let own = format!("{all}/q");
    let merge = r#"{"message": null, "labels": {"tier": "front"}}"#;
    let (status, second) = patched(&served, &own, MERGE, merge).await;
    assert_eq!(status, 200, "{second}");
    assert_eq!(second["message"], Value::Null);
    let labels = json!({"app": "${NAME}", "tier": "front"});
    assert_eq!(second["labels"], labels);
    let version = |found: &Value| found["metadata"]["resourceVersion"].clone();
    assert_ne!(version(&first), version(&second));
    assert_eq!(second["metadata"]["uid"], first["metadata"]["uid"]);
    let list = r#"[{"op": "replace", "path": "/parameters/1/value", "value": "3"}]"#;
    for path in [
        own.as_str(),
        "/templates/q?namespace=shop",
        "/api/v1/namespaces/shop/templates/q",
    ] {
        let (status, third) = patched(&served, path, LIST, list).await;
        assert_eq!(
            (status, &third["parameters"][1]["value"]),
            (200, &json!("3"))
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_patch_that_does_not_fit_changes_nothing() {
    let served = Served::new().await;
    let all = format!("{KUBERNETES}/templates");
    let (_, first) = answer(&served, Method::POST, &all, template()).await;
    let own = format!("{all}/q");
    for (kind, body, status, reason) in [
        (
            LIST,
            r#"[{"op": "test", "path": "/message", "value": "x"}]"#,
            422,
            "Invalid",
        ),
        (
            LIST,
            r#"[{"op": "remove", "path": "/nothing"}]"#,
            422,
            "Invalid",
        ),
        (
            LIST,
            r#"[{"op": "grow", "path": "/message"}]"#,
            400,
            "BadRequest",
        ),
        (LIST, "{}", 400, "BadRequest"),
        (MERGE, "[]", 400, "BadRequest"),
        (MERGE, "{", 400, "BadRequest"),
        (MERGE, r#"{"kind": "List"}"#, 400, "BadRequest"),
        (
            MERGE,
            r#"{"metadata": {"name": "other"}}"#,
            400,
            "BadRequest",
        ),
        (
            MERGE,
            r#"{"metadata": {"resourceVersion": "77"}}"#,
            409,
            "Conflict",
        ),
        ("application/json", "{}", 415, "UnsupportedMediaType"),
        (
            "application/strategic-merge-patch+json",
            "{}",
            415,
            "UnsupportedMediaType",
        ),
    ] {
        let (found, said) = patched(&served, &own, kind, body).await;
        assert_eq!(
            (found, &said["reason"]),
            (status, &json!(reason)),
            "{body}: {said}"
        );
        assert_eq!(
            answer(&served, Method::GET, &own, Value::Null).await,
            (200, first.clone())
        );
    }
    let missing = format!("{all}/other");
    let (status, _) = patched(&served, &missing, MERGE, "{}").await;
    assert_eq!(status, 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stored_template_is_a_type() {
    let served = Served::new().await;
    let all = format!("{KUBERNETES}/templates");
    answer(&served, Method::POST, &all, template()).await;
    let resources = |name: &str| json!([{"name": "db", "type": format!("template:shop/{name}")}]);
    let body = json!({"name": "web", "content": content(resources("q"))});
    let (status, found) = answer(&served, Method::POST, "/expand", body).await;
    assert_eq!(status, 200, "{found}");
    assert_eq!(found["resolvedTypes"][0]["type"], "template:shop/q");
    let requests = served.bed.expander.requests();
    let import = &requests.last().unwrap().imports[0];
    assert_eq!(import.name, "template:shop/q");
    assert!(import.content.contains("pw-[a-f0-9]{6}"));
    let path = "/types/template:shop%2Fq/metadata";
    let (status, about) = answer(&served, Method::GET, path, Value::Null).await;
    assert_eq!(
        (status, &about["type"], &about["version"]),
        (200, &json!("template:shop/q"), &json!("1"))
    );
    let properties = &about["schema"]["properties"];
    assert_eq!(properties["NAME"]["default"], "q");
    assert_eq!(properties["PASS"]["writeOnly"], true);
    let path = "/types/template:shop%2Fother/metadata";
    let (status, missing) = answer(&served, Method::GET, path, Value::Null).await;
    assert_eq!(
        (status, &missing["code"]),
        (404, &json!("TEMPLATE_NOT_FOUND"))
    );
    for (name, code) in [
        ("other", "TEMPLATE_NOT_FOUND"),
        ("A_B", "INVALID_CONFIGURATION"),
    ] {
        let body = json!({"name": "web", "content": content(resources(name))});
        let (_, found) = answer(&served, Method::POST, "/expand", body).await;
        assert_eq!(found["code"], code, "{found}");
    }
}

//! Another version of a template in deployments that exist: what it would change, and taking it.

use common::api::upgrade::{UpgradeDeployment, WhatIf, WhatIfOutcome, WhatIfPage, WhatIfQuery};
use common::model::TypeName;

use crate::http::tests::*;

const NEW: &str = "pair:v1.1";

/// A registry with a new version of the pair, and deployments that use the old one.
async fn served() -> Served {
    let served = Served::new().await;
    let new = json!([{"name": "left", "type": "Service", "properties": {"new": true}}, {"name": "third", "type": "Pod"}]);
    served.bed.add_version("pair", "v1.1", &content(new));
    served.bed.add_template(
        "app",
        &content(json!([{"name": "inner", "type": "pair:v1"}])),
    );
    served
}

async fn create(served: &Served, name: &str, body: Value) {
    let mut request = body;
    request["name"] = name.into();
    let request: CreateDeployment = serde_json::from_value(request).unwrap();
    let created = served.client.create(&request, &WriteQuery::default()).await;
    created.unwrap();
}

fn pair(reference: &str) -> Value {
    json!({"content": content(json!([{"name": "two", "type": reference}]))})
}

async fn whatif(served: &Served, request: Value, query: WhatIfQuery) -> WhatIfPage {
    let request: WhatIf = serde_json::from_value(request).unwrap();
    served.client.whatif(&request, &query).await.unwrap()
}

fn outcomes(page: &WhatIfPage) -> Vec<String> {
    let reported = page.items.iter().map(|item| {
        let owners = item.uses.iter().filter_map(|used| used.owner.as_ref());
        let owners: String = owners.map(|owner| format!(" {owner}")).collect();
        format!("{} {:?}{owners}", item.deployment, item.outcome)
    });
    reported.collect()
}

async fn upgrade(served: &Served, name: &str) -> Result<common::model::Deployment, ClientError> {
    let request = UpgradeDeployment {
        template: TypeName::parse(NEW).unwrap(),
    };
    let name = DeploymentName::parse(name).unwrap();
    let write = WriteQuery::default();
    served.client.upgrade(&name, &request, &write).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_what_if_tells_each_deployment_that_uses_the_template_and_changes_nothing() {
    let served = served().await;
    create(&served, "by-name", pair("default/pair:v1")).await;
    create(&served, "current", pair("pair:v1.1")).await;
    create(&served, "nested", pair("app:v1")).await;
    create(&served, "other", json!({"content": content(service("a"))})).await;
    create(&served, "plain", pair("pair:v1")).await;
    let own = json!({"content": content(json!([{"name": "two", "type": "pair:v1"}])),
        "imports": [{"name": "pair:v1", "content": content(service("own"))}]});
    create(&served, "shadowed", own).await;
    let keys = served.bed.keys().await;
    let page = whatif(&served, json!({"template": NEW}), WhatIfQuery::default()).await;
    assert_eq!(
        outcomes(&page),
        [
            "by-name Changed",
            "current Current",
            "nested Changed app:v1",
            "plain Changed"
        ]
    );
    assert_eq!(page.template.version.as_deref(), Some("v1.1"));
    let plain = &page.items[3];
    let summary = (
        plain.summary.create,
        plain.summary.update,
        plain.summary.delete,
    );
    assert_eq!((summary, plain.resources.len()), ((1, 1, 1), 0));
    assert_eq!(plain.uses[0].to.as_str(), NEW);
    assert_eq!(page.items[0].uses[0].to.as_str(), "default/pair:v1.1");
    assert_eq!(served.bed.keys().await, keys);

    let full = WhatIfQuery {
        full: true,
        limit: Some(1),
        page_token: page.next_page_token,
    };
    let page = whatif(
        &served,
        json!({"template": NEW, "deployments": ["plain"]}),
        full,
    )
    .await;
    let fields: Vec<_> = page.items[0]
        .resources
        .iter()
        .flat_map(|r| &r.changes)
        .collect();
    assert_eq!(fields.len(), 1, "{fields:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_what_if_comes_in_pages_and_for_some_deployments() {
    let served = served().await;
    for (name, tier) in [("a", "front"), ("b", "back"), ("c", "front")] {
        let mut body = pair("pair:v1");
        body["labels"] = json!({"tier": tier});
        create(&served, name, body).await;
    }
    let mut query = WhatIfQuery {
        limit: Some(2),
        ..WhatIfQuery::default()
    };
    let first = whatif(&served, json!({"template": NEW}), query.clone()).await;
    assert_eq!(outcomes(&first), ["a Changed", "b Changed"]);
    query.page_token = first.next_page_token;
    let second = whatif(&served, json!({"template": NEW}), query).await;
    assert_eq!(
        (outcomes(&second), second.next_page_token),
        (vec!["c Changed".to_owned()], None)
    );
    let labelled = json!({"template": NEW, "labels": {"tier": "front"}});
    let page = whatif(&served, labelled, WhatIfQuery::default()).await;
    assert_eq!(outcomes(&page), ["a Changed", "c Changed"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_what_if_tells_why_a_deployment_would_fail_and_refuses_what_makes_no_sense() {
    let served = served().await;
    create(&served, "plain", pair("pair:v1")).await;
    create(&served, "other", json!({"content": content(service("a"))})).await;
    served.bed.add_version("pair", "v2", BROKEN);
    let page = whatif(
        &served,
        json!({"template": "pair:v2"}),
        WhatIfQuery::default(),
    )
    .await;
    assert_eq!(page.items[0].outcome, WhatIfOutcome::Failing);
    assert_eq!(
        page.items[0].error.as_ref().unwrap().code,
        ErrorCode::TemplateFailed
    );
    for (request, code) in [
        (json!({"template": "pair:v3"}), ErrorCode::TemplateNotFound),
        (json!({"template": "Service"}), ErrorCode::InvalidRequest),
        (
            json!({"template": "https://host/a.py"}),
            ErrorCode::InvalidRequest,
        ),
        (
            json!({"template": NEW, "deployments": ["none"]}),
            ErrorCode::NotFound,
        ),
        (
            json!({"template": NEW, "deployments": ["other"]}),
            ErrorCode::InvalidRequest,
        ),
    ] {
        let request: WhatIf = serde_json::from_value(request).unwrap();
        let refused = served
            .client
            .whatif(&request, &WhatIfQuery::default())
            .await;
        assert_eq!(answered(refused).code, code, "{request:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upgrade_names_the_new_version_in_the_configuration_and_leaves_other_templates_alone() {
    let served = served().await;
    served
        .bed
        .add_template("single", &content(service("single")));
    let text = "{\"resources\": [\n {\"name\": \"two\", \"type\": \"pair:v1\"},\n {\"name\": \"one\", \"type\": \"single:v1\"} ]}\n";
    create(&served, "web", json!({"content": text})).await;
    served
        .bed
        .add_template("single", &content(service("forged")));
    let upgraded = upgrade(&served, "web").await.unwrap();
    assert_eq!(served.bed.deployer.objects(), ["left", "single", "third"]);
    let latest = upgraded.latest_manifest.unwrap();
    let manifest = served.client.manifest(&web(), &latest).await.unwrap();
    assert_eq!(manifest.input_config.content, text.replace("pair:v1", NEW));
    let page = whatif(&served, json!({"template": NEW}), WhatIfQuery::default()).await;
    assert_eq!(outcomes(&page), ["web Current"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upgrade_takes_a_new_patch_though_the_reference_stays() {
    let served = served().await;
    create(&served, "web", pair(NEW)).await;
    served
        .bed
        .add_version("pair", "v1.1.1", &content(service("patched")));
    let page = whatif(&served, json!({"template": NEW}), WhatIfQuery::default()).await;
    assert_eq!(outcomes(&page), ["web Changed"]);
    let upgraded = upgrade(&served, "web").await.unwrap();
    assert_eq!(served.bed.deployer.objects(), ["patched"]);
    let operation = served
        .client
        .operation(&upgraded.operation.unwrap())
        .await
        .unwrap();
    assert_eq!(operation.warnings, ["pair:v1.1 is now v1.1.1 (was v1.1)"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upgrade_that_failed_is_unfinished_though_its_manifest_names_the_version() {
    let served = served().await;
    create(&served, "web", pair("pair:v1")).await;
    let refused = content(json!([{"name": REFUSED, "type": "Pod"}]));
    served.bed.add_version("pair", "v1.2", &refused);
    let request = || UpgradeDeployment {
        template: TypeName::parse("pair:v1.2").unwrap(),
    };
    for _ in 0..2 {
        let write = WriteQuery::default();
        let upgraded = served.client.upgrade(&web(), &request(), &write).await;
        assert_eq!(answered(upgraded).code, ErrorCode::ResourcesFailed);
        let asked = json!({"template": "pair:v1.2"});
        let page = whatif(&served, asked, WhatIfQuery::default()).await;
        assert_eq!(outcomes(&page), ["web Unfinished"]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upgrade_that_cannot_be_says_why_and_leaves_the_deployment_as_it_is() {
    let served = served().await;
    create(&served, "nested", pair("app:v1")).await;
    create(&served, "other", json!({"content": content(service("a"))})).await;
    for (name, said) in [("nested", "within app:v1"), ("other", "does not use")] {
        let error = answered(upgrade(&served, name).await);
        assert_eq!(error.code, ErrorCode::InvalidRequest);
        assert!(error.message.contains(said), "{}", error.message);
    }
    let error = answered(upgrade(&served, "none").await);
    assert_eq!(error.code, ErrorCode::NotFound);
}

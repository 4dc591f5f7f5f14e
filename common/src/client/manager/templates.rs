//! Template objects: stored, processed, and made from live objects.

use reqwest::Method;
use serde::Serialize;
use serde_json::Value;

use super::{ManagerClient, READ};
use crate::api::export::{Export, Exported};
use crate::api::page::{Page, PageQuery};
use crate::client::error::ClientError;
use crate::model::{Namespace, TemplateName};

/// Without a namespace, the manager uses `default`.
#[derive(Serialize)]
struct Query<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    namespace: Option<&'a Namespace>,
}

/// The namespace and the page. A flattened page would read its limit as a text.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ListQuery<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    namespace: Option<&'a Namespace>,
    #[serde(skip_serializing_if = "Option::is_none")]
    limit: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    page_token: Option<&'a str>,
}

impl ManagerClient {
    /// A page of the Templates that are stored in a namespace.
    pub async fn stored_templates(
        &self,
        namespace: Option<&Namespace>,
        page: &PageQuery,
    ) -> Result<Page<Value>, ClientError> {
        let query = ListQuery {
            namespace,
            limit: page.limit,
            page_token: page.page_token.as_deref(),
        };
        self.endpoint.get(&["templates"], &query, READ).await
    }

    /// A stored Template.
    pub async fn stored_template(
        &self,
        namespace: Option<&Namespace>,
        name: &TemplateName,
    ) -> Result<Value, ClientError> {
        let path = ["templates", name.as_str()];
        self.endpoint.get(&path, &Query { namespace }, READ).await
    }

    /// Live objects, without the values of Secrets.
    pub async fn export(&self, export: &Export) -> Result<Exported, ClientError> {
        let send = || {
            self.endpoint
                .request(Method::POST, &["export"])
                .json(export)
        };
        self.endpoint.fetch_repeatedly(send, READ).await
    }

    /// The Template with the values of its parameters in the places of its references. Nothing is stored.
    pub async fn process_template(&self, template: &Value) -> Result<Value, ClientError> {
        let send = || {
            let path = ["processedtemplates"];
            self.endpoint.request(Method::POST, &path).json(template)
        };
        self.endpoint.fetch_repeatedly(send, READ).await
    }
}

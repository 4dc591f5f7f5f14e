//! A client of the API server beside Deployment Manager: what another user of the cluster does, without a process for
//! each request.
//!
//! It refuses to know kubectl: the requests are plain HTTP with the administrator's certificate. Its writes carry their own
//! user agent and field manager, so that the audit log distinguishes them from the writes of resourcifier.

use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use reqwest::{Certificate, Identity, Method, StatusCode};
use serde_json::{Value, json};

use crate::{Cluster, until};

/// The user agent and the field manager of its writes.
pub const SOMEBODY_ELSE: &str = "somebody-else";

/// The API server answers in milliseconds; this long means that it does not run.
const PATIENCE: Duration = Duration::from_secs(30);

#[derive(Debug, Clone)]
pub struct ApiClient {
    http: reqwest::Client,
    server: String,
}

/// The collection of a kind: `/api/v1/namespaces/NAMESPACE/configmaps`, or the same without a namespace.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Collection {
    /// `api/v1`, `apis/apps/v1`.
    pub version: String,
    /// The plural of the kind in lower case: `configmaps`.
    pub resource: &'static str,
    pub namespace: Option<String>,
}

impl Collection {
    fn path(&self) -> String {
        let Self {
            version, resource, ..
        } = self;
        match &self.namespace {
            Some(namespace) => format!("{version}/namespaces/{namespace}/{resource}"),
            None => format!("{version}/{resource}"),
        }
    }
}

impl ApiClient {
    pub fn new(cluster: &Cluster) -> Result<Self> {
        let text = cluster.kubectl(&["config", "view", "--raw", "--minify", "-o", "json"])?;
        let config: Value = serde_json::from_str(&text)?;
        let (cluster, user) = (
            &config["clusters"][0]["cluster"],
            &config["users"][0]["user"],
        );
        let mut own = pem(&user["client-certificate-data"])?;
        own.extend(pem(&user["client-key-data"])?);
        let authority = pem(&cluster["certificate-authority-data"])?;
        let http = common::client::http::builder()
            .tls_certs_only([Certificate::from_pem(&authority)?])
            .identity(Identity::from_pem(&own)?)
            .user_agent(SOMEBODY_ELSE)
            .timeout(PATIENCE)
            .no_proxy()
            .build()?;
        let server = cluster["server"].as_str().context("no server")?.to_owned();
        Ok(Self { http, server })
    }

    /// Any request. The answer is the object, or the API server's `Status`. 429 is no answer, but "ask again": the server
    /// gives it while it prepares the storage of a new kind.
    pub async fn send(
        &self,
        method: Method,
        path: &str,
        content_type: &str,
        body: Option<&Value>,
    ) -> Result<(StatusCode, Value)> {
        until(
            &format!("an answer to {method} {path}"),
            PATIENCE,
            || async {
                let sent = self.send_once(method.clone(), path, content_type, body);
                // What gets no answer at all is not repeated: it may have been done.
                Ok(match sent.await {
                    Ok((StatusCode::TOO_MANY_REQUESTS, answer)) => bail!("{answer}"),
                    other => other,
                })
            },
        )
        .await?
    }

    async fn send_once(
        &self,
        method: Method,
        path: &str,
        content_type: &str,
        body: Option<&Value>,
    ) -> Result<(StatusCode, Value)> {
        let url = format!("{}/{path}", self.server);
        let mut request = self.http.request(method, url);
        if let Some(body) = body {
            request = request
                .header("content-type", content_type)
                .body(body.to_string());
        }
        let response = request.send().await?;
        let (status, text) = (response.status(), response.text().await?);
        let answer = serde_json::from_str(&text).unwrap_or(Value::String(text));
        Ok((status, answer))
    }

    /// An object, or nothing if there is none. A kind that is not served has no objects.
    pub async fn get(&self, of: &Collection, name: &str) -> Result<Option<Value>> {
        let path = format!("{}/{name}", of.path());
        match self.send(Method::GET, &path, JSON, None).await? {
            (StatusCode::NOT_FOUND, _) => Ok(None),
            (status, object) if status.is_success() => Ok(Some(object)),
            (status, answer) => bail!("GET {path}: {status} {answer}"),
        }
    }

    /// The objects of a collection, or those with a label. A kind that is not served has no objects.
    pub async fn list(&self, of: &Collection, selector: Option<&str>) -> Result<Vec<Value>> {
        let query = selector.map_or(String::new(), |selector| {
            format!(
                "?labelSelector={}",
                selector.replace('/', "%2F").replace('=', "%3D")
            )
        });
        let path = format!("{}{query}", of.path());
        match self.send(Method::GET, &path, JSON, None).await? {
            (StatusCode::NOT_FOUND, _) => Ok(Vec::new()),
            (status, list) if status.is_success() => {
                Ok(list["items"].as_array().cloned().unwrap_or_default())
            }
            (status, answer) => bail!("GET {path}: {status} {answer}"),
        }
    }

    /// Makes an object. `false`: one of this name exists.
    pub async fn create(&self, of: &Collection, object: &Value) -> Result<bool> {
        let path = format!("{}?fieldManager={SOMEBODY_ELSE}", of.path());
        self.write(Method::POST, &path, JSON, object, StatusCode::CONFLICT)
            .await
    }

    /// Changes an object by a merge patch (RFC 7386). `false`: there is none, or it is not served.
    pub async fn merge(&self, of: &Collection, name: &str, patch: &Value) -> Result<bool> {
        let path = format!("{}/{name}?fieldManager={SOMEBODY_ELSE}", of.path());
        let merged = "application/merge-patch+json";
        self.write(Method::PATCH, &path, merged, patch, StatusCode::NOT_FOUND)
            .await
    }

    /// Begins to delete an object; its dependents go in the background. `false`: there is none.
    pub async fn delete(&self, of: &Collection, name: &str) -> Result<bool> {
        let path = format!("{}/{name}", of.path());
        let options =
            json!({"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": "Background"});
        self.write(Method::DELETE, &path, JSON, &options, StatusCode::NOT_FOUND)
            .await
    }

    /// `false`: the API server answered with `unless`.
    async fn write(
        &self,
        method: Method,
        path: &str,
        content_type: &str,
        body: &Value,
        unless: StatusCode,
    ) -> Result<bool> {
        let sent = self.send(method.clone(), path, content_type, Some(body));
        match sent.await? {
            (status, _) if status == unless => Ok(false),
            (status, _) if status.is_success() => Ok(true),
            (status, answer) => bail!("{method} {path} with {body}: {status} {answer}"),
        }
    }

    /// Lets the dry run of a create decide whether an object would be taken.
    pub async fn would_take(&self, of: &Collection, object: &Value) -> Result<bool> {
        let path = format!("{}?dryRun=All", of.path());
        let (status, answer) = self.send(Method::POST, &path, JSON, Some(object)).await?;
        ensure!(status.as_u16() < 500, "POST {path}: {status} {answer}");
        Ok(status.is_success())
    }
}

const JSON: &str = "application/json";

fn pem(data: &Value) -> Result<Vec<u8>> {
    let text = data
        .as_str()
        .context("the kubeconfig holds no certificate")?;
    Ok(STANDARD.decode(text)?)
}

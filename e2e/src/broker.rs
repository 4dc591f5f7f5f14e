//! A manager that is a service broker, and the requests of its platform.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;
use reqwest::{Client, Method, RequestBuilder, StatusCode};
use serde_json::Value;

use crate::program::Service;
use crate::{Stack, until};

/// How the platform signs in.
const USER: &str = "shop";
const PASSWORD: &str = "s3cret";

const PATIENCE: Duration = Duration::from_secs(180);

pub struct Broker {
    pub manager: Service,
    port: PathBuf,
    http: Client,
}

impl Broker {
    /// A second manager of the stack. `configuration` is the value of `--broker-config`.
    pub async fn start(stack: &Stack, configuration: &str) -> Result<Self> {
        let users = stack.write("users", &format!("{USER}:{PASSWORD}"))?;
        let port = stack.folder().join("broker-port");
        let flags = [
            "--broker-listen",
            "127.0.0.1:0",
            "--broker-port-file",
            &port.display().to_string(),
            "--broker-config",
            configuration,
            "--broker-basic-file",
            &users.display().to_string(),
        ]
        .map(str::to_owned);
        Ok(Self {
            manager: stack.another_manager("broker", &flags).await?,
            http: common::client::http::builder().no_proxy().build()?,
            port,
        })
    }

    /// `kill -9` of the manager, and a new start.
    pub async fn kill_and_start(&mut self) -> Result<()> {
        self.manager.crash()?;
        std::fs::remove_file(&self.port)?;
        self.manager.again().await
    }

    /// Without `/v2`.
    pub async fn url(&self) -> Result<String> {
        let port = until("the broker's port", PATIENCE, || async {
            Ok(std::fs::read_to_string(&self.port)?)
        });
        Ok(format!("http://127.0.0.1:{}", port.await?.trim()))
    }

    /// `path` is what follows `/v2/`.
    pub async fn send(
        &self,
        method: Method,
        path: &str,
        body: Option<Value>,
    ) -> Result<(StatusCode, Value)> {
        let url = format!("{}/v2/{path}", self.url().await?);
        let request = request(&self.http, method, url, body);
        let response = request.send().await?;
        Ok((response.status(), response.json().await?))
    }
}

/// A request of the platform.
pub fn request(http: &Client, method: Method, url: String, body: Option<Value>) -> RequestBuilder {
    let request = http
        .request(method, url)
        .basic_auth(USER, Some(PASSWORD))
        .header("x-broker-api-version", "2.17");
    match body {
        Some(body) => request.json(&body),
        None => request,
    }
}

//! The API from outside: a served manager on a port of its own, fakes behind it.

mod access;
mod clusters;
mod deployments;
mod health;
mod operations;
mod registries;
mod requests;
mod routes;
mod secrets;
mod templates;

use common::api::error::{ErrorBody, ErrorCode};
use common::api::manager::{CreateDeployment, UpdateDeployment, WriteQuery};
use common::api::page::PageQuery;
use common::client::ClientError;
use common::client::manager::Write;
use common::model::{DeploymentName, DeploymentStatus, OperationStatus};
use reqwest::{Method, Response, StatusCode};
use serde_json::{Value, json};

use crate::deployer::fake::{Interruption, REFUSED, SLOW};
use crate::expander::fake::{BROKEN, away};
use crate::store::kv::Commit;
use crate::testing::Served;

fn web() -> DeploymentName {
    DeploymentName::parse("web").unwrap()
}

fn content(resources: Value) -> String {
    json!({"resources": resources}).to_string()
}

fn service(name: &str) -> Value {
    json!([{"name": name, "type": "Service"}])
}

fn creation(name: &str, resources: Value) -> CreateDeployment {
    serde_json::from_value(json!({"name": name, "content": content(resources)})).unwrap()
}

fn change(resources: Value) -> UpdateDeployment {
    serde_json::from_value(json!({"content": content(resources)})).unwrap()
}

fn answered<T: std::fmt::Debug>(outcome: Result<T, ClientError>) -> ErrorBody {
    match outcome {
        Err(ClientError::Answered(body)) => *body,
        other => panic!("not an error of the manager: {other:?}"),
    }
}

async fn send(
    served: &Served,
    method: Method,
    path: &str,
    headers: &[(&str, &str)],
    body: Value,
) -> Response {
    let http = common::client::http::builder().build().unwrap();
    let request = http
        .request(method, format!("{}{path}", served.url))
        .json(&body);
    let request = headers.iter().fold(request, |request, (name, value)| {
        request.header(*name, *value)
    });
    request.send().await.unwrap()
}

async fn code(response: Response) -> (StatusCode, ErrorCode) {
    let status = response.status();
    (status, response.json::<ErrorBody>().await.unwrap().code)
}

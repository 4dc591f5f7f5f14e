//! A platform: it calls the routes of a broker as a client of HTTP.

use std::sync::Arc;

use actix_web::http::Method;
use actix_web::{App, test};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::runtime::Handle;

use super::MemoryBackend;
use crate::access::Access;
use crate::catalog::Catalogs;
use crate::catalog::source::fake::FakeSource;
use crate::http::{Front, routes};
use crate::options::BrokerOptions;
use crate::service::Broker;

/// The services of the tests: a plan for each case. Types say what happens (`MemoryBackend`).
const CATALOG: &str = include_str!("catalog.yaml");

pub struct Platform {
    pub backend: Arc<MemoryBackend>,
    pub broker: Broker,
    catalogs: Arc<Catalogs>,
    catalog: FakeSource,
    front: Front,
    _folder: TempDir,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    pub status: u16,
    pub body: Value,
    pub headers: Vec<(String, String)>,
}

impl Reply {
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        let found = headers.find(|(key, _)| key == name);
        found.map(|(_, value)| value.as_str())
    }

    /// The status and the error code.
    pub fn code(&self) -> (u16, &str) {
        (self.status, self.body["error"].as_str().unwrap_or_default())
    }

    pub fn operation(&self) -> String {
        assert_eq!(self.status, 202, "{self:?}");
        self.body["operation"].as_str().unwrap().to_owned()
    }
}

impl Platform {
    pub fn new() -> Self {
        Self::with(CATALOG, &BrokerOptions::default())
    }

    pub fn with(catalog: &str, options: &BrokerOptions) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let users = folder.path().join("users");
        std::fs::write(&users, "shop:s3cret").unwrap();
        let catalog = FakeSource::new(catalog, &[]);
        let catalogs = Arc::new(Catalogs::new(vec![Arc::new(catalog.clone())]));
        let access = Access::open(Some(&users), None).unwrap();
        let backend = Arc::new(MemoryBackend::default());
        let lenient = options.broker_lenient;
        let platform = Self {
            broker: Broker::new(catalogs.clone(), backend.clone(), lenient),
            catalogs,
            catalog,
            backend,
            front: Front::new(Arc::new(access), options),
            _folder: folder,
        };
        platform.look();
        platform
    }

    /// From now on this is the catalog.
    pub fn offer(&self, catalog: &str) {
        self.catalog.put(catalog, &[]);
        self.look();
    }

    /// The documents are read on another thread, so this one may wait.
    fn look(&self) {
        let (runtime, look) = (Handle::current(), self.catalogs.look());
        std::thread::scope(|scope| scope.spawn(move || runtime.block_on(look)).join().unwrap());
    }

    /// A request exactly as it is written here.
    pub async fn raw(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<&str>,
    ) -> Reply {
        let (broker, front) = (self.broker.clone(), self.front.clone());
        let app = App::new().configure(|config| routes(config, &broker, &front));
        let app = test::init_service(app).await;
        let mut request = test::TestRequest::with_uri(path).method(method);
        for header in headers {
            request = request.append_header(*header);
        }
        if let Some(body) = body {
            request = request.set_payload(body.to_owned());
        }
        let response = test::call_service(&app, request.to_request()).await;
        let headers = response.headers().iter();
        let headers = headers.map(|(key, value)| {
            let value = value.to_str().unwrap_or_default().to_owned();
            (key.to_string(), value)
        });
        Reply {
            headers: headers.collect(),
            status: response.status().as_u16(),
            body: serde_json::from_slice(&test::read_body(response).await).unwrap_or_default(),
        }
    }

    /// An ordinary request.
    pub async fn send(&self, method: Method, path: &str, body: Option<Value>) -> Reply {
        let headers = [
            ("authorization", "Basic c2hvcDpzM2NyZXQ="),
            ("x-broker-api-version", "2.17"),
            ("content-type", "application/json"),
        ];
        let body = body.map(|body| body.to_string());
        self.raw(method, path, &headers, body.as_deref()).await
    }

    pub async fn get(&self, path: &str) -> Reply {
        self.send(Method::GET, path, None).await
    }

    pub async fn put(&self, path: &str, body: Value) -> Reply {
        self.send(Method::PUT, path, Some(body)).await
    }

    pub async fn patch(&self, path: &str, body: Value) -> Reply {
        self.send(Method::PATCH, path, Some(body)).await
    }

    pub async fn delete(&self, path: &str) -> Reply {
        self.send(Method::DELETE, path, None).await
    }

    /// An instance that exists.
    pub async fn provisioned(&self, id: &str, plan: &str) {
        let path = format!("/v2/service_instances/{id}?accepts_incomplete=true");
        let reply = self.put(&path, provision(plan)).await;
        assert!([201, 202].contains(&reply.status), "{reply:?}");
        let path = format!("/v2/service_instances/{id}/last_operation");
        self.ended(&path).await;
    }

    /// A binding that exists.
    pub async fn bound(&self, path: &str, plan: &str) -> Reply {
        let reply = self.put(path, bind(plan)).await;
        assert_eq!(reply.status, 201, "{reply:?}");
        reply
    }

    /// Polls until the operation has ended.
    pub async fn ended(&self, path: &str) -> Reply {
        loop {
            let reply = self.get(path).await;
            if reply.body["state"] != "in progress" {
                return reply;
            }
            tokio::task::yield_now().await;
        }
    }
}

/// The body of a provision request.
pub fn provision(plan: &str) -> Value {
    json!({
        "service_id": "s", "plan_id": plan, "organization_guid": "o", "space_guid": "sp",
        "context": {"platform": "kubernetes", "namespace": "shop"},
        "parameters": {"size": 2},
    })
}

/// The body of a bind request.
pub fn bind(plan: &str) -> Value {
    json!({"service_id": "s", "plan_id": plan})
}

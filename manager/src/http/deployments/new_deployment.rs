//! The body of `POST /deployments`: a deployment, or with `?name=` the text of a configuration as it is, for
//! `curl --data-binary @config.yaml`.

use std::future::Future;
use std::pin::Pin;

use actix_web::dev::Payload;
use actix_web::{FromRequest, HttpRequest, web};
use common::api::error::ErrorCode;
use common::api::manager::{CreateDeployment, WriteQuery};
use common::model::{ClusterName, DeploymentName, DriftPolicy, Namespace};
use common::server::{ApiError, Format, Query, RawBody};
use common::work::{self, Size};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use url::form_urlencoded;

/// What the body of a configuration cannot say.
#[derive(Debug, Default, Deserialize, schemars::JsonSchema)]
pub struct NameQuery {
    /// The name of the deployment: the body is the text of a configuration.
    #[serde(default)]
    pub name: Option<DeploymentName>,
    /// With `name`: the namespace of namespaced objects that name none. Default: `default`.
    #[serde(default)]
    pub namespace: Option<Namespace>,
    /// With `name`: the cluster. Default: that of the manager's own resourcifier.
    #[serde(default)]
    pub cluster: Option<ClusterName>,
}

/// The extractor: the deployment, and the parameters of the write.
pub struct New(pub CreateDeployment, pub WriteQuery);

impl FromRequest for New {
    type Error = ApiError;
    type Future = Pin<Box<dyn Future<Output = Result<Self, ApiError>>>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let (names, others) = divided(request.query_string());
        // As every route reads it, with the name of a parameter that cannot be read.
        let whole = Query::<WriteQuery>::extract(request);
        let body = RawBody::from_request(request, payload);
        Box::pin(async move {
            let (names, write) = match names.is_empty() {
                true => (NameQuery::default(), whole.await?.0),
                false => (read(&names)?, read(&others)?),
            };
            let RawBody { format, bytes } = body.await?;
            let deployment = match names {
                NameQuery {
                    name: Some(name),
                    namespace,
                    cluster,
                } => CreateDeployment {
                    namespace,
                    cluster,
                    ..configuration(name, bytes)?
                },
                NameQuery {
                    namespace: None,
                    cluster: None,
                    ..
                } => {
                    work::sized(Size::bytes(bytes.len()), move || deployment(format, &bytes))
                        .await?
                }
                _ => return Err(invalid(ALONE.to_owned())),
            };
            Ok(Self(deployment, write))
        })
    }
}

const ALONE: &str = "the query's parameters \"namespace\" and \"cluster\" go with \"name\"; otherwise the body has them";
/// What the body of a configuration cannot say.
const NAMES: [&str; 3] = ["name", "namespace", "cluster"];

/// The parameters of the name, and all others.
fn divided(query: &str) -> (String, String) {
    let pairs = form_urlencoded::parse(query.as_bytes());
    let (names, others): (Vec<_>, Vec<_>) =
        pairs.partition(|(key, _)| NAMES.contains(&key.as_ref()));
    let written = |pairs: Vec<_>| {
        let mut query = form_urlencoded::Serializer::new(String::new());
        query.extend_pairs(pairs).finish()
    };
    (written(names), written(others))
}

fn read<T: DeserializeOwned>(query: &str) -> Result<T, ApiError> {
    let read = web::Query::<T>::from_query(query).map(web::Query::into_inner);
    read.map_err(|error| invalid(format!("the query cannot be read: {error}")))
}

fn invalid(message: String) -> ApiError {
    ApiError::new(ErrorCode::InvalidRequest, message)
}

fn configuration(name: DeploymentName, bytes: Vec<u8>) -> Result<CreateDeployment, ApiError> {
    let content = String::from_utf8(bytes)
        .map_err(|error| invalid(format!("the configuration is not UTF-8: {error}")))?;
    Ok(CreateDeployment {
        name,
        content,
        imports: Vec::new(),
        namespace: None,
        cluster: None,
        description: String::new(),
        labels: Default::default(),
        drift_policy: DriftPolicy::default(),
        service_account: None,
    })
}

/// A body that looks like a configuration gets a word about `?name=`.
fn deployment(format: Format, bytes: &[u8]) -> Result<CreateDeployment, ApiError> {
    let is_configuration = || {
        bytes
            .split(|byte| *byte == b'\n')
            .any(|line| line.starts_with(b"resources:"))
    };
    format.read(bytes).map_err(|mut error: ApiError| {
        if format == Format::Yaml && is_configuration() {
            error.0.message +=
                "; to deploy a configuration as it is, add ?name=NAME to the address";
        }
        error
    })
}

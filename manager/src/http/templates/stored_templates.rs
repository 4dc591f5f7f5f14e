//! `/templates` and `/processedtemplates`, and the same below the paths that a Kubernetes client uses.

use actix_web::http::header::{ACCEPT, LOCATION};
use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use common::api::error::ErrorCode;
use common::api::page::PageQuery;
use common::manifests;
use common::model::{Namespace, TemplateName};
use common::server::{AnyBody, ApiError, Body, Query, RawBody, answer, answer_with};
use expandybird_templateobject::Processed;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{documents, patches};
use crate::auth::Caller;
use crate::http::requests::extract::name;
use crate::service::templates::stored_templates::processed;
use crate::service::templates::template_inputs::TemplateInputs;
use crate::service::writes::answers;
use crate::service::{Services, writes};

/// The fields are repeated here, because numbers in a flattened query are read as strings. Parameters that only
/// Kubernetes knows are ignored: its clients send them with every request.
#[derive(Debug, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ListQuery {
    /// Default: `default`. A path with a namespace has that one.
    namespace: Option<Namespace>,
    #[schemars(range(min = 1))]
    limit: Option<usize>,
    page_token: Option<String>,
}

#[derive(Debug, Deserialize, schemars::JsonSchema)]
pub struct NamespaceQuery {
    /// Default: `default`. A path with a namespace has that one.
    namespace: Option<Namespace>,
}

#[derive(Debug, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProcessQuery {
    /// Default: `default`. A path with a namespace has that one.
    namespace: Option<Namespace>,
    /// The form of the answer. Default: `Template`.
    output: Option<Output>,
    /// Leaves out parameters that the Template does not have.
    #[serde(default)]
    ignore_unknown_parameters: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, schemars::JsonSchema)]
#[schemars(rename = "ProcessedForm")]
pub enum Output {
    Template,
    List,
}

pub async fn list(
    services: Data<Services>,
    caller: Caller,
    request: HttpRequest,
    Query(query): Query<ListQuery>,
) -> Result<HttpResponse, ApiError> {
    let namespace = namespace(&request, query.namespace)?;
    let page = PageQuery {
        limit: query.limit,
        page_token: query.page_token,
    };
    let page = services
        .stored_templates
        .list(&namespace, &page, &caller)
        .await?;
    let mut list = json!({
        "kind": "TemplateList", "apiVersion": "template.openshift.io/v1", "metadata": {},
        "items": page.items,
    });
    if let Some(token) = page.next_page_token {
        list["nextPageToken"] = json!(token);
    }
    answer(list).await
}

pub async fn create(
    services: Data<Services>,
    caller: Caller,
    request: HttpRequest,
    Query(query): Query<NamespaceQuery>,
    Body(body): Body<Value>,
) -> Result<HttpResponse, ApiError> {
    let stated = body.pointer("/metadata/namespace").and_then(Value::as_str);
    let stated = stated.map(Namespace::parse).transpose();
    let named = query.namespace.clone();
    let namespace = namespace(&request, query.namespace.or(name(stated)?))?;
    let name = body["metadata"]["name"].as_str().unwrap_or_default();
    let place = match named {
        Some(named) => format!("{}/{name}?namespace={named}", request.path()),
        None => format!("{}/{name}", request.path()),
    };
    answers::location(&place);
    let created = services
        .stored_templates
        .create(namespace, body, &caller)
        .await?;
    let mut answer = HttpResponse::Created();
    answer.insert_header((LOCATION, place));
    answer_with(answer, created).await
}

pub async fn get(
    services: Data<Services>,
    caller: Caller,
    request: HttpRequest,
    Query(query): Query<NamespaceQuery>,
) -> Result<HttpResponse, ApiError> {
    let (namespace, name) = (namespace(&request, query.namespace)?, template(&request)?);
    answer(
        services
            .stored_templates
            .get(&namespace, &name, &caller)
            .await?,
    )
    .await
}

pub async fn replace(
    services: Data<Services>,
    caller: Caller,
    request: HttpRequest,
    Query(query): Query<NamespaceQuery>,
    Body(body): Body<Value>,
) -> Result<HttpResponse, ApiError> {
    let (namespace, name) = (namespace(&request, query.namespace)?, template(&request)?);
    let templates = &services.stored_templates;
    answer(templates.replace(&namespace, &name, body, &caller).await?).await
}

pub async fn patch(
    services: Data<Services>,
    caller: Caller,
    request: HttpRequest,
    Query(query): Query<NamespaceQuery>,
    body: AnyBody,
) -> Result<HttpResponse, ApiError> {
    let (namespace, name) = (namespace(&request, query.namespace)?, template(&request)?);
    let patch = patches::read(&request, &body.0)?;
    let templates = &services.stored_templates;
    answer(templates.patch(&namespace, &name, patch, &caller).await?).await
}

pub async fn delete(
    services: Data<Services>,
    caller: Caller,
    request: HttpRequest,
    Query(query): Query<NamespaceQuery>,
) -> Result<HttpResponse, ApiError> {
    let (namespace, name) = (namespace(&request, query.namespace)?, template(&request)?);
    let templates = &services.stored_templates;
    answer(templates.delete(&namespace, &name, &caller).await?).await
}

/// The body is a Template with the values of its parameters.
pub async fn process(
    request: HttpRequest,
    Query(query): Query<ProcessQuery>,
    body: RawBody,
) -> Result<HttpResponse, ApiError> {
    namespace(&request, query.namespace.clone())?;
    let document = documents::read(body).await?;
    let inputs = TemplateInputs {
        ignore_unknown: query.ignore_unknown_parameters,
        ..TemplateInputs::default()
    };
    let found = processed(document, inputs).await?;
    as_asked(found, &query, &request).await
}

/// The body has the values.
pub async fn process_stored(
    services: Data<Services>,
    caller: Caller,
    request: HttpRequest,
    Query(query): Query<ProcessQuery>,
    body: RawBody,
) -> Result<HttpResponse, ApiError> {
    let name = template(&request)?;
    let namespace = namespace(&request, query.namespace.clone())?;
    let inputs = TemplateInputs::read(parameters(&body)?, query.ignore_unknown_parameters)?;
    let templates = &services.stored_templates;
    let found = templates
        .processed(&namespace, &name, inputs, &caller)
        .await?;
    as_asked(found, &query, &request).await
}

/// A map or a list, in JSON or YAML. Nothing is the same as no parameters.
fn parameters(body: &RawBody) -> Result<Value, ApiError> {
    let invalid = |reason: &dyn std::fmt::Display| {
        let message = format!("the parameters cannot be read: {reason}");
        ApiError::new(ErrorCode::InvalidRequest, message)
    };
    let text = std::str::from_utf8(&body.bytes).map_err(|error| invalid(&error))?;
    manifests::read_template_object(text).map_err(|error| invalid(&error))
}

async fn as_asked(
    processed: Processed,
    query: &ProcessQuery,
    request: &HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let accept = request
        .headers()
        .get(ACCEPT)
        .and_then(|value| value.to_str().ok());
    let accepts_list = accept.is_some_and(|accept| accept.replace(' ', "").contains(";as=List"));
    let is_list = match query.output {
        Some(output) => output == Output::List,
        None => accepts_list,
    };
    let document = match is_list {
        true => processed.into_list(),
        false => processed.into_template(),
    };
    answer_with(HttpResponse::Created(), document).await
}

/// The namespace of the path, which a query must not contradict; else that of the query; else the default.
fn namespace(request: &HttpRequest, asked: Option<Namespace>) -> Result<Namespace, ApiError> {
    let Some(text) = request.match_info().get("namespace") else {
        return Ok(writes::namespace(asked)?);
    };
    let found = name(Namespace::parse(text))?;
    match asked {
        Some(other) if other != found => {
            let message = format!("the path names namespace '{found}', and the request '{other}'");
            Err(ApiError::new(ErrorCode::InvalidRequest, message))
        }
        _ => Ok(found),
    }
}

fn template(request: &HttpRequest) -> Result<TemplateName, ApiError> {
    let text = request.match_info().get("template").unwrap_or_default();
    name(TemplateName::parse(text))
}

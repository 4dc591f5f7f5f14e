//! `GET /v2/catalog`.

use actix_web::http::header::{ContentType, ETAG, IF_NONE_MATCH};
use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};

use crate::error::BrokerError;
use crate::service::Broker;

pub async fn get(broker: Data<Broker>, request: HttpRequest) -> Result<HttpResponse, BrokerError> {
    let catalog = broker.catalog()?;
    let known = request.headers().get_all(IF_NONE_MATCH);
    let mut known = known.filter_map(|tags| tags.to_str().ok());
    let tag = (ETAG, catalog.tag.clone());
    if known.any(|tags| matches(tags, &catalog.tag)) {
        return Ok(HttpResponse::NotModified().insert_header(tag).finish());
    }
    let mut response = HttpResponse::Ok();
    response
        .insert_header(tag)
        .content_type(ContentType::json());
    Ok(response.body(catalog.answer.clone()))
}

/// Whether one of the tags is this one. A weak tag is as good.
fn matches(tags: &str, tag: &str) -> bool {
    let mut tags = tags.split(',').map(str::trim);
    tags.any(|one| one == "*" || one.strip_prefix("W/").unwrap_or(one) == tag)
}

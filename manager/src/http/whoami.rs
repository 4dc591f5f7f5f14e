//! `/whoami`.

use actix_web::HttpResponse;
use actix_web::web::Data;
use common::api::manager::{Whoami, WhoamiQuery};
use common::server::{ApiError, Query};

use crate::auth::Caller;
use crate::service::Services;

pub async fn get(
    services: Data<Services>,
    caller: Caller,
    Query(query): Query<WhoamiQuery>,
) -> Result<HttpResponse, ApiError> {
    let may = match &query.namespace {
        Some(namespace) => Some(services.gate.permissions(&caller, namespace).await?),
        None => None,
    };
    Ok(HttpResponse::Ok().json(Whoami {
        user: caller.user().to_owned(),
        groups: caller.groups().to_vec(),
        may,
    }))
}

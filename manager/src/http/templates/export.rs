//! `/export`.

use actix_web::HttpResponse;
use actix_web::web::Data;
use common::api::export::{Export, ExportQuery};
use common::server::{ApiError, Body, Query, answer};

use crate::auth::Caller;
use crate::service::Services;

pub async fn get(
    services: Data<Services>,
    caller: Caller,
    Query(query): Query<ExportQuery>,
) -> Result<HttpResponse, ApiError> {
    answer(services.live_export.template(query, &caller).await?).await
}

pub async fn post(
    services: Data<Services>,
    caller: Caller,
    Body(body): Body<Export>,
) -> Result<HttpResponse, ApiError> {
    answer(services.live_export.export(body, &caller).await?).await
}

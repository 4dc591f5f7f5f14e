//! `/export`.

use actix_web::HttpResponse;
use actix_web::web::Data;
use common::api::export::Export;
use common::server::{ApiError, Body, answer};

use crate::auth::Caller;
use crate::service::Services;

pub async fn post(
    services: Data<Services>,
    caller: Caller,
    Body(body): Body<Export>,
) -> Result<HttpResponse, ApiError> {
    answer(services.live_export.export(body, &caller).await?).await
}

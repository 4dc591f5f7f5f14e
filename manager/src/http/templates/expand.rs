//! `/expand`.

use actix_web::HttpResponse;
use actix_web::web::Data;
use common::api::manager::Expand;
use common::server::{ApiError, Body, answer};

use crate::auth::Caller;
use crate::service::Services;

pub async fn post(
    services: Data<Services>,
    caller: Caller,
    Body(body): Body<Expand>,
) -> Result<HttpResponse, ApiError> {
    answer(services.expand.expand(body, &caller).await?).await
}

//! `/templates`, and upgrades of deployments to another version of a template.

mod documents;
pub(super) mod expand;
pub(super) mod export;
pub(super) mod patches;
pub(super) mod stored_templates;
pub(super) mod types;

use actix_web::HttpResponse;
use actix_web::web::Data;
use common::api::upgrade::{WhatIf, WhatIfQuery};
use common::server::{ApiError, Body, Query, answer};

use crate::auth::Caller;
use crate::service::Services;

pub async fn whatif(
    services: Data<Services>,
    caller: Caller,
    Query(query): Query<WhatIfQuery>,
    Body(body): Body<WhatIf>,
) -> Result<HttpResponse, ApiError> {
    answer(services.whatifs.page(&body, &query, &caller).await?).await
}

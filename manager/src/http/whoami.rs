//! `/whoami`.

use actix_web::HttpResponse;
use common::api::manager::Whoami;

use crate::auth::Caller;

pub async fn get(caller: Caller) -> HttpResponse {
    let groups = caller.identity.as_ref().map(|identity| identity.groups());
    HttpResponse::Ok().json(Whoami {
        user: caller.user().to_owned(),
        groups: groups.unwrap_or_default().to_vec(),
    })
}

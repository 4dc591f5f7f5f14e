//! `/whoami`.

use actix_web::HttpResponse;
use common::api::manager::Whoami;

use crate::auth::Caller;

pub async fn get(caller: Caller) -> HttpResponse {
    HttpResponse::Ok().json(Whoami {
        user: caller.user().to_owned(),
        groups: caller.groups().to_vec(),
    })
}

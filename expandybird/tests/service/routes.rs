//! The route table.

use actix_web::http::header::ALLOW;
use actix_web::http::{Method, StatusCode};
use actix_web::test::{TestRequest, call_service, init_service, read_body_json};
use actix_web::{App, web::Data};
use common::api::error::ErrorBody;
use expandybird::http::{ROUTES, routes};

use super::*;

#[actix_web::test]
async fn a_path_names_the_methods_that_it_has() {
    let expander = Data::new(expander(Duration::from_secs(20), jinja::Limits::default()));
    let app = init_service(App::new().configure(|config| routes(config, &expander))).await;
    for (path, methods) in ROUTES {
        let request = TestRequest::with_uri(path).method(Method::PATCH);
        let response = call_service(&app, request.to_request()).await;
        assert_eq!(response.status(), StatusCode::METHOD_NOT_ALLOWED, "{path}");
        let allowed = response.headers().get(ALLOW).unwrap().to_str();
        let allowed = allowed.unwrap().to_owned();
        assert_eq!(allowed, methods.join(", ").replace("GET", "GET, HEAD"));
        let error: ErrorBody = read_body_json(response).await;
        assert_eq!(error.code, ErrorCode::MethodNotAllowed);
    }
}

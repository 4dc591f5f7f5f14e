//! The route tables of the services: a path with a handler for each of its methods.

use actix_web::http::Method;
use actix_web::http::header::{ALLOW, HeaderValue};
use actix_web::{HttpRequest, HttpResponse, Resource, ResponseError, Route, web};

use super::answer::error::ApiError;
use crate::api::error::ErrorCode;

/// The path with its methods. Any other method is answered with 405, and `Allow` names these (RFC 9110).
///
/// A path with GET also answers HEAD.
pub fn at(path: &str, routes: impl IntoIterator<Item = (Method, Route)>) -> Resource {
    let mut allowed = Vec::new();
    let mut resource = web::resource(path);
    for (method, route) in routes {
        allowed.push(method.to_string());
        if method == Method::GET {
            allowed.push(Method::HEAD.to_string());
        }
        resource = resource.route(route.method(method));
    }
    let allowed = allowed.join(", ");
    let refuse = move |request| std::future::ready(method_not_allowed(&request, &allowed));
    resource.default_service(web::to(refuse))
}

fn method_not_allowed(request: &HttpRequest, allowed: &str) -> HttpResponse {
    let message = format!("{} has no {}", request.path(), request.method());
    let error = ApiError::new(ErrorCode::MethodNotAllowed, message);
    let mut response = error.error_response();
    if let Ok(allowed) = HeaderValue::from_str(allowed) {
        response.headers_mut().insert(ALLOW, allowed);
    }
    response
}

/// The route table of a service whose routes need no guard: `"/path" METHOD handler, METHOD handler;`. The first path
/// that fits is served.
///
/// It makes `ROUTES`, the table as data, and `serve_routes`, which adds all of them to a `ServiceConfig`.
#[macro_export]
macro_rules! route_table {
    ($($path:literal $($method:ident $handler:path),+;)*) => {
        /// Each path with its methods.
        pub const ROUTES: &[(&str, &[&str])] = &[$(($path, &[$(stringify!($method)),+])),*];

        fn serve_routes(config: &mut ::actix_web::web::ServiceConfig) {
            $(config.service($crate::server::at($path, [$((
                ::actix_web::http::Method::$method,
                ::actix_web::web::to($handler),
            )),+]));)*
        }
    };
}

//! The page at `/ui/`: the files that `make ui` made and `build.rs` put into the program.
//!
//! It knows nothing of deployments: the page's script calls the API as any other client, with the caller's rights.

mod files;
mod session;

use actix_web::http::Method;
use actix_web::http::header::{
    CACHE_CONTROL, CONTENT_ENCODING, CONTENT_SECURITY_POLICY, HeaderName, LOCATION,
    REFERRER_POLICY, VARY,
};
use actix_web::web::{self, Path, ServiceConfig};
use actix_web::{HttpRequest, HttpResponse};
use common::api::error::ErrorCode;
use common::server::{ApiError, accepts_gzip, at};

use self::files::{FILES, File};
use crate::auth::BrowserAccess;

/// Whether the page is served.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Page {
    #[default]
    On,
    Off,
}

/// Scripts and styles come from this server only, nothing makes HTML from text, and no other page may frame it.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

/// Further limits for the page, and for what other pages may do with it.
const HEADERS: [(HeaderName, &str); 5] = [
    (CONTENT_SECURITY_POLICY, POLICY),
    (REFERRER_POLICY, "no-referrer"),
    (
        HeaderName::from_static("cross-origin-opener-policy"),
        "same-origin",
    ),
    (
        HeaderName::from_static("cross-origin-resource-policy"),
        "same-origin",
    ),
    (VARY, "accept-encoding"),
];

/// The folder whose files have a digest in their names, and so never change.
const ASSETS: &str = "assets/";
const FOREVER: &str = "public, max-age=31536000, immutable";
const START: &str = "index.html";

/// Adds `/ui/` to the routes.
pub fn routes(routes: &mut ServiceConfig, page: Page, access: &BrowserAccess) {
    if page == Page::Off {
        return;
    }
    session::routes(routes, access);
    let to_page = || async {
        HttpResponse::PermanentRedirect()
            .insert_header((LOCATION, "/ui/"))
            .finish()
    };
    routes.service(at("/ui", [(Method::GET, web::to(to_page))]));
    routes.service(at("/ui/{path:.*}", [(Method::GET, web::to(get))]));
}

async fn get(request: HttpRequest, path: Path<String>) -> Result<HttpResponse, ApiError> {
    if FILES.is_empty() {
        return Err(missing(
            "this manager was built without its page: run make ui, then build the manager again",
        ));
    }
    let file = find(FILES, &path).ok_or_else(|| missing("the page has no such file: reload it"))?;
    Ok(answer(file, &request))
}

fn missing(message: &str) -> ApiError {
    ApiError::new(ErrorCode::NotFound, message)
}

/// The file at the path. Every other path is a view of the page, whose script reads the path itself.
fn find<'f>(files: &'f [File], path: &str) -> Option<&'f File> {
    let named = files.iter().find(|file| file.path == path);
    match path.starts_with(ASSETS) {
        true => named,
        false => named.or_else(|| files.iter().find(|file| file.path == START)),
    }
}

fn answer(file: &File, request: &HttpRequest) -> HttpResponse {
    let mut response = HttpResponse::Ok();
    response.content_type(file.content_type());
    for (name, value) in HEADERS {
        response.insert_header((name, value));
    }
    let lifetime = match file.path.starts_with(ASSETS) {
        true => FOREVER,
        false => "no-cache",
    };
    response.insert_header((CACHE_CONTROL, lifetime));
    match accepts_gzip(request.headers()) {
        true => {
            response.insert_header((CONTENT_ENCODING, "gzip"));
            response.body(file.gzip)
        }
        false => response.body(file.bytes),
    }
}

#[cfg(test)]
mod tests {
    use actix_web::test::{TestRequest, call_service, init_service};
    use actix_web::{App, http::StatusCode};

    use super::*;

    const SOME: &[File] = &[
        File {
            path: "assets/main-1a.js",
            bytes: b"let a;",
            gzip: b"packed",
        },
        File {
            path: "index.html",
            bytes: b"<!doctype html>",
            gzip: b"packed",
        },
    ];

    fn header<'r>(response: &'r HttpResponse, name: &HeaderName) -> &'r str {
        response
            .headers()
            .get(name)
            .map_or("", |value| value.to_str().unwrap())
    }

    #[test]
    fn every_view_is_the_start_page_and_a_lost_asset_is_missing() {
        for path in ["", "deployments", "deployments/a.b/operations/op-1"] {
            assert_eq!(find(SOME, path).unwrap().path, START, "{path}");
        }
        assert_eq!(find(SOME, "assets/main-1a.js").unwrap().bytes, b"let a;");
        assert!(find(SOME, "assets/main-0.js").is_none());
    }

    #[test]
    fn assets_stay_in_caches_and_the_start_page_is_asked_for_again() {
        let request = TestRequest::get().insert_header(("accept-encoding", "br, gzip"));
        let packed = answer(&SOME[0], &request.to_http_request());
        assert_eq!(header(&packed, &CONTENT_ENCODING), "gzip");
        assert_eq!(header(&packed, &CACHE_CONTROL), FOREVER);
        let plain = answer(&SOME[1], &TestRequest::get().to_http_request());
        assert_eq!(header(&plain, &CONTENT_ENCODING), "");
        assert_eq!(header(&plain, &CACHE_CONTROL), "no-cache");
        for response in [packed, plain] {
            assert_eq!(header(&response, &CONTENT_SECURITY_POLICY), POLICY);
        }
    }

    #[actix_web::test]
    async fn a_manager_serves_the_page_unless_it_is_off() {
        for (page, expected) in [
            (Page::On, StatusCode::PERMANENT_REDIRECT),
            (Page::Off, StatusCode::NOT_FOUND),
        ] {
            let app = init_service(
                App::new().configure(|config| routes(config, page, &BrowserAccess::default())),
            )
            .await;
            let answer = call_service(&app, TestRequest::with_uri("/ui").to_request()).await;
            assert_eq!(answer.status(), expected);
        }
    }
}

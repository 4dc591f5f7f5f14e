//! The token of a service account (RFC 7523), from a token server on loopback that verifies the request.

use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use actix_web::{App, HttpResponse, HttpServer, web};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use common::api::error::ErrorCode;
use common::model::{Credential, Secret, TypeName};
use ring::signature::{KeyPair as _, RSA_PKCS1_2048_8192_SHA256, RsaKeyPair, UnparsedPublicKey};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::support::alone::{Alone, options};
use crate::support::loopback::{Loopback, TOKEN};

const EMAIL: &str = "robot@project.example";

struct TokenServer {
    public_key: Vec<u8>,
    given: Arc<AtomicUsize>,
}

#[derive(Deserialize)]
struct Form {
    grant_type: String,
    assertion: String,
}

async fn token(server: web::Data<TokenServer>, form: web::Form<Form>) -> HttpResponse {
    let parts: Vec<_> = form.assertion.split('.').collect();
    let [head, claims, signature] = parts[..] else {
        return HttpResponse::BadRequest().finish();
    };
    let key = UnparsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA256, &server.public_key);
    let signature = URL_SAFE_NO_PAD.decode(signature).unwrap();
    let signed = format!("{head}.{claims}");
    if key.verify(signed.as_bytes(), &signature).is_err() {
        return HttpResponse::Unauthorized().finish();
    }
    let claims: Value = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(claims).unwrap()).unwrap();
    assert_eq!(
        form.grant_type,
        "urn:ietf:params:oauth:grant-type:jwt-bearer"
    );
    assert_eq!(claims["iss"], EMAIL);
    assert!(claims["aud"].as_str().unwrap().ends_with("/token"));
    let lives = claims["exp"].as_i64().unwrap() - claims["iat"].as_i64().unwrap();
    assert!((1..=3600).contains(&lives), "{lives}");
    server.given.fetch_add(1, Ordering::SeqCst);
    let token = json!({"access_token": TOKEN, "expires_in": 3600, "token_type": "Bearer"});
    HttpResponse::Ok().json(token)
}

/// A key in PKCS#8, as text and in binary.
fn key() -> (String, RsaKeyPair) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("key");
    let mut command = Command::new("ssh-keygen");
    command.args([
        "-q", "-t", "rsa", "-b", "2048", "-m", "PKCS8", "-N", "", "-f",
    ]);
    assert!(command.arg(&file).status().unwrap().success());
    let pem = std::fs::read_to_string(file).unwrap();
    let body: String = pem.lines().filter(|line| !line.starts_with('-')).collect();
    let pair = RsaKeyPair::from_pkcs8(&STANDARD.decode(body).unwrap()).unwrap();
    (pem, pair)
}

fn key_file(pem: &str, url: &str) -> Credential {
    let file = json!({"client_email": EMAIL, "private_key": pem, "token_uri": url});
    Credential::ServiceAccount(Secret::new(file.to_string()))
}

#[tokio::test]
async fn a_service_account_opens_a_registry_by_one_token_that_is_kept() {
    let (pem, pair) = key();
    let given = Arc::new(AtomicUsize::new(0));
    let server = web::Data::new(TokenServer {
        public_key: pair.public_key().as_ref().to_vec(),
        given: given.clone(),
    });
    let app = move || {
        App::new()
            .app_data(server.clone())
            .route("/token", web::post().to(token))
    };
    let tokens = HttpServer::new(app).workers(1).disable_signals();
    let tokens = tokens.bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/token", tokens.addrs()[0]);
    tokio::spawn(tokens.run());

    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(folder.path().join("a/v1")).unwrap();
    std::fs::write(folder.path().join("a/v1/a.jinja"), "first").unwrap();
    let hub = Loopback::serve(folder.path());
    let alone = Alone::new(&options("/")).await.unwrap();
    let reference = TypeName::parse("hub/a:v1").unwrap();
    let definition = json!({"type": "github", "url": "https://ghe.invalid/owner/closed",
        "apiUrl": hub.address("api"), "credential": "robot"});

    let (stranger, _) = key();
    alone.set("robot", key_file(&stranger, &url)).await;
    alone.register("hub", definition).await;
    let error = alone.resolve(&reference).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::RegistryUnavailable, "{error}");
    assert!(error.to_string().contains("returned no token"), "{error}");

    alone.set("robot", key_file(&pem, &url)).await;
    for _ in 0..3 {
        let resolved = alone.resolve(&reference).await.unwrap();
        assert_eq!(resolved.imports[0].content, "first");
    }
    assert_eq!(given.load(Ordering::SeqCst), 1);
}

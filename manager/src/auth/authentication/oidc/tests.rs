use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair, RSA_PKCS1_SHA256,
    RsaKeyPair, RsaPublicKeyComponents,
};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use super::*;

type Sign = Box<dyn Fn(&[u8]) -> Vec<u8> + Send + Sync>;

/// A key pair, and how its public half is published.
pub struct Signer {
    kid: &'static str,
    alg: &'static str,
    sign: Sign,
    jwk: Value,
}

fn encoded(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

/// ring makes no RSA keys; this one is nobody's.
pub fn rsa() -> Signer {
    let text: String = include_str!("rsa-key-of-the-tests.txt")
        .split_whitespace()
        .collect();
    let pair = RsaKeyPair::from_der(&STANDARD.decode(text).unwrap()).unwrap();
    let public = RsaPublicKeyComponents::<Vec<u8>>::from(pair.public());
    let (n, e) = (encoded(&public.n), encoded(&public.e));
    let sign = move |text: &[u8]| {
        let mut signature = vec![0; pair.public().modulus_len()];
        let random = SystemRandom::new();
        pair.sign(&RSA_PKCS1_SHA256, &random, text, &mut signature)
            .unwrap();
        signature
    };
    Signer {
        kid: "rsa",
        alg: "RS256",
        sign: Box::new(sign),
        jwk: json!({"kty": "RSA", "kid": "rsa", "use": "sig", "n": n, "e": e}),
    }
}

pub fn ec(kid: &'static str) -> Signer {
    let random = SystemRandom::new();
    let how = &ECDSA_P256_SHA256_FIXED_SIGNING;
    let document = EcdsaKeyPair::generate_pkcs8(how, &random).unwrap();
    let pair = EcdsaKeyPair::from_pkcs8(how, document.as_ref(), &random).unwrap();
    let point = pair.public_key().as_ref();
    let (x, y) = (encoded(&point[1..33]), encoded(&point[33..]));
    Signer {
        kid,
        alg: "ES256",
        sign: Box::new(move |text| pair.sign(&random, text).unwrap().as_ref().to_vec()),
        jwk: json!({"kty": "EC", "crv": "P-256", "kid": kid, "alg": "ES256", "x": x, "y": y}),
    }
}

fn ed() -> Signer {
    let document = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).unwrap();
    let pair = Ed25519KeyPair::from_pkcs8(document.as_ref()).unwrap();
    let x = encoded(pair.public_key().as_ref());
    Signer {
        kid: "ed",
        alg: "EdDSA",
        sign: Box::new(move |text| pair.sign(text).as_ref().to_vec()),
        jwk: json!({"kty": "OKP", "crv": "Ed25519", "kid": "ed", "x": x}),
    }
}

impl Signer {
    fn token_with(&self, header: &Value, claims: &Value) -> String {
        let signed = format!(
            "{}.{}",
            encoded(header.to_string().as_bytes()),
            encoded(claims.to_string().as_bytes())
        );
        let signature = encoded(&(self.sign)(signed.as_bytes()));
        format!("{signed}.{signature}")
    }

    pub fn token(&self, claims: &Value) -> String {
        self.token_with(
            &json!({"alg": self.alg, "kid": self.kid, "typ": "JWT"}),
            claims,
        )
    }
}

/// An issuer on this machine. It forgets all when it is dropped.
pub struct TestIssuer {
    pub url: String,
    keys: Arc<Mutex<Vec<Value>>>,
    asked: Arc<AtomicUsize>,
    task: tokio::task::JoinHandle<()>,
}

impl TestIssuer {
    pub async fn new(signers: &[&Signer]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let keys = signers.iter().map(|signer| signer.jwk.clone()).collect();
        let (keys, asked) = (Arc::new(Mutex::new(keys)), Arc::new(AtomicUsize::new(0)));
        let (of, published, counted) = (url.clone(), keys.clone(), asked.clone());
        let task = tokio::spawn(async move {
            loop {
                let (mut stream, _) = listener.accept().await.unwrap();
                let mut request = vec![0; 4096];
                let read = stream.read(&mut request).await.unwrap();
                let discovery =
                    request[..read].starts_with(b"GET /.well-known/openid-configuration ");
                let body = match discovery {
                    true => json!({"issuer": of, "jwks_uri": format!("{of}/keys")}),
                    false => {
                        counted.fetch_add(1, Ordering::SeqCst);
                        json!({"keys": *published.lock().unwrap()})
                    }
                };
                let body = body.to_string();
                let answer = format!(
                    "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
                    body.len()
                );
                stream.write_all(answer.as_bytes()).await.unwrap();
            }
        });
        Self {
            url,
            keys,
            asked,
            task,
        }
    }

    fn options(&self) -> OidcOptions {
        OidcOptions {
            issuer: Some(self.url.clone()),
            audiences: vec!["dm".to_owned()],
            username_prefix: Some("-".to_owned()),
            groups_claim: Some("groups".to_owned()),
            ..OidcOptions::default()
        }
    }

    pub fn tokens(&self) -> OidcTokens {
        self.tokens_with(&ReservedNames::default())
    }

    pub fn tokens_with(&self, reserved: &ReservedNames) -> OidcTokens {
        OidcTokens::open(&self.options(), reserved)
            .unwrap()
            .unwrap()
    }

    pub fn claims(&self) -> Value {
        let now = Timestamp::now().as_second();
        json!({"iss": self.url, "aud": ["other", "dm"], "sub": "ann", "groups": ["devs"], "exp": now + 600, "nbf": now})
    }

    /// Claims with some of them changed; null takes one away.
    pub fn claims_but(&self, changes: Value) -> Value {
        let mut claims = self.claims();
        let fields = claims.as_object_mut().unwrap();
        for (claim, value) in changes.as_object().unwrap() {
            match value {
                Value::Null => fields.shift_remove(claim),
                value => fields.insert(claim.clone(), value.clone()),
            };
        }
        claims
    }
}

impl Drop for TestIssuer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Tokens that no issuer's friend would send.
pub fn bad(issuer: &TestIssuer, signer: &Signer) -> Vec<String> {
    let now = Timestamp::now().as_second();
    let good = signer.token(&issuer.claims());
    let (signed, _) = good.rsplit_once('.').unwrap();
    let none = json!({"alg": "none"});
    let mut bad: Vec<_> = [
        json!({"exp": now - 60}),
        json!({"exp": null}),
        json!({"exp": "never"}),
        json!({"nbf": now + 600}),
        json!({"aud": "other"}),
        json!({"aud": null}),
        json!({"iss": "https://issuer.example.com"}),
        json!({"iss": format!("{}/", issuer.url)}),
        json!({"sub": null}),
        json!({"sub": ""}),
        json!({"sub": "system:admin"}),
        json!({"sub": "ann\r\nImpersonate-Group: system:masters"}),
        json!({"groups": ["system:masters"]}),
        json!({"groups": [1]}),
    ]
    .into_iter()
    .map(|changes| signer.token(&issuer.claims_but(changes)))
    .collect();
    bad.extend([
        format!("{signed}."),
        format!("{signed}.{}", encoded(&[0; 64])),
        signer.token_with(&none, &issuer.claims()),
        signer
            .token_with(&none, &issuer.claims())
            .rsplit_once('.')
            .unwrap()
            .0
            .to_owned()
            + ".",
        signer.token_with(
            &json!({"alg": signer.alg, "kid": signer.kid, "crit": ["exp"]}),
            &issuer.claims(),
        ),
        // The public key's bytes as a secret.
        hs256(&signer.jwk, signer.kid, &issuer.claims()),
        // Another's key under this name.
        Signer {
            kid: signer.kid,
            ..ec("other")
        }
        .token(&issuer.claims()),
        good.replacen('.', "", 1),
    ]);
    bad
}

fn hs256(jwk: &Value, kid: &str, claims: &Value) -> String {
    let secret = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, jwk.to_string().as_bytes());
    let signer = Signer {
        kid: "",
        alg: "HS256",
        sign: Box::new(move |text| ring::hmac::sign(&secret, text).as_ref().to_vec()),
        jwk: Value::Null,
    };
    signer.token_with(&json!({"alg": "HS256", "kid": kid}), claims)
}

#[tokio::test]
async fn each_kind_of_key_signs_for_somebody_and_the_algorithm_must_be_its_own() {
    let (rsa, ec, ed) = (rsa(), ec("ec"), ed());
    let issuer = TestIssuer::new(&[&rsa, &ec, &ed]).await;
    let tokens = issuer.tokens();
    for signer in [&rsa, &ec, &ed] {
        let identity = tokens
            .authenticate(&signer.token(&issuer.claims()))
            .await
            .unwrap();
        assert_eq!(
            (identity.user(), identity.groups()),
            ("ann", &["devs".to_owned()][..])
        );
        let unnamed = signer.token_with(&json!({"alg": signer.alg}), &issuer.claims());
        assert!(
            tokens.authenticate(&unnamed).await.is_ok(),
            "{}",
            signer.kid
        );
        for alg in [
            "none", "HS256", "RS256", "ES256", "ES384", "EdDSA", "rs256", "",
        ] {
            let token =
                signer.token_with(&json!({"alg": alg, "kid": signer.kid}), &issuer.claims());
            assert_eq!(
                tokens.authenticate(&token).await.is_ok(),
                alg == signer.alg,
                "{alg}"
            );
        }
    }
    assert_eq!(issuer.asked.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_new_key_is_looked_for_but_made_up_names_do_not_make_us_ask_again_and_again() {
    let (first, second) = (ec("first"), ec("second"));
    let issuer = TestIssuer::new(&[&first]).await;
    let mut tokens = issuer.tokens();
    for _ in 0..20 {
        let token = second.token(&issuer.claims());
        assert!(matches!(
            tokens.authenticate(&token).await,
            Err(AuthenticationError::Refused(_))
        ));
    }
    assert_eq!(issuer.asked.load(Ordering::SeqCst), 1);
    issuer.keys.lock().unwrap().push(second.jwk.clone());
    Arc::get_mut(&mut tokens.issuer).unwrap().pause = Duration::ZERO;
    assert!(
        tokens
            .authenticate(&second.token(&issuer.claims()))
            .await
            .is_ok()
    );
    assert!(
        tokens
            .authenticate(&first.token(&issuer.claims()))
            .await
            .is_ok()
    );
    assert_eq!(issuer.asked.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn an_issuer_that_is_away_makes_tokens_unknown_at_first_and_then_leaves_what_is_known() {
    let signer = ec("ec");
    let issuer = TestIssuer::new(&[&signer]).await;
    let (mut tokens, claims) = (issuer.tokens(), issuer.claims());
    assert!(tokens.authenticate(&signer.token(&claims)).await.is_ok());
    let late = issuer.tokens();
    drop(issuer);
    Arc::get_mut(&mut tokens.issuer).unwrap().pause = Duration::ZERO;
    let unknown = ec("new").token(&claims);
    assert!(matches!(
        tokens.authenticate(&unknown).await,
        Err(AuthenticationError::Refused(_))
    ));
    assert!(tokens.authenticate(&signer.token(&claims)).await.is_ok());
    let first = late.authenticate(&signer.token(&claims)).await;
    assert!(
        matches!(first, Err(AuthenticationError::Unavailable(_))),
        "{first:?}"
    );
}

#[tokio::test]
async fn names_are_made_of_claims_as_the_api_server_makes_them() {
    let signer = ec("ec");
    let issuer = TestIssuer::new(&[&signer]).await;
    let named = async |options: OidcOptions, changes: Value| {
        let tokens = OidcTokens::open(&options, &ReservedNames::default())
            .unwrap()
            .unwrap();
        let token = signer.token(&issuer.claims_but(changes));
        tokens
            .authenticate(&token)
            .await
            .map(|identity| format!("{} {}", identity.user(), identity.groups().join(",")))
    };
    let plain = OidcOptions {
        username_prefix: None,
        groups_claim: None,
        ..issuer.options()
    };
    let expected = format!("{}#ann ", issuer.url);
    assert_eq!(named(plain, json!({})).await, Ok(expected));
    let mail = || OidcOptions {
        username_claim: Some("email".to_owned()),
        username_prefix: None,
        groups_prefix: Some("oidc:".to_owned()),
        ..issuer.options()
    };
    let claims = json!({"email": "ann@example.com", "groups": "one"});
    assert_eq!(
        named(mail(), claims).await,
        Ok("ann@example.com oidc:one".to_owned())
    );
    let unverified = json!({"email": "ann@example.com", "email_verified": false});
    assert!(named(mail(), unverified).await.is_err());
    let prefixed = OidcOptions {
        groups_prefix: Some("oidc:".to_owned()),
        ..issuer.options()
    };
    let kept = json!({"groups": ["system:masters"]});
    assert_eq!(
        named(prefixed, kept).await,
        Ok("ann oidc:system:masters".to_owned())
    );
}

#[test]
fn an_issuer_is_asked_over_tls_but_on_this_machine() {
    for (url, fits) in [
        ("https://issuer.example.com/realms/a", true),
        ("http://127.0.0.1:1", true),
        ("http://localhost:1", true),
        ("http://issuer.example.com", false),
        ("ftp://127.0.0.1", false),
        ("issuer.example.com", false),
    ] {
        assert_eq!(Issuer::new(url, None).is_ok(), fits, "{url}");
    }
}

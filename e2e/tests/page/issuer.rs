//! A small OpenID Connect issuer on loopback, at which everybody is signed in at once.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, Result, anyhow};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use e2e::Loopback;
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

pub const AUDIENCE: &str = "deployment-manager";
const CODE: &str = "code-of-the-test";

/// What the browser asked for when it was sent here.
#[derive(Default)]
struct Asked {
    nonce: String,
    challenge: String,
}

pub struct Issuer {
    server: Loopback,
}

struct Desk {
    key: EcdsaKeyPair,
    asked: Mutex<Asked>,
}

impl Issuer {
    pub async fn start() -> Result<Self> {
        let random = SystemRandom::new();
        let how = &ECDSA_P256_SHA256_FIXED_SIGNING;
        let pkcs8 = EcdsaKeyPair::generate_pkcs8(how, &random);
        let pkcs8 = pkcs8.map_err(|_| anyhow!("no key can be made"))?;
        let key = EcdsaKeyPair::from_pkcs8(how, pkcs8.as_ref(), &random);
        let key = key.map_err(|error| anyhow!("no key can be made: {error}"))?;
        let desk = Arc::new(Desk {
            key,
            asked: Mutex::default(),
        });
        let server = Loopback::serve(move |stream| answer(stream, desk.clone())).await?;
        Ok(Self { server })
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.server.address())
    }
}

fn encoded(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

/// The parameters of a query or a form.
fn parameter(text: &str, name: &str) -> String {
    let parsed = reqwest::Url::parse(&format!("http://localhost/?{text}"));
    let pairs = parsed.iter().flat_map(reqwest::Url::query_pairs);
    let mut found = pairs.filter(|(key, _)| key == name);
    found
        .next()
        .map_or_else(String::new, |(_, value)| value.into_owned())
}

async fn answer(mut stream: TcpStream, desk: Arc<Desk>) -> Result<()> {
    let own = format!("http://{}", stream.local_addr()?);
    let mut request = vec![0; 16 * 1024];
    let mut read = stream.read(&mut request).await?;
    // The body of a form may arrive after its head.
    while request.starts_with(b"POST") {
        let text = String::from_utf8_lossy(&request[..read]).into_owned();
        let length = text.to_lowercase();
        let length = length
            .split("content-length: ")
            .nth(1)
            .context("no length")?;
        let length: usize = length.lines().next().unwrap_or_default().parse()?;
        let head = text.find("\r\n\r\n").context("no end of the head")? + 4;
        if read >= head + length {
            break;
        }
        read += stream.read(&mut request[read..]).await?;
    }
    let text = String::from_utf8_lossy(&request[..read]).into_owned();
    let target = text.split(' ').nth(1).unwrap_or_default().to_owned();
    let (path, query) = target.split_once('?').unwrap_or((&target, ""));
    let said = match path {
        "/authorize" => authorize(&desk, query),
        "/token" => ok(&token(
            &desk,
            &own,
            text.rsplit("\r\n\r\n").next().unwrap_or_default(),
        )?),
        "/keys" => ok(&json!({"keys": [desk.jwk()]})),
        _ => ok(&json!({
            "issuer": own, "jwks_uri": format!("{own}/keys"),
            "authorization_endpoint": format!("{own}/authorize"), "token_endpoint": format!("{own}/token"),
        })),
    };
    stream.write_all(said.as_bytes()).await?;
    Ok(())
}

fn ok(body: &Value) -> String {
    let body = body.to_string();
    let length = body.len();
    format!(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{body}"
    )
}

/// Sends the browser back with a code.
fn authorize(desk: &Desk, query: &str) -> String {
    let mut asked = desk.asked.lock().unwrap_or_else(PoisonError::into_inner);
    asked.nonce = parameter(query, "nonce");
    asked.challenge = parameter(query, "code_challenge");
    let (redirect, state) = (parameter(query, "redirect_uri"), parameter(query, "state"));
    format!(
        "HTTP/1.1 302 Found\r\nLocation: {redirect}?code={CODE}&state={state}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
    )
}

/// An ID token, if the code and the verifier are those of the browser that was here.
fn token(desk: &Desk, own: &str, form: &str) -> Result<Value> {
    let asked = desk.asked.lock().unwrap_or_else(PoisonError::into_inner);
    let challenge = encoded(&Sha256::digest(parameter(form, "code_verifier").as_bytes()));
    if parameter(form, "code") != CODE || challenge != asked.challenge {
        return Ok(json!({"error": "invalid_grant"}));
    }
    let now = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs();
    let claims =
        json!({"iss": own, "aud": AUDIENCE, "sub": "dora", "exp": now + 600, "nonce": asked.nonce});
    Ok(json!({"id_token": desk.signed(&claims)?, "access_token": "unused", "token_type": "Bearer"}))
}

impl Desk {
    fn jwk(&self) -> Value {
        let point = self.key.public_key().as_ref();
        let (x, y) = (encoded(&point[1..33]), encoded(&point[33..]));
        json!({"kty": "EC", "crv": "P-256", "use": "sig", "kid": "own", "x": x, "y": y})
    }

    fn signed(&self, claims: &Value) -> Result<String> {
        let header = json!({"alg": "ES256", "kid": "own"});
        let part = |value: &Value| encoded(value.to_string().as_bytes());
        let text = format!("{}.{}", part(&header), part(claims));
        let signature = self.key.sign(&SystemRandom::new(), text.as_bytes());
        let signature = signature.map_err(|_| anyhow!("nothing can be signed"))?;
        Ok(format!("{text}.{}", encoded(signature.as_ref())))
    }
}

//! A small OpenID Connect issuer on loopback, which signs everybody in at once: by a browser's redirect, or by a code.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, Result};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::Loopback;
use crate::signer::{Signer, encoded};

const CODE: &str = "code-of-the-test";
const REFRESH: &str = "refresh-of-the-test";
/// dm renews a token that ends as soon as this.
const SHORT: u64 = 20;
const LONG: u64 = 600;

/// What the issuer remembers.
#[derive(Default)]
struct Seen {
    nonce: String,
    challenge: String,
    renewals: usize,
    questions_about_device: usize,
}

/// Ends with the test.
pub struct Issuer {
    server: Loopback,
    seen: Arc<Mutex<Seen>>,
}

impl Issuer {
    pub async fn start() -> Result<Self> {
        let signer = Arc::new(Signer::new("own")?);
        let seen = Arc::<Mutex<Seen>>::default();
        let held = seen.clone();
        let server = Loopback::serve(move |stream| answer(stream, signer.clone(), held.clone()));
        let server = server.await?;
        Ok(Self { server, seen })
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.server.address())
    }

    /// How many tokens it has renewed.
    pub fn renewals(&self) -> usize {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.renewals
    }
}

/// The head and the body of a request.
async fn request(stream: &mut TcpStream) -> Result<String> {
    let mut text = String::new();
    let mut part = vec![0; 16 * 1024];
    loop {
        let read = stream.read(&mut part).await?;
        text.push_str(&String::from_utf8_lossy(&part[..read]));
        let Some((head, body)) = text.split_once("\r\n\r\n") else {
            continue;
        };
        let length = head
            .lines()
            .filter_map(|line| line.split_once(": "))
            .find(|(name, _)| name.eq_ignore_ascii_case("content-length"))
            .map_or(Ok(0), |(_, length)| length.parse::<usize>())?;
        if read == 0 || body.len() >= length {
            return Ok(text);
        }
    }
}

/// The parameter of a query or a form.
fn parameter(text: &str, name: &str) -> String {
    let parsed = reqwest::Url::parse(&format!("http://localhost/?{text}"));
    let pairs = parsed.iter().flat_map(reqwest::Url::query_pairs);
    let mut found = pairs.filter(|(key, _)| key == name);
    let found = found.next().map(|(_, value)| value.into_owned());
    found.unwrap_or_default()
}

async fn answer(mut stream: TcpStream, signer: Arc<Signer>, seen: Arc<Mutex<Seen>>) -> Result<()> {
    let own = format!("http://{}", stream.local_addr()?);
    let text = request(&mut stream).await?;
    let target = text.split(' ').nth(1).context("no target")?;
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let form = text.split("\r\n\r\n").nth(1).unwrap_or_default();
    let (status, location, body) = {
        let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
        match path {
            "/authorize" => ("302 Found", seen.authorize(query), json!({})),
            "/token" => seen.token(&own, form, &signer)?,
            "/keys" => ok(json!({"keys": [signer.jwk()]})),
            "/device" => ok(json!({"device_code": CODE, "user_code": "ABCD-EFGH",
                "verification_uri": format!("{own}/activate"), "expires_in": 60, "interval": 1})),
            _ => ok(
                json!({"issuer": own, "jwks_uri": format!("{own}/keys"), "token_endpoint": format!("{own}/token"),
                "authorization_endpoint": format!("{own}/authorize"),
                "device_authorization_endpoint": format!("{own}/device")}),
            ),
        }
    };
    let body = body.to_string();
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status}\r\n{location}Content-Type: application/json\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n"
    );
    stream.write_all(format!("{head}{body}").as_bytes()).await?;
    Ok(())
}

type Answer = (&'static str, String, Value);

fn ok(body: Value) -> Answer {
    ("200 OK", String::new(), body)
}

impl Seen {
    /// Sends the browser back with a code.
    fn authorize(&mut self, query: &str) -> String {
        self.nonce = parameter(query, "nonce");
        self.challenge = parameter(query, "code_challenge");
        let (redirect, state) = (parameter(query, "redirect_uri"), parameter(query, "state"));
        format!("Location: {redirect}?code={CODE}&state={state}\r\n")
    }

    fn token(&mut self, own: &str, form: &str, signer: &Signer) -> Result<Answer> {
        let refused = |error: &str| ("400 Bad Request", String::new(), json!({ "error": error }));
        let verifier = parameter(form, "code_verifier");
        let challenge = encoded(&Sha256::digest(verifier.as_bytes()));
        let kind = parameter(form, "grant_type");
        let lasts = match kind.as_str() {
            "authorization_code" if challenge == self.challenge => SHORT,
            "refresh_token" if parameter(form, "refresh_token") == REFRESH => {
                self.renewals += 1;
                LONG
            }
            "urn:ietf:params:oauth:grant-type:device_code" => {
                self.questions_about_device += 1;
                match self.questions_about_device {
                    1 => return Ok(refused("authorization_pending")),
                    _ => LONG,
                }
            }
            _ => return Ok(refused("invalid_grant")),
        };
        let now = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs();
        let claims = json!({"iss": own, "aud": parameter(form, "client_id"), "sub": "dora", "exp": now + lasts, "nonce": self.nonce});
        let token = signer.token(&claims)?;
        Ok(ok(
            json!({"id_token": token, "access_token": "unused", "refresh_token": REFRESH, "token_type": "Bearer"}),
        ))
    }
}

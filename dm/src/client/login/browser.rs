//! Signing in with a browser on this machine: the authorization code comes back to a loopback address (RFC 8252), and a secret
//! of this process proves that it asked for the code (PKCE, RFC 7636).

use std::process::Stdio;
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use ring::digest::{SHA256, digest};
use ring::rand::{SecureRandom as _, SystemRandom};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::process::Command;
use url::Url;

use super::LoginError;
use super::issuer::{Issuer, Refusal, Tokens};
use crate::terminal::Terminal;

/// The time for a person to sign in.
const PATIENCE: Duration = Duration::from_secs(10 * 60);
/// The time for a browser to send its request.
const REQUEST: Duration = Duration::from_secs(10);
const HEAD_BYTES: usize = 16 * 1024;
const PATH: &str = "/callback";

/// The random values of one sign-in.
struct Proof {
    state: String,
    nonce: String,
    verifier: String,
}

impl Proof {
    fn new() -> Result<Self, LoginError> {
        Ok(Self {
            state: random()?,
            nonce: random()?,
            verifier: random()?,
        })
    }
}

fn random() -> Result<String, LoginError> {
    let mut bytes = [0; 32];
    let filled = SystemRandom::new().fill(&mut bytes);
    filled.map_err(|_| LoginError::NoRandom)?;
    Ok(BASE64_URL_SAFE_NO_PAD.encode(bytes))
}

/// The tokens, and the nonce that the ID token must have.
pub async fn tokens(
    issuer: &Issuer,
    client: &str,
    scope: &str,
    opens: bool,
    terminal: &mut Terminal<'_>,
) -> Result<(Tokens, String), LoginError> {
    let listener = TcpListener::bind("127.0.0.1:0").await;
    let listener = listener.map_err(LoginError::Listen)?;
    let address = listener.local_addr().map_err(LoginError::Listen)?;
    let (proof, back) = (Proof::new()?, format!("http://{address}{PATH}"));
    let url = address_of(issuer, client, scope, &back, &proof)?;
    terminal.note(&format!("Sign in here: {url}"));
    if opens {
        open(&url);
    }
    let code = tokio::time::timeout(PATIENCE, code(&listener, &proof.state)).await;
    let minutes = PATIENCE.as_secs() / 60;
    let code = code.map_err(|_| LoginError::TooLate { minutes })??;
    let form = [
        ("grant_type", "authorization_code"),
        ("code", &code),
        ("redirect_uri", &back),
        ("client_id", client),
        ("code_verifier", &proof.verifier),
    ];
    match issuer.post(&issuer.endpoints.token_endpoint, &form).await? {
        Ok(tokens) => Ok((tokens, proof.nonce)),
        Err(refusal) => Err(refusal.into_error()),
    }
}

fn address_of(
    issuer: &Issuer,
    client: &str,
    scope: &str,
    back: &str,
    proof: &Proof,
) -> Result<Url, LoginError> {
    let endpoint = issuer.endpoints.authorization_endpoint.as_ref();
    let endpoint = endpoint.ok_or(LoginError::NotOffered("in a browser"))?;
    let malformed = |error: url::ParseError| LoginError::Malformed {
        url: endpoint.clone(),
        reason: error.to_string(),
    };
    let mut url = Url::parse(endpoint).map_err(malformed)?;
    let digest = digest(&SHA256, proof.verifier.as_bytes());
    url.query_pairs_mut()
        .append_pair("response_type", "code")
        .append_pair("client_id", client)
        .append_pair("redirect_uri", back)
        .append_pair("scope", scope)
        .append_pair("state", &proof.state)
        .append_pair("nonce", &proof.nonce)
        .append_pair("code_challenge_method", "S256")
        .append_pair("code_challenge", &BASE64_URL_SAFE_NO_PAD.encode(digest));
    Ok(url)
}

/// Without a browser the user opens the address, which is printed.
fn open(url: &Url) {
    for program in ["xdg-open", "open"] {
        let started = Command::new(program)
            .arg(url.as_str())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        if started.is_ok() {
            return;
        }
    }
}

/// The code of the first request with our state. Others get an answer, and mean nothing.
async fn code(listener: &TcpListener, state: &str) -> Result<String, LoginError> {
    loop {
        let (mut stream, _) = listener.accept().await.map_err(LoginError::Listen)?;
        let head = tokio::time::timeout(REQUEST, head(&mut stream)).await;
        let Some(outcome) = head.ok().flatten().and_then(|head| read(&head, state)) else {
            answer(&mut stream, "404 Not Found", "There is nothing here.").await;
            continue;
        };
        let text = match &outcome {
            Ok(_) => "You are signed in. Close this page, and go back to the terminal.",
            Err(_) => "You are not signed in. The terminal says why.",
        };
        answer(&mut stream, "200 OK", text).await;
        return outcome.map_err(Refusal::into_error);
    }
}

/// The first line of the request.
async fn head(stream: &mut TcpStream) -> Option<String> {
    let mut bytes = Vec::new();
    while !bytes.windows(4).any(|window| window == b"\r\n\r\n") {
        let mut part = [0; 1024];
        let read = stream.read(&mut part).await.ok()?;
        if read == 0 || bytes.len() + read > HEAD_BYTES {
            return None;
        }
        bytes.extend_from_slice(&part[..read]);
    }
    let text = String::from_utf8(bytes).ok()?;
    text.lines().next().map(str::to_owned)
}

/// What a request says, if it is the answer to ours.
fn read(line: &str, state: &str) -> Option<Result<String, Refusal>> {
    let path = line.strip_prefix("GET ")?.split(' ').next()?;
    let url = Url::parse("http://localhost").ok()?.join(path).ok()?;
    let value = |name: &str| {
        let mut pairs = url.query_pairs();
        pairs
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.into_owned())
    };
    if url.path() != PATH || value("state").as_deref() != Some(state) {
        return None;
    }
    match (value("code"), value("error")) {
        (Some(code), _) => Some(Ok(code)),
        (None, Some(error)) => Some(Err(Refusal {
            error,
            error_description: value("error_description"),
        })),
        (None, None) => None,
    }
}

/// A browser that does not read the page misses nothing.
async fn answer(stream: &mut TcpStream, status: &str, text: &str) {
    let body = format!("<!doctype html><meta charset=utf-8><title>dm</title><p>{text}</p>\n");
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {}\r\nReferrer-Policy: no-referrer\r\nConnection: close\r\n\r\n",
        body.len()
    );
    let _ = stream.write_all(format!("{head}{body}").as_bytes()).await;
    let _ = stream.shutdown().await;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_answer_to_our_own_request_counts() {
        let read =
            |line: &str| read(line, "s").map(|outcome| outcome.map_err(|refusal| refusal.error));
        let line = "GET /callback?code=a%20b&state=s HTTP/1.1";
        assert_eq!(read(line), Some(Ok("a b".to_owned())));
        let line = "GET /callback?error=access_denied&state=s HTTP/1.1";
        assert_eq!(read(line), Some(Err("access_denied".to_owned())));
        for line in [
            "GET /callback?code=a&state=t HTTP/1.1",
            "GET /callback?code=a HTTP/1.1",
            "GET /other?code=a&state=s HTTP/1.1",
            "POST /callback?code=a&state=s HTTP/1.1",
            "GET /favicon.ico HTTP/1.1",
            "",
        ] {
            assert_eq!(read(line), None, "{line}");
        }
    }
}

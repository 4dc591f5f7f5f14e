//! Signing in with a code on another device (RFC 8628).

use std::time::Duration;

use serde::Deserialize;
use tokio::time::Instant;

use super::LoginError;
use super::issuer::{Issuer, Tokens};
use crate::terminal::{Terminal, text};

const GRANT: &str = "urn:ietf:params:oauth:grant-type:device_code";
/// The pause between two questions, unless the issuer says another.
const PAUSE: u64 = 5;
/// How much longer the pause gets when the issuer finds it too short.
const SLOWER: u64 = 5;
const LONGEST_PAUSE: u64 = 60;
/// The longest that dm asks.
const LONGEST: u64 = 30 * 60;

#[derive(Deserialize)]
struct Code {
    device_code: String,
    user_code: String,
    verification_uri: String,
    verification_uri_complete: Option<String>,
    expires_in: u64,
    interval: Option<u64>,
}

pub async fn tokens(
    issuer: &Issuer,
    client: &str,
    scope: &str,
    terminal: &mut Terminal<'_>,
) -> Result<Tokens, LoginError> {
    let endpoint = issuer.endpoints.device_authorization_endpoint.as_ref();
    let endpoint = endpoint.ok_or(LoginError::NotOffered("with a device code"))?;
    let form = [("client_id", client), ("scope", scope)];
    let code: Code = match issuer.post(endpoint, &form).await? {
        Ok(code) => code,
        Err(refusal) => return Err(refusal.into_error()),
    };
    terminal.note(&format!(
        "Open {} and enter the code {}",
        text::line(&code.verification_uri),
        text::line(&code.user_code)
    ));
    if let Some(whole) = &code.verification_uri_complete {
        terminal.note(&format!("or open {}", text::line(whole)));
    }
    wait(issuer, client, &code).await
}

async fn wait(issuer: &Issuer, client: &str, code: &Code) -> Result<Tokens, LoginError> {
    let lasts = code.expires_in.min(LONGEST);
    let end = Instant::now() + Duration::from_secs(lasts);
    let mut pause = code.interval.unwrap_or(PAUSE).clamp(1, LONGEST_PAUSE);
    let form = [
        ("grant_type", GRANT),
        ("device_code", code.device_code.as_str()),
        ("client_id", client),
    ];
    while Instant::now() < end {
        tokio::time::sleep(Duration::from_secs(pause)).await;
        match issuer.post(&issuer.endpoints.token_endpoint, &form).await? {
            Ok(tokens) => return Ok(tokens),
            Err(refusal) if refusal.error == "authorization_pending" => {}
            Err(refusal) if refusal.error == "slow_down" => {
                pause = (pause + SLOWER).min(LONGEST_PAUSE);
            }
            Err(refusal) => return Err(refusal.into_error()),
        }
    }
    let minutes = lasts / 60;
    Err(LoginError::TooLate { minutes })
}

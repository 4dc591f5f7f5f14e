//! What an ID token says. Its signature is the manager's to check: the token comes from the issuer itself, over TLS (OpenID
//! Connect Core 1.0, 3.1.3.7).

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use serde_json::Value;

use super::LoginError;

/// The payload of a token. None if it is no JSON Web Token.
pub fn of(token: &str) -> Option<Value> {
    let mut parts = token.split('.');
    let (_, payload, _) = (parts.next()?, parts.next()?, parts.next()?);
    let bytes = BASE64_URL_SAFE_NO_PAD.decode(payload).ok()?;
    serde_json::from_slice(&bytes).ok()
}

/// When the token ends, in seconds since 1970.
pub fn end(token: &str) -> Option<i64> {
    of(token)?["exp"].as_i64()
}

/// The user that the token names, for people.
pub fn user(token: &str) -> Option<String> {
    let claims = of(token)?;
    let names = ["email", "preferred_username", "name", "sub"].into_iter();
    names
        .filter_map(|name| claims[name].as_str())
        .next()
        .map(str::to_owned)
}

/// Refuses a token that is for another client, or the answer to another request.
pub fn check(
    token: &str,
    issuer: &str,
    client: &str,
    nonce: Option<&str>,
) -> Result<(), LoginError> {
    let claims = of(token).ok_or(LoginError::Token("it is not a JSON Web Token"))?;
    let is_for_us = match &claims["aud"] {
        Value::String(audience) => audience == client,
        Value::Array(audiences) => audiences.iter().any(|audience| audience == client),
        _ => false,
    };
    if claims["iss"] != issuer {
        return Err(LoginError::Token("it names another issuer"));
    }
    if !is_for_us {
        return Err(LoginError::Token("it is for another client"));
    }
    match nonce {
        Some(nonce) if claims["nonce"] != nonce => {
            Err(LoginError::Token("it answers another request"))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn token(claims: &Value) -> String {
        format!(
            "e30.{}.x",
            BASE64_URL_SAFE_NO_PAD.encode(claims.to_string())
        )
    }

    #[test]
    fn a_token_for_somebody_else_is_refused() {
        let good =
            json!({"iss": "https://id", "aud": ["dm", "x"], "nonce": "n", "sub": "dora", "exp": 5});
        let checked = |claims: &Value| check(&token(claims), "https://id", "dm", Some("n"));
        assert!(checked(&good).is_ok());
        for (name, value) in [
            ("iss", json!("https://other")),
            ("aud", json!("x")),
            ("nonce", json!("m")),
        ] {
            let mut bad = good.clone();
            bad[name] = value;
            assert!(checked(&bad).is_err(), "{name}");
        }
        assert!(check("opaque", "https://id", "dm", None).is_err());
        assert_eq!(end(&token(&good)), Some(5));
        assert_eq!(user(&token(&good)).as_deref(), Some("dora"));
    }
}

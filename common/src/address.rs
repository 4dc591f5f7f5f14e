//! URLs in the form of logs and errors: without their secrets.
//!
//! A URL may have a user name and a password before the host. Its query may be a signature: registries redirect to
//! storage URLs that give access to anyone who has them.

use url::Url;

use crate::redact::REDACTED;

/// A URL without user, query and fragment.
pub fn loggable(url: &Url) -> String {
    let mut loggable = url.clone();
    // It fails only for URLs that have no user part.
    let _ = loggable.set_username("");
    let _ = loggable.set_password(None);
    loggable.set_query(None);
    loggable.set_fragment(None);
    loggable.into()
}

/// A text that should be a URL, without its user. The rest may be malformed.
pub fn without_user(text: &str) -> String {
    let Some((scheme, rest)) = text.split_once("://") else {
        return text.to_owned();
    };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    match rest[..end].rfind('@') {
        Some(at) => format!("{scheme}://{REDACTED}{}", &rest[at..]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_opens_an_address_is_not_shown() {
        let url = "https://user:hunter2@host.example:8443/a/b?X-Signature=s3cret#t0ken";
        let loggable = loggable(&url.parse().unwrap());
        assert_eq!(loggable, "https://host.example:8443/a/b");
    }

    #[test]
    fn what_was_written_is_shown_without_its_user() {
        for (text, expected) in [
            ("https://user:pass@host/a@b", "https://(redacted)@host/a@b"),
            ("https://to@ken@host", "https://(redacted)@host"),
            ("https://host/a@b", "https://host/a@b"),
            ("redis:v1", "redis:v1"),
        ] {
            assert_eq!(without_user(text), expected);
        }
    }
}

//! URLs for messages and logs: without credentials.
//!
//! A user's name and password may stand before the host. What follows a `?` may be a signature: registries redirect to
//! storage by addresses that let in whoever has them.

use url::Url;

use crate::redact::REDACTED;

/// An address without user, query and fragment.
pub fn shown(url: &Url) -> String {
    let mut shown = url.clone();
    // It fails only for addresses that can have neither.
    let _ = shown.set_username("");
    let _ = shown.set_password(None);
    shown.set_query(None);
    shown.set_fragment(None);
    shown.into()
}

/// What somebody wrote where an address belongs, without the user in it; the rest may be what is wrong with it.
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
        let found = shown(&url.parse().unwrap());
        assert_eq!(found, "https://host.example:8443/a/b");
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

//! The challenge of a registry that refuses a request: `WWW-Authenticate` (RFC 9110, section 11).

use url::Url;

/// The authentication that a registry offers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Challenge {
    Basic,
    /// A token from this server, for this service and scope.
    Bearer {
        realm: Url,
        service: Option<String>,
        scope: Option<String>,
    },
}

impl Challenge {
    /// The first challenge of a header value that is understood. In practice a value has one challenge.
    pub fn parse(value: &str) -> Option<Self> {
        let (scheme, rest) = value.trim().split_once(' ').unwrap_or((value.trim(), ""));
        if scheme.eq_ignore_ascii_case("basic") {
            return Some(Self::Basic);
        }
        if !scheme.eq_ignore_ascii_case("bearer") {
            return None;
        }
        let parameters = parameters(rest);
        let of = |name: &str| {
            let found = parameters
                .iter()
                .find(|(key, _)| key.eq_ignore_ascii_case(name));
            found.map(|(_, value)| value.clone())
        };
        Some(Self::Bearer {
            realm: Url::parse(&of("realm")?).ok()?,
            service: of("service"),
            scope: of("scope"),
        })
    }
}

/// `name="value", name=value`. Quoted values may contain commas.
fn parameters(text: &str) -> Vec<(String, String)> {
    let (mut found, mut rest) = (Vec::new(), text);
    while let Some((name, after)) = rest.split_once('=') {
        let name = name.trim_matches([' ', ',']).to_owned();
        let (value, after) = match after.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"').unwrap_or((quoted, "")),
            None => after.split_once(',').unwrap_or((after, "")),
        };
        found.push((name, value.trim().to_owned()));
        rest = after;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_challenge_names_the_server_that_gives_tokens() {
        let text = r#"Bearer realm="https://auth.docker.io/token",service="registry.docker.io",scope="repository:a/b:pull,push""#;
        let expected = Challenge::Bearer {
            realm: "https://auth.docker.io/token".parse().unwrap(),
            service: Some("registry.docker.io".to_owned()),
            scope: Some("repository:a/b:pull,push".to_owned()),
        };
        assert_eq!(Challenge::parse(text), Some(expected));
        let bare = Challenge::parse("bearer realm=https://h/t, service=s").unwrap();
        assert!(
            matches!(bare, Challenge::Bearer { service: Some(s), scope: None, .. } if s == "s")
        );
        assert_eq!(
            Challenge::parse(r#"Basic realm="x""#),
            Some(Challenge::Basic)
        );
        for unknown in ["Negotiate", "Bearer", r#"Bearer realm="not a url""#, ""] {
            assert_eq!(Challenge::parse(unknown), None, "{unknown}");
        }
    }
}

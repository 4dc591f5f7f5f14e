//! The address of a registry: `oci://host[:port]/prefix`.

use url::{Host, Url};

const OCI: &str = "oci";
/// Without TLS, also on another machine.
const PLAIN: &str = "oci+http";
const WRITTEN: &str = "write it like oci://host/prefix, or oci+http://host/prefix without TLS";

/// The address of a registry: the host, and the repository prefix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OciLocation {
    /// The root URL of the host, with `https` or `http`.
    pub base: Url,
    pub prefix: String,
}

impl OciLocation {
    /// Loopback addresses are used without TLS, as OCI tools do.
    pub fn parse(text: &str) -> Result<Self, String> {
        let url = Url::parse(text).map_err(|error| error.to_string())?;
        let (Some(rest), Some(_)) = (text.strip_prefix(url.scheme()), url.host()) else {
            return Err(WRITTEN.to_owned());
        };
        let scheme = match url.scheme() {
            OCI if !is_loopback(text) => "https",
            OCI | PLAIN => "http",
            _ => return Err(WRITTEN.to_owned()),
        };
        let mut base = Url::parse(&format!("{scheme}{rest}")).map_err(|error| error.to_string())?;
        if !base.username().is_empty() || base.password().is_some() {
            return Err("the URL must not contain credentials".to_owned());
        }
        if base.query().is_some() || base.fragment().is_some() {
            return Err("it must have no '?' and no '#'".to_owned());
        }
        let prefix = base.path().trim_matches('/').to_owned();
        if prefix.is_empty() || !prefix.split('/').all(is_component) {
            return Err(format!(
                "it needs the repository that its templates are below, of small letters and digits; {WRITTEN}"
            ));
        }
        base.set_path("/");
        Ok(Self { base, prefix })
    }
}

/// A part of a repository's name, by the distribution specification: `[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*`.
pub fn is_component(text: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let is_separator = |text: &str| {
        matches!(text, "." | "_" | "__") || (!text.is_empty() && text.bytes().all(|b| b == b'-'))
    };
    let separators = text.split(is_plain).filter(|between| !between.is_empty());
    text.starts_with(is_plain)
        && text.ends_with(is_plain)
        && separators.into_iter().all(is_separator)
}

/// The scheme is not special to URL parsers, so the host stays as written.
fn is_loopback(text: &str) -> bool {
    let as_web = Url::parse(&text.replacen(OCI, "http", 1));
    match as_web.as_ref().ok().and_then(Url::host) {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        Some(Host::Domain(name)) => name == "localhost",
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_a_host_and_a_prefix() {
        for (text, base, prefix) in [
            (
                "oci://ghcr.io/my-org/templates",
                "https://ghcr.io/",
                "my-org/templates",
            ),
            ("oci://host:5000/t/", "https://host:5000/", "t"),
            ("oci://127.0.0.1:5000/t", "http://127.0.0.1:5000/", "t"),
            ("oci://localhost/t", "http://localhost/", "t"),
            ("oci://[::1]:5000/t", "http://[::1]:5000/", "t"),
            ("oci+http://host:5000/t", "http://host:5000/", "t"),
        ] {
            let place = OciLocation::parse(text).unwrap();
            assert_eq!(
                (place.base.as_str(), place.prefix.as_str()),
                (base, prefix),
                "{text}"
            );
        }
        for bad in [
            "https://host/t",
            "oci:host",
            "oci://host",
            "oci://host/",
            "oci://host/Big",
            "oci://host/a//b",
            "oci://host/a/../../b",
            "oci://u:p@host/t",
            "oci://host/t?x",
            "oci://host/t:v1",
        ] {
            // URL parsers read `a/../../b` as `b`.
            let place = OciLocation::parse(bad);
            let climbs =
                bad.contains("..") && place.as_ref().is_ok_and(|place| place.prefix == "b");
            assert!(place.is_err() || climbs, "{bad}");
        }
    }

    #[test]
    fn a_part_of_a_repositorys_name_is_as_the_specification_says() {
        for good in ["a", "redis", "my-app", "a.b", "a_b", "a__b", "a---b", "0"] {
            assert!(is_component(good), "{good}");
        }
        for bad in [
            "", "A", "-a", "a-", "a..b", "a___b", "a.-b", "a/b", "ä", "a:b",
        ] {
            assert!(!is_component(bad), "{bad}");
        }
    }
}

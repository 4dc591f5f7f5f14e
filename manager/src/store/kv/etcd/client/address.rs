//! Where a store on etcd is: the members' addresses, and the prefix of its keys.

use std::fmt;
use std::str::FromStr;

use url::Url;

/// `https://a:2379,https://b:2379/PREFIX`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EtcdAddress {
    /// Without a path.
    pub members: Vec<Url>,
    /// Without slashes at its ends.
    pub prefix: String,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    #[error("{0:?} is not the address of a member: write https://HOST:2379")]
    Member(String),
    #[error("the store on etcd has no prefix: write etcd:https://HOST:2379/PREFIX")]
    NoPrefix,
    #[error(
        "{0:?} is not a prefix: use letters, digits, '.', '_', '-' and '/', and one name at least"
    )]
    Prefix(String),
}

impl FromStr for EtcdAddress {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        let (first, last) = text.rsplit_once(',').unwrap_or(("", text));
        let host = last.find("://").map_or(0, |at| at + "://".len());
        let slash = last.get(host..).and_then(|rest| rest.find('/'));
        let (last, prefix) = match slash {
            Some(at) => last.split_at(host + at),
            None => return Err(AddressError::NoPrefix),
        };
        let members = first.split(',').filter(|_| !first.is_empty());
        let members = members.chain([last]).map(member);
        Ok(Self {
            members: members.collect::<Result<_, _>>()?,
            prefix: prefix_of(prefix)?,
        })
    }
}

fn member(text: &str) -> Result<Url, AddressError> {
    let refused = || AddressError::Member(text.to_owned());
    let url = Url::parse(text).map_err(|_| refused())?;
    let is_plain = url.path() == "/" && url.query().is_none() && url.fragment().is_none();
    let is_anonymous = url.username().is_empty() && url.password().is_none();
    let is_http = matches!(url.scheme(), "http" | "https") && url.has_host();
    match is_plain && is_anonymous && is_http {
        true => Ok(url),
        false => Err(refused()),
    }
}

fn prefix_of(text: &str) -> Result<String, AddressError> {
    let prefix = text.trim_matches('/');
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"._-/".contains(&byte);
    match prefix {
        "" => Err(AddressError::NoPrefix),
        prefix if prefix.bytes().all(is_allowed) && !prefix.contains("//") => Ok(prefix.to_owned()),
        prefix => Err(AddressError::Prefix(prefix.to_owned())),
    }
}

impl fmt::Display for EtcdAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let members = self.members.iter();
        let members: Vec<_> = members
            .map(|url| url.as_str().trim_end_matches('/'))
            .collect();
        write!(f, "{}/{}", members.join(","), self.prefix)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_members_and_a_prefix() {
        for (text, members, prefix) in [
            ("http://127.0.0.1:2379/dm", 1, "dm"),
            (
                "https://a:2379,https://b:2379,https://c:2379/team/dm/",
                3,
                "team/dm",
            ),
            ("https://[::1]:2379/dm-1.x_y", 1, "dm-1.x_y"),
        ] {
            let address: EtcdAddress = text.parse().unwrap();
            assert_eq!(address.members.len(), members, "{text}");
            assert_eq!(address.prefix, prefix, "{text}");
            assert_eq!(address.to_string(), text.trim_end_matches('/'));
        }
    }

    #[test]
    fn what_is_no_address_is_refused_and_says_what_to_write() {
        for text in [
            "",
            "/",
            "https://a:2379",
            "https://a:2379/",
            "https://a:2379/a//b",
            "https://a:2379/ü",
            "a:2379/dm",
            "ftp://a/dm",
            "https://user:secret@a:2379/dm",
            "https://a:2379/dm,https://b:2379",
            "https://a:2379,,https://b:2379/dm",
        ] {
            let error = text.parse::<EtcdAddress>().unwrap_err();
            assert!(
                !error.to_string().contains("secret@") || text.contains("secret"),
                "{error}"
            );
        }
    }
}

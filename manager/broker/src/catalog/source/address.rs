//! Where documents of the catalog are, as the operator writes it: a value of `--broker-config`.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use common::model::{Namespace, TypeName};

const REGISTRY: &str = "registry:";
const CLUSTER: &str = "cluster:";
const TEMPLATES: &str = "templates:";

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Address {
    /// `PATH`
    File(PathBuf),
    /// `registry:REFERENCE`
    Registry(TypeName),
    /// `cluster:APIVERSION/KIND/NAMESPACE[/NAME]`
    Objects(Objects),
    /// `templates:NAMESPACE`: the Template objects that the manager has stored.
    Templates(Namespace),
}

/// An object of the manager's own cluster, or all of a kind in a namespace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Objects {
    pub api_version: String,
    pub kind: String,
    pub namespace: Namespace,
    pub name: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    #[error("{0:?} is a URL; write registry:{0} to read it as a registry's template is read")]
    Url(String),
    #[error("{text:?} names nothing in a registry: {reason}")]
    Registry { text: String, reason: String },
    #[error(
        "{0:?} is not an object of the cluster; write cluster:APIVERSION/KIND/NAMESPACE/NAME, or leave /NAME out for all objects of the kind"
    )]
    Objects(String),
    #[error("{text:?} names no namespace: {reason}")]
    Namespace { text: String, reason: String },
}

impl FromStr for Address {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        if let Some(reference) = text.strip_prefix(REGISTRY) {
            let parsed = TypeName::parse(reference.to_owned());
            return parsed
                .map(Self::Registry)
                .map_err(|error| AddressError::Registry {
                    text: text.to_owned(),
                    reason: error.to_string(),
                });
        }
        if let Some(path) = text.strip_prefix(CLUSTER) {
            let parsed = Objects::parse(path);
            return parsed
                .map(Self::Objects)
                .ok_or_else(|| AddressError::Objects(text.to_owned()));
        }
        if let Some(namespace) = text.strip_prefix(TEMPLATES) {
            let parsed = Namespace::parse(namespace);
            return parsed
                .map(Self::Templates)
                .map_err(|error| AddressError::Namespace {
                    text: text.to_owned(),
                    reason: error.to_string(),
                });
        }
        match text.contains("://") {
            true => Err(AddressError::Url(text.to_owned())),
            false => Ok(Self::File(PathBuf::from(text))),
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => write!(f, "{}", path.display()),
            Self::Registry(reference) => write!(f, "{REGISTRY}{reference}"),
            Self::Objects(objects) => write!(f, "{CLUSTER}{objects}"),
            Self::Templates(namespace) => write!(f, "{TEMPLATES}{namespace}"),
        }
    }
}

impl Objects {
    fn parse(path: &str) -> Option<Self> {
        let parts: Vec<&str> = path.split('/').collect();
        let in_group = !is_version(parts.first()?);
        let (version, rest) = parts.split_at_checked(if in_group { 2 } else { 1 })?;
        let (kind, namespace, name) = match rest {
            [kind, namespace] => (kind, namespace, None),
            [kind, namespace, name] => (kind, namespace, Some(name)),
            _ => return None,
        };
        if parts.contains(&"") {
            return None;
        }
        Some(Self {
            api_version: version.join("/"),
            kind: (*kind).to_owned(),
            namespace: Namespace::parse(*namespace).ok()?,
            name: name.map(|name| (*name).to_owned()),
        })
    }
}

/// Whether it is the version of an API, such as `v1beta1`, and not the name of a group.
fn is_version(text: &str) -> bool {
    let rest = text.strip_prefix('v').unwrap_or_default();
    rest.starts_with(|first: char| first.is_ascii_digit()) && !text.contains('.')
}

impl fmt::Display for Objects {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            api_version,
            kind,
            namespace,
            name,
        } = self;
        write!(f, "{api_version}/{kind}/{namespace}")?;
        match name {
            Some(name) => write!(f, "/{name}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_read_as_it_is_written() {
        for text in [
            "catalog.yaml",
            "/etc/broker/catalog.yaml",
            "registry:shop:v1",
            "registry:https://example.com/catalog.yaml",
            "cluster:v1/ConfigMap/shop/catalog",
            "cluster:osb.servicefabrik.io/v1alpha1/SFPlan/shop",
            "templates:shop",
        ] {
            let read: Address = text.parse().unwrap();
            assert_eq!(read.to_string(), text);
            let is_file = matches!(read, Address::File(_));
            assert_eq!(is_file, text.ends_with(".yaml") && !text.contains(':'));
        }
        let one: Address = "cluster:servicebroker.couchbase.com/v1alpha1/ServiceBrokerConfig/a/b"
            .parse()
            .unwrap();
        let expected = Objects {
            api_version: "servicebroker.couchbase.com/v1alpha1".to_owned(),
            kind: "ServiceBrokerConfig".to_owned(),
            namespace: Namespace::parse("a").unwrap(),
            name: Some("b".to_owned()),
        };
        assert_eq!(one, Address::Objects(expected));
    }

    #[test]
    fn an_address_that_names_nothing_is_refused_with_advice() {
        for (text, expected) in [
            ("https://a/b.yaml", "write registry:https://a/b.yaml"),
            ("registry:", "names nothing in a registry"),
            ("cluster:ConfigMap/shop/a", "write cluster:APIVERSION/KIND"),
            ("cluster:v1/ConfigMap", "write cluster:APIVERSION/KIND"),
            ("cluster:v1//shop", "write cluster:APIVERSION/KIND"),
            ("cluster:v1/ConfigMap/shop/a/b", "write cluster:APIVERSION"),
            ("cluster:v1/ConfigMap/Shop", "write cluster:APIVERSION"),
            ("templates:Not", "names no namespace"),
        ] {
            let error = text.parse::<Address>().unwrap_err().to_string();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }
}

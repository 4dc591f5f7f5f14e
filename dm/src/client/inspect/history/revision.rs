//! An earlier state of a deployment, by its number or its manifest.

use std::str::FromStr;

use common::model::{DeploymentName, ManifestName, NameError};

use super::manifest_of;
use crate::client::session::Session;
use crate::error::Failure;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Revision {
    Number(u64),
    Manifest(ManifestName),
}

impl FromStr for Revision {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        match text.parse() {
            Ok(number) => Ok(Self::Number(number)),
            Err(_) => ManifestName::parse(text).map(Self::Manifest),
        }
    }
}

impl Revision {
    pub async fn manifest(
        self,
        session: &Session<'_, '_>,
        name: &DeploymentName,
    ) -> Result<ManifestName, Failure> {
        match self {
            Self::Manifest(manifest) => Ok(manifest),
            Self::Number(number) => manifest_of(session, name, number).await,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_a_revision_and_a_name_a_manifest() {
        assert_eq!("3".parse(), Ok(Revision::Number(3)));
        let manifest = ManifestName::parse("manifest-1").unwrap();
        assert_eq!("manifest-1".parse(), Ok(Revision::Manifest(manifest)));
        assert!("A b".parse::<Revision>().is_err());
    }
}

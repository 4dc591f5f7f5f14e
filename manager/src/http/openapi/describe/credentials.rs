//! Credentials.

use super::*;

pub fn list(of: &mut SchemaGenerator) -> Description {
    Description::new("List the credentials of registries, without their secrets")
        .query::<PageQuery>(of)
        .answers::<Page<CredentialSummary>>(200, "A page of the list, by name.", of)
}

pub fn get(of: &mut SchemaGenerator) -> Description {
    Description::new("Get a registry's credential, without its secret")
        .answers::<CredentialSummary>(200, "The credential, without its secret.", of)
        .fails(&[NotFound])
}

pub fn set(of: &mut SchemaGenerator) -> Description {
    Description::new("Create a credential, or set a new secret")
        .body::<Credential>(of)
        .answers::<CredentialSummary>(201, "The credential is created.", of)
        .answers::<CredentialSummary>(200, "The secret is replaced.", of)
}

pub fn delete(of: &mut SchemaGenerator) -> Description {
    Description::new("Remove a credential that no registry uses")
        .answers::<CredentialSummary>(200, "The state before the removal.", of)
        .fails(&[NotFound, InUse])
}

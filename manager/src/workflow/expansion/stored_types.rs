//! The type `template:NAMESPACE/NAME`: a stored Template object.
//!
//! The caller who deploys it must be permitted to see it. To others it does not exist.

use common::api::error::{ErrorBody, ErrorCode};
use common::canonical;
use common::model::{
    Identity, Import, Namespace, ResolvedFile, ResolvedType, TemplateName, TypeName,
};
use manager_registry::ResolvedTemplate;

use crate::auth::authorization::Question;
use crate::auth::{AccessControl, Resource, Verb};
use crate::store::{Store, StoreError, templates};

const SCHEME: &str = "template:";

/// Stored Template objects, as types.
pub struct StoredTypes {
    pub store: Store,
    pub access: AccessControl,
}

/// Whether a type names a stored Template. Without a namespace it is a reference to a registry: `template:v1`.
pub fn recognises(type_name: &str) -> bool {
    let path = type_name.strip_prefix(SCHEME);
    path.is_some_and(|path| path.contains('/'))
}

impl StoredTypes {
    /// The Template with its present content.
    pub async fn resolve(
        &self,
        reference: &TypeName,
        identity: Option<&Identity>,
    ) -> Result<ResolvedTemplate, Box<ErrorBody>> {
        let (namespace, name) = parse(reference)?;
        let question = Question {
            verb: Verb::Get,
            resource: Resource::Deployments,
            namespace: Some(namespace.clone()),
            name: Some(name.to_string()),
        };
        let found = match self.access.allows(identity, &question).await? {
            true => templates::find(&self.store, &namespace, &name)
                .await
                .map_err(|error| unreadable(&error))?,
            false => None,
        };
        let message = || format!("there is no template '{name}' in namespace '{namespace}'");
        let found = found.ok_or_else(|| refused(ErrorCode::TemplateNotFound, message()))?;
        let content = found.document.to_string();
        let sha256 = canonical::digest_bytes(content.as_bytes()).to_string();
        let version = found.document["metadata"]["resourceVersion"].as_str();
        Ok(ResolvedTemplate {
            resolved: ResolvedType {
                type_name: reference.clone(),
                version: version.map(str::to_owned),
                url: reference.to_string(),
                sha256: sha256.clone(),
                files: vec![ResolvedFile {
                    name: reference.to_string(),
                    url: reference.to_string(),
                    sha256,
                }],
                provenance: None,
            },
            imports: vec![Import {
                name: reference.to_string(),
                path: Some(format!("{namespace}/{name}.template.json")),
                content,
            }],
            scope: None,
            warning: None,
        })
    }
}

fn parse(reference: &TypeName) -> Result<(Namespace, TemplateName), Box<ErrorBody>> {
    let invalid = |reason: String| {
        let message = format!("type {:?} cannot be resolved: {reason}", reference.as_str());
        refused(ErrorCode::InvalidConfiguration, message)
    };
    let path = reference.as_str().strip_prefix(SCHEME).unwrap_or_default();
    let parts = path.split_once('/');
    let (namespace, name) =
        parts.ok_or_else(|| invalid("write it template:NAMESPACE/NAME".to_owned()))?;
    let namespace = Namespace::parse(namespace).map_err(|error| invalid(error.to_string()))?;
    let name = TemplateName::parse(name).map_err(|error| invalid(error.to_string()))?;
    Ok((namespace, name))
}

fn refused(code: ErrorCode, message: String) -> Box<ErrorBody> {
    Box::new(ErrorBody::new(code, message))
}

fn unreadable(error: &StoreError) -> Box<ErrorBody> {
    let chain = common::server::answer::error::chain(error);
    tracing::error!(error = chain, "a stored template cannot be read");
    let message = "the service failed; its log has the cause".to_owned();
    refused(ErrorCode::Internal, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_type_with_a_namespace_names_a_stored_template() {
        assert!(recognises("template:shop/db"));
        for other in ["template:v1", "template", "owner/template:v1", "Template"] {
            assert!(!recognises(other), "{other}");
        }
    }
}

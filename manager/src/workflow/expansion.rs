//! Expanding a configuration to primitives, template references included.
//!
//! The expander knows only the files that it is given. What it leaves unresolved and is a template reference by its form
//! is fetched from its registry and given along, and the whole is expanded again, until nothing new turns up.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use common::api::error::{ErrorBody, ErrorCode, Location};
use common::api::expander::{Environment, ExpandRequest, ExpandResponse};
use common::api::manager::Expansion;
use common::model::{
    DeploymentName, InputConfig, ManifestName, Namespace, ResolvedType, Scope, TypeName,
};
use jiff::Timestamp;
use tokio::time::Instant;

use super::retry::Retry;
use crate::domain::imports::{Imports, ImportsError};
use crate::domain::place::Source;
use crate::expander::Expander;
use crate::registry::{Registries, RegistryError};

/// Rounds of fetching and expanding. Each meets references one level deeper, and nobody nests them this deep.
const ROUNDS: usize = 32;
/// Templates fetched for one configuration.
const TEMPLATES: usize = 200;

/// What was fetched for the references met so far.
#[derive(Default)]
struct Fetched {
    imports: Imports,
    scopes: BTreeMap<String, Scope>,
    resolved: Vec<ResolvedType>,
    warnings: Vec<String>,
}

/// What is expanded, and for whom.
#[derive(Debug, Clone, PartialEq)]
pub struct Subject {
    pub deployment: DeploymentName,
    pub namespace: Namespace,
    pub manifest: ManifestName,
    pub user: String,
    pub time: Timestamp,
}

pub struct Expansions {
    expander: Arc<dyn Expander>,
    registries: Arc<Registries>,
    retry: Retry,
}

impl Expansions {
    pub fn new(expander: Arc<dyn Expander>, registries: Arc<Registries>, retry: Retry) -> Self {
        Self {
            expander,
            registries,
            retry,
        }
    }

    /// Errors are the caller's to see: the expander's own, a registry's, or that one of them is away.
    pub async fn expand(
        &self,
        subject: &Subject,
        input: InputConfig,
        deadline: Instant,
    ) -> Result<Expansion, Box<ErrorBody>> {
        match tokio::time::timeout_at(deadline, self.rounds(subject, input, deadline)).await {
            Ok(outcome) => outcome,
            Err(_) => Err(refused(
                ErrorCode::Timeout,
                format!(
                    "the expansion of {} did not finish in time",
                    subject.deployment
                ),
            )),
        }
    }

    async fn rounds(
        &self,
        subject: &Subject,
        input: InputConfig,
        deadline: Instant,
    ) -> Result<Expansion, Box<ErrorBody>> {
        let mut known = Fetched {
            imports: Imports::of_request(input.imports).map_err(|error| too_many(&error))?,
            ..Fetched::default()
        };
        for _ in 0..ROUNDS {
            let request = request(subject, &input.content, &known);
            let response = self.expanded(&request, deadline).await?;
            let references = self.references(&response, &known.imports)?;
            if references.is_empty() {
                let mut expansion = response.into_expansion(known.resolved);
                expansion.warnings.extend(known.warnings);
                return Ok(expansion);
            }
            let source = Source {
                file: &request.name,
                content: &request.content,
                layout: &response.layout,
            };
            let place = |reference: &TypeName| source.of(|node| node.type_name == *reference);
            self.fetch(references, place, &mut known).await?;
        }
        Err(refused(
            ErrorCode::TooDeep,
            format!("template references lead to further ones more than {ROUNDS} levels deep"),
        ))
    }

    /// Template references that are not among the files yet.
    fn references(
        &self,
        response: &ExpandResponse,
        imports: &Imports,
    ) -> Result<Vec<TypeName>, Box<ErrorBody>> {
        let new = response
            .unresolved
            .iter()
            .filter(|name| !imports.contains(name) && self.registries.recognises(name));
        let parsed = new.map(|name| TypeName::parse(name.as_str()));
        parsed
            .collect::<Result<_, _>>()
            .map_err(|error| refused(ErrorCode::InvalidConfiguration, error.to_string()))
    }

    async fn fetch(
        &self,
        references: Vec<TypeName>,
        place: impl Fn(&TypeName) -> Location,
        known: &mut Fetched,
    ) -> Result<(), Box<ErrorBody>> {
        for reference in references {
            if known.resolved.len() == TEMPLATES {
                let message =
                    format!("the configuration refers to more than {TEMPLATES} templates");
                return Err(refused(ErrorCode::InvalidConfiguration, message));
            }
            let template = self
                .registries
                .resolve(&reference)
                .await
                .map_err(|error| unresolved(&reference, &error, place(&reference)))?;
            known.resolved.push(template.resolved);
            known.warnings.extend(template.warning);
            if let Some(scope) = template.scope {
                known.scopes.insert(reference.to_string(), scope);
            }
            known
                .imports
                .add(template.imports)
                .map_err(|error| too_many(&error))?;
        }
        Ok(())
    }

    /// One expansion, tried again while the expander is away.
    async fn expanded(
        &self,
        request: &ExpandRequest,
        deadline: Instant,
    ) -> Result<ExpandResponse, Box<ErrorBody>> {
        let attempt = || self.expander.expand(request, left(deadline));
        self.retry.persist(attempt).await
    }
}

fn left(deadline: Instant) -> Duration {
    deadline.saturating_duration_since(Instant::now())
}

fn request(subject: &Subject, content: &str, known: &Fetched) -> ExpandRequest {
    let environment = Environment {
        deployment: subject.deployment.clone(),
        namespace: subject.namespace.clone(),
        manifest: subject.manifest.clone(),
        username: subject.user.clone(),
        current_time: subject.time.as_second(),
    };
    ExpandRequest {
        name: subject.deployment.to_string(),
        content: content.to_owned(),
        imports: known.imports.files().to_vec(),
        env: environment.to_map(),
        scopes: known.scopes.clone(),
    }
}

fn refused(code: ErrorCode, message: String) -> Box<ErrorBody> {
    Box::new(ErrorBody::new(code, message))
}

fn too_many(error: &ImportsError) -> Box<ErrorBody> {
    refused(ErrorCode::InvalidRequest, error.to_string())
}

fn unresolved(reference: &TypeName, error: &RegistryError, place: Location) -> Box<ErrorBody> {
    let message = format!("type {:?} cannot be resolved: {error}", reference.as_str());
    Box::new(ErrorBody::new(error.code(), message).at(place))
}

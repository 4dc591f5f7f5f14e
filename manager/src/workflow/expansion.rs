//! Expands a configuration to primitive resources, including its template references.
//!
//! The expander knows only the files in its request. An unresolved type with the form of a template reference is
//! fetched from its registry, and the configuration is expanded again with it, until nothing new is found. A reference
//! resolves to its present meaning, unless the caller chooses otherwise ([`Choice`]).

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD as STANDARD;
use common::api::error::{ErrorBody, ErrorCode};
use common::api::expander::{Environment, ExpandRequest, ExpandResponse};
use common::api::manager::Expansion;
use common::model::{
    DeploymentName, GeneratedValue, InputConfig, Layout, ManifestName, Namespace, ResolvedType,
    Scope, TypeName,
};
use common::redact::REDACTED;
use common::work;
use jiff::Timestamp;
use manager_registry::{Identity, Registries, RegistryError, ResolvedTemplate};
use ring::rand::{SecureRandom as _, SystemRandom};
use serde_json::{Map, Value};
use tokio::time::Instant;

use super::choice::{Choice, Instead};
use super::retry::Retry;
use super::stored_types::{self, StoredTypes};
use crate::domain::imports::{Imports, ImportsError};
use crate::domain::place::Source;
use crate::domain::redaction;
use crate::domain::resolution::{Record, Recorded};
use crate::domain::service_binding;
use crate::expander::Expander;

/// The maximum number of rounds of fetching and expanding. Each round finds references that are nested one level
/// deeper.
const ROUNDS: usize = 32;
/// The maximum number of templates that are fetched for one configuration.
const TEMPLATES: usize = 200;

/// A longer reference is clipped where an error quotes it.
const QUOTED_CHARS: usize = 80;

/// What was fetched for the references so far.
#[derive(Default)]
struct Fetched {
    imports: Imports,
    scopes: BTreeMap<String, Scope>,
    templates: Vec<Recorded>,
    warnings: Vec<String>,
}

/// Why no more was fetched, and the reference that it is about.
struct Refusal {
    error: Box<ErrorBody>,
    of: Option<TypeName>,
}

impl From<Box<ErrorBody>> for Refusal {
    fn from(error: Box<ErrorBody>) -> Self {
        Self { error, of: None }
    }
}

impl Refusal {
    /// The error with the place of the reference in the configuration.
    async fn placed(self, request: Arc<ExpandRequest>, layout: Layout) -> Box<ErrorBody> {
        let Some(reference) = self.of else {
            return self.error;
        };
        let place = move || {
            let source = Source::new(&request.name, &request.content, &layout);
            source.of(|node| node.type_name == reference)
        };
        // The layout may be large where the configuration is small.
        Box::new(self.error.at(work::large(place).await))
    }
}

/// The expansion of a configuration.
#[derive(Debug, Clone, PartialEq)]
pub struct Expanded {
    pub expansion: Expansion,
    /// Each reference with its files, in the order of resolution.
    pub templates: Vec<Recorded>,
}

/// The configuration, and the deployment that it is expanded for.
#[derive(Debug, Clone, PartialEq)]
pub struct Subject {
    pub deployment: DeploymentName,
    pub namespace: Namespace,
    pub manifest: ManifestName,
    pub user: String,
    pub time: Timestamp,
    /// Values that templates made up in earlier expansions of the deployment.
    pub values: Vec<GeneratedValue>,
    /// The source of further values. `None`: a random one.
    pub seed: Option<String>,
    /// The caller, for what only some may see.
    pub identity: Option<common::model::Identity>,
    /// What the templates of a broker's deployment see beside what all see.
    pub broker: Map<String, Value>,
}

impl Subject {
    /// What templates see in `env`.
    fn environment(&self) -> Map<String, Value> {
        let environment = Environment {
            deployment: self.deployment.clone(),
            namespace: self.namespace.clone(),
            manifest: self.manifest.clone(),
            username: self.user.clone(),
            current_time: self.time.as_second(),
        };
        let mut environment = environment.to_map();
        environment.extend(self.broker.clone());
        environment
    }
}

pub struct Expansions {
    expander: Arc<dyn Expander>,
    registries: Arc<Registries>,
    stored: StoredTypes,
    retry: Retry,
}

impl Expansions {
    pub fn new(
        expander: Arc<dyn Expander>,
        registries: Arc<Registries>,
        stored: StoredTypes,
        retry: Retry,
    ) -> Self {
        Self {
            expander,
            registries,
            stored,
            retry,
        }
    }

    /// Errors are for the caller: the expander's own, a registry's, or that one of them is unavailable.
    pub async fn expand(
        &self,
        subject: &Subject,
        input: InputConfig,
        choice: &Choice,
        deadline: Instant,
    ) -> Result<Expanded, Box<ErrorBody>> {
        let rounds = self.rounds(subject, input, choice, deadline);
        match tokio::time::timeout_at(deadline, rounds).await {
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

    /// The template and version that a reference names, and what they resolve to.
    pub async fn instead(
        &self,
        reference: &TypeName,
    ) -> Result<(Instead, ResolvedType), Box<ErrorBody>> {
        let refuse = |error: RegistryError| unresolved(reference, &error);
        let named = match self.registries.recognises(reference.as_str()) {
            true => self.registries.identity(reference).await.map_err(refuse)?,
            false => None,
        };
        let Some((template, version)) = named else {
            // A whole one may be so long that the advice after it is clipped.
            let quoted: String = reference.as_str().chars().take(QUOTED_CHARS).collect();
            let message =
                format!("{quoted:?} is not a template with its version: write TEMPLATE:VERSION");
            return Err(refused(ErrorCode::InvalidRequest, message));
        };
        let resolved = self.registries.resolve(reference).await.map_err(refuse)?;
        let instead = Instead {
            template,
            version,
            everywhere: true,
        };
        Ok((instead, resolved.resolved))
    }

    /// Whether a reference names a template, at any version. If the registry cannot answer, it does not; using the
    /// reference then reports why.
    pub async fn names(&self, reference: &TypeName, template: &Identity) -> bool {
        if !self.registries.recognises(reference.as_str()) {
            return false;
        }
        let found = self.registries.identity(reference).await;
        found
            .ok()
            .flatten()
            .is_some_and(|(found, _)| found == *template)
    }

    async fn rounds(
        &self,
        subject: &Subject,
        input: InputConfig,
        choice: &Choice,
        deadline: Instant,
    ) -> Result<Expanded, Box<ErrorBody>> {
        let mut known = Fetched {
            imports: Imports::of_request(input.imports).map_err(|error| too_many(&error))?,
            ..Fetched::default()
        };
        let seed = match &subject.seed {
            Some(seed) => seed.clone(),
            None => random_seed()?,
        };
        for _ in 0..ROUNDS {
            let request = Arc::new(request(subject, &seed, &input.content, &known));
            let response = self.expanded(&request, deadline).await?;
            let references = self.references(&response, &known.imports)?;
            if references.is_empty() {
                let resources = &response.config.resources;
                let bytes = work::bytes_of(resources.iter().flat_map(|one| &one.properties));
                let is_binding = service_binding::is_one(&subject.broker);
                return work::sized(bytes, move || expanded(response, known, is_binding)).await;
            }
            if let Err(refusal) = self.fetch(references, subject, choice, &mut known).await {
                return Err(refusal.placed(request, response.layout).await);
            }
        }
        Err(refused(
            ErrorCode::TooDeep,
            format!("template references lead to further ones more than {ROUNDS} levels deep"),
        ))
    }

    /// The template references that are not among the files yet.
    fn references(
        &self,
        response: &ExpandResponse,
        imports: &Imports,
    ) -> Result<Vec<TypeName>, Box<ErrorBody>> {
        let is_reference =
            |name: &str| stored_types::recognises(name) || self.registries.recognises(name);
        let new = response
            .unresolved
            .iter()
            .filter(|name| !imports.contains(name) && is_reference(name));
        let parsed = new.map(|name| TypeName::parse(name.as_str()));
        parsed
            .collect::<Result<_, _>>()
            .map_err(|error| refused(ErrorCode::InvalidConfiguration, error.to_string()))
    }

    async fn fetch(
        &self,
        references: Vec<TypeName>,
        subject: &Subject,
        choice: &Choice,
        known: &mut Fetched,
    ) -> Result<(), Refusal> {
        for reference in references {
            if known.templates.len() == TEMPLATES {
                let message =
                    format!("the configuration refers to more than {TEMPLATES} templates");
                return Err(refused(ErrorCode::InvalidConfiguration, message).into());
            }
            let template = match stored_type(&reference, choice) {
                true => {
                    self.stored
                        .resolve(&reference, subject.identity.as_ref())
                        .await
                }
                false => self.template(&reference, choice).await,
            };
            let template = template.map_err(|error| Refusal {
                error,
                of: Some(reference.clone()),
            })?;
            if let Some(scope) = &template.scope {
                known.scopes.insert(reference.to_string(), scope.clone());
            }
            known
                .imports
                .add(template.imports.clone())
                .map_err(|error| too_many(&error))?;
            known.warnings.extend(template.warning);
            known.templates.push(Recorded {
                resolved: template.resolved,
                scope: template.scope,
                imports: template.imports,
            });
        }
        Ok(())
    }

    /// What a reference resolves to.
    async fn template(
        &self,
        reference: &TypeName,
        choice: &Choice,
    ) -> Result<ResolvedTemplate, Box<ErrorBody>> {
        let resolved = match choice {
            Choice::Latest => self.registries.resolve(reference).await,
            Choice::Locked(record) => {
                let found = record.get(reference).map(on_record);
                return found.ok_or_else(|| not_on_record(reference, record));
            }
            Choice::Recorded(record) => match record.get(reference) {
                Some(found) => Ok(on_record(found)),
                None => self.registries.resolve(reference).await,
            },
            Choice::Instead(record, instead) => match self.replaced(reference, instead).await {
                true => self.registries.resolve_at(reference, instead.version).await,
                false => match record.get(reference) {
                    Some(found) => Ok(on_record(found)),
                    None => self.registries.resolve(reference).await,
                },
            },
        };
        resolved.map_err(|error| unresolved(reference, &error))
    }

    /// Whether a reference gets the other version. If the registry cannot answer, it does not; resolving the reference
    /// then reports why.
    async fn replaced(&self, reference: &TypeName, instead: &Instead) -> bool {
        if !self.registries.recognises(reference.as_str()) {
            return false;
        }
        let found = self.registries.identity(reference).await;
        found.ok().flatten().is_some_and(|(template, version)| {
            template == instead.template && (instead.everywhere || version == instead.version)
        })
    }

    /// One expansion, retried while the expander is unavailable.
    async fn expanded(
        &self,
        request: &Arc<ExpandRequest>,
        deadline: Instant,
    ) -> Result<ExpandResponse, Box<ErrorBody>> {
        let attempt = || self.expander.expand(request.clone(), left(deadline));
        self.retry.persist(attempt).await
    }
}

/// The outputs of a service binding are secret.
fn expanded(
    response: ExpandResponse,
    known: Fetched,
    is_binding: bool,
) -> Result<Expanded, Box<ErrorBody>> {
    let resolved = known
        .templates
        .iter()
        .map(|template| template.resolved.clone());
    let mut expansion = response.into_expansion(resolved.collect());
    expansion.warnings.extend(known.warnings);
    if is_binding {
        expansion
            .secrets
            .extend(service_binding::secrets(&expansion.outputs));
    }
    expansion.secrets = redaction::secrets_of(&expansion);
    match redaction::given_back(&expansion) {
        Some(place) => Err(refused(
            ErrorCode::InvalidProperties,
            format!(
                "{place} has the text {REDACTED}, which stands for a redacted secret: write the value itself"
            ),
        )),
        None => Ok(Expanded {
            expansion,
            templates: known.templates,
        }),
    }
}

/// Whether a reference is resolved from the store: it names a stored Template, and no record has it.
fn stored_type(reference: &TypeName, choice: &Choice) -> bool {
    stored_types::recognises(reference.as_str())
        && match choice {
            Choice::Latest => true,
            Choice::Locked(_) => false,
            Choice::Recorded(record) | Choice::Instead(record, _) => {
                record.get(reference).is_none()
            }
        }
}

fn on_record(recorded: &Recorded) -> ResolvedTemplate {
    let Recorded {
        resolved,
        scope,
        imports,
    } = recorded.clone();
    ResolvedTemplate {
        resolved,
        imports,
        scope,
        warning: None,
    }
}

fn left(deadline: Instant) -> Duration {
    deadline.saturating_duration_since(Instant::now())
}

/// A seed that nobody can guess, because passwords are made from it.
pub fn random_seed() -> Result<String, Box<ErrorBody>> {
    let mut bytes = [0; 32];
    let filled = SystemRandom::new().fill(&mut bytes);
    let message = "the system has no random numbers for generated values";
    filled.map_err(|_| refused(ErrorCode::Unavailable, message.to_owned()))?;
    Ok(STANDARD.encode(bytes))
}

fn request(subject: &Subject, seed: &str, content: &str, known: &Fetched) -> ExpandRequest {
    ExpandRequest {
        name: subject.deployment.to_string(),
        content: content.to_owned(),
        imports: known.imports.files().to_vec(),
        env: subject.environment(),
        scopes: known.scopes.clone(),
        values: subject.values.clone(),
        seed: seed.to_owned(),
    }
}

fn refused(code: ErrorCode, message: String) -> Box<ErrorBody> {
    Box::new(ErrorBody::new(code, message))
}

fn too_many(error: &ImportsError) -> Box<ErrorBody> {
    refused(ErrorCode::InvalidRequest, error.to_string())
}

fn not_on_record(reference: &TypeName, record: &Record) -> Box<ErrorBody> {
    let to = match &record.manifest {
        Some(manifest) => {
            format!("what {manifest} resolved, and that has no such reference on record")
        }
        None => "a manifest, and the deployment has none".to_owned(),
    };
    let message = format!(
        "type {:?} is to be locked to {to}; without locked=true it is resolved",
        reference.as_str(),
    );
    refused(ErrorCode::PreconditionFailed, message)
}

fn unresolved(reference: &TypeName, error: &RegistryError) -> Box<ErrorBody> {
    let message = format!("type {:?} cannot be resolved: {error}", reference.as_str());
    refused(error.code(), message)
}

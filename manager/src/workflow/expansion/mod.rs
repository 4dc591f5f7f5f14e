//! Expands a configuration to primitive resources, including its template references.
//!
//! The expander knows only the files in its request. An unresolved type with the form of a template reference is
//! fetched from its registry, and the configuration is expanded again with it, until nothing new is found. A reference
//! resolves to its present meaning, unless the caller chooses otherwise ([`Choice`]).

pub mod choice;
pub mod cluster;
pub mod redacting;
pub mod stored_types;
pub mod values;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD as STANDARD;
use common::api::cluster::{Capabilities, LookupAnswer};
use common::api::error::{ErrorBody, ErrorCode};
use common::api::expander::{Environment, ExpandRequest, ExpandResponse};
use common::api::manager::Expansion;
use common::api::plan::{PlanAction, PlanAnswer, PlanRequest, PlanSources, SourcesRequest};
use common::model::language;
use common::model::{
    AppliedChart, ClusterName, DeploymentName, GeneratedValue, InputConfig, Layout, ManifestName,
    Namespace, ResolvedType, Scope, TypeName,
};
use common::redact::REDACTED;
use common::work::{self, Size};
use jiff::Timestamp;
use manager_registry::{Identity, Registries, RegistryError, ResolvedTemplate};
use ring::rand::{SecureRandom as _, SystemRandom};
use serde_json::{Map, Value};
use tokio::time::Instant;

use self::choice::{Choice, Instead};
use self::cluster::{ClusterViews, View};
use self::stored_types::StoredTypes;
use super::retry::Retry;
use crate::deployer::Deployers;
use crate::domain::deployment::service_binding;
use crate::domain::manifest::imports::{Imports, ImportsError};
use crate::domain::manifest::resolution::{Record, Recorded};
use crate::domain::place::Source;
use crate::domain::redaction;
use crate::expander::Expander;

/// The maximum number of rounds of fetching and expanding. Each round finds references that are nested one level
/// deeper.
const ROUNDS: usize = 32;
/// The maximum number of templates that are fetched for one configuration.
const TEMPLATES: usize = 200;

/// The deadline of one look into the cluster for a plan.
const LOOK: Duration = Duration::from_secs(20);

/// A longer reference is clipped where an error quotes it.
const QUOTED_CHARS: usize = 80;

/// What was fetched for the references so far.
#[derive(Default)]
struct Fetched {
    imports: Imports,
    scopes: BTreeMap<String, Scope>,
    templates: Vec<Recorded>,
    warnings: Vec<String>,
    /// What the cluster can do, if there are charts.
    capabilities: Option<Arc<Capabilities>>,
    /// What charts have looked up, if they may.
    lookups: Option<Vec<LookupAnswer>>,
    /// What plans are asked, and the live objects that were found for them.
    plans: PlanRequest,
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
    pub cluster: ClusterName,
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
    /// The charts that were applied before.
    pub charts: Vec<AppliedChart>,
    /// What charts see, if not what the cluster can do.
    pub capabilities: Option<Arc<Capabilities>>,
    /// Whether charts may look up objects.
    pub view: View,
    /// Who looks for the live objects that plans see. Without anybody, plans see none.
    pub looker: Option<Looker>,
}

/// Who looks into the cluster for plans: the user that the deployment acts as, or resourcifier itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Looker(pub Option<common::model::Identity>);

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
    views: ClusterViews,
    deployers: Arc<dyn Deployers>,
    retry: Retry,
}

impl Expansions {
    pub fn new(
        expander: Arc<dyn Expander>,
        registries: Arc<Registries>,
        stored: StoredTypes,
        deployers: Arc<dyn Deployers>,
        retry: Retry,
    ) -> Self {
        Self {
            deployers: deployers.clone(),
            expander,
            registries,
            stored,
            views: ClusterViews::new(deployers, retry.clone()),
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
        let rounds = self.rounds(subject, input, choice, PlanAction::Apply, deadline);
        let rounds = async {
            let (response, known) = rounds.await?;
            let resources = &response.config.resources;
            let size = Size::of(resources.iter().flat_map(|one| &one.properties));
            let is_binding = service_binding::is_one(&subject.broker);
            work::sized(size, move || expanded(response, known, is_binding)).await
        };
        in_time(subject, deadline, rounds).await
    }

    /// What the plans in a configuration answer, for instance how far their operations are.
    pub async fn ask(
        &self,
        subject: &Subject,
        input: InputConfig,
        choice: &Choice,
        action: PlanAction,
        deadline: Instant,
    ) -> Result<Vec<PlanAnswer>, Box<ErrorBody>> {
        let rounds = self.rounds(subject, input, choice, action, deadline);
        let (response, _) = in_time(subject, deadline, rounds).await?;
        Ok(response.plans)
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
        action: PlanAction,
        deadline: Instant,
    ) -> Result<(ExpandResponse, Fetched), Box<ErrorBody>> {
        let mut known = Fetched {
            plans: PlanRequest {
                action,
                found: Vec::new(),
            },
            imports: Imports::of_request(input.imports).map_err(|error| too_many(&error))?,
            capabilities: subject.capabilities.clone(),
            ..Fetched::default()
        };
        let seed = match &subject.seed {
            Some(seed) => seed.clone(),
            None => random_seed()?,
        };
        for _ in 0..ROUNDS {
            self.see_cluster(subject, &mut known, deadline).await?;
            let request = Arc::new(request(subject, &seed, &input.content, &known));
            let mut response = self.expanded(&request, deadline).await?;
            if let (View::As(identity), false) = (&subject.view, response.lookups.is_empty()) {
                let wanted = std::mem::take(&mut response.lookups);
                let (answers, left) = (known.lookups.get_or_insert_default(), left(deadline));
                let view = self.views.of(&subject.cluster);
                view.look_up(identity.as_ref(), wanted, answers, left)
                    .await?;
                continue;
            }
            let references = self.references(&response, &known.imports)?;
            let wants = response.plans.iter().any(|plan| !plan.wants.is_empty());
            if references.is_empty() && !wants {
                return Ok((response, known));
            }
            self.look_for(&response.plans, subject, &mut known).await?;
            if let Err(refusal) = self.fetch(references, subject, choice, &mut known).await {
                return Err(refusal.placed(request, response.layout).await);
            }
        }
        Err(refused(
            ErrorCode::TooDeep,
            format!("template references lead to further ones more than {ROUNDS} levels deep"),
        ))
    }

    /// What charts see of the cluster, if there are charts. It stays the same until the end.
    async fn see_cluster(
        &self,
        subject: &Subject,
        known: &mut Fetched,
        deadline: Instant,
    ) -> Result<(), Box<ErrorBody>> {
        if known.capabilities.is_none() && cluster::has_charts(known.imports.files()) {
            let view = self.views.of(&subject.cluster);
            known.capabilities = Some(view.capabilities(left(deadline)).await?);
            if subject.view != View::None {
                known.lookups = Some(Vec::new());
            }
        }
        Ok(())
    }

    /// The template references that are not among the files yet.
    fn references(
        &self,
        response: &ExpandResponse,
        imports: &Imports,
    ) -> Result<Vec<TypeName>, Box<ErrorBody>> {
        let is_reference =
            |name: &str| stored_types::recognises(name) || self.registries.recognises(name);
        // Of a type that is a part of a file, the file is what is fetched.
        let file = |name: &String| match language::part(name) {
            Some((file, _)) => file.to_owned(),
            None => name.clone(),
        };
        let mut new: Vec<String> = Vec::new();
        for name in response.unresolved.iter().map(file) {
            if !imports.contains(&name) && is_reference(&name) && !new.contains(&name) {
                new.push(name);
            }
        }
        let parsed = new.into_iter().map(TypeName::parse);
        parsed
            .collect::<Result<_, _>>()
            .map_err(|error| refused(ErrorCode::InvalidConfiguration, error.to_string()))
    }

    /// Finds the live objects that plans must see before they go on.
    async fn look_for(
        &self,
        plans: &[PlanAnswer],
        subject: &Subject,
        known: &mut Fetched,
    ) -> Result<(), Box<ErrorBody>> {
        let deployer = self.deployers.of(&subject.cluster);
        for plan in plans.iter().filter(|plan| !plan.wants.is_empty()) {
            let objects = match &subject.looker {
                Some(Looker(identity)) => {
                    let request = Arc::new(SourcesRequest {
                        deployment: subject.deployment.clone(),
                        objects: plan.wants.iter().map(|one| one.object.clone()).collect(),
                        on_behalf_of: identity.clone(),
                    });
                    let look = || deployer.lookup(request.clone(), LOOK);
                    let found = self.retry.persist(look).await?;
                    known.warnings.extend(found.warnings);
                    found.objects
                }
                None => Vec::new(),
            };
            let named = plan.wants.iter().zip(objects);
            let named = named.filter_map(|(one, object)| Some((one.key.clone(), object?)));
            known.plans.found.push(PlanSources {
                path: plan.path.clone(),
                objects: named.collect(),
            });
        }
        Ok(())
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
    let looked_up = known.lookups.as_deref().unwrap_or_default();
    expansion.secrets.extend(cluster::secrets(looked_up));
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

/// An expansion that ends at its deadline.
async fn in_time<T>(
    subject: &Subject,
    deadline: Instant,
    work: impl Future<Output = Result<T, Box<ErrorBody>>>,
) -> Result<T, Box<ErrorBody>> {
    match tokio::time::timeout_at(deadline, work).await {
        Ok(outcome) => outcome,
        Err(_) => {
            let name = &subject.deployment;
            let message = format!("the expansion of {name} did not finish in time");
            Err(refused(ErrorCode::Timeout, message))
        }
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
        capabilities: known.capabilities.as_deref().cloned(),
        charts: subject.charts.clone(),
        lookups: known.lookups.clone(),
        plans: known.plans.clone(),
        texts: false,
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

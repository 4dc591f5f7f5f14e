//! The one use case: expand a configuration, within a deadline.
//!
//! The expansion itself is synchronous and runs on a thread that may block; what is asynchronous
//! (Python's sandbox) is reached from there. A caller that goes away, or a deadline that passes,
//! stops it.

use std::sync::Arc;
use std::time::Duration;

use common::api::error::{ErrorBody, ErrorCode};
use common::api::expander::{ExpandRequest, ExpandResponse};
use common::model::limits;
use common::server::ApiError;
use common::server::health::Check;
use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tokio::time::Instant;

use crate::cache::Key;
use crate::engine::Engines;
use crate::engine::jinja::{self, Jinja, JinjaCache};
use crate::engine::python::{self, Opening, Python};
use crate::expansion::{
    self, Bounds, Budget, ExpansionError, Fault, Files, Input, SchemaCache, Stop,
};
use crate::sandbox::{self, Sandbox};

/// Expansions at once; each may hold some hundred MiB at worst, and real ones end within milliseconds.
const AT_ONCE: usize = 16;

/// What an operator may set.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// Wall time of one expansion, all of its templates together.
    pub timeout: Duration,
    pub bounds: Bounds,
    pub jinja: jinja::Limits,
    pub python: sandbox::Limits,
}

/// Expands configurations.
pub struct Expander {
    options: Options,
    sandbox: Arc<Sandbox>,
    schemas: Arc<SchemaCache>,
    templates: Arc<JinjaCache>,
    turns: Arc<Semaphore>,
}

impl Expander {
    pub fn new(options: Options, sandbox: Sandbox) -> Self {
        Self {
            options,
            sandbox: Arc::new(sandbox),
            schemas: Arc::new(expansion::schema_cache()),
            templates: Arc::new(jinja::cache()),
            turns: Arc::new(Semaphore::new(AT_ONCE)),
        }
    }

    pub async fn expand(&self, request: ExpandRequest) -> Result<ExpandResponse, ApiError> {
        let deadline = Instant::now() + self.options.timeout;
        check_size(&request)?;
        let turn = tokio::time::timeout_at(deadline, Arc::clone(&self.turns).acquire_owned()).await;
        let Ok(Ok(turn)) = turn else {
            return Err(ApiError::new(
                ErrorCode::Unavailable,
                "all expansions that may run at once are running; try again",
            ));
        };
        let stop = StopOnDrop(Stop::default());
        let job = self.job(request, deadline, stop.0.clone());
        let running = tokio::task::spawn_blocking(move || {
            let _turn = turn;
            job.run()
        });
        match tokio::time::timeout_at(deadline, running).await {
            Ok(Ok(outcome)) => outcome.map_err(ApiError),
            Ok(Err(panicked)) => Err(ApiError::internal(&panicked)),
            Err(_) => Err(ApiError::new(
                ErrorCode::TemplateTimeout,
                too_long(self.options.timeout),
            )),
        }
    }

    fn job(&self, request: ExpandRequest, deadline: Instant, stop: Stop) -> Job {
        Job {
            request,
            deadline,
            stop,
            options: self.options,
            sandbox: Arc::clone(&self.sandbox),
            schemas: Arc::clone(&self.schemas),
            templates: Arc::clone(&self.templates),
            runtime: Handle::current(),
        }
    }

    /// Jinja needs nothing; Python needs its worker, and a kernel that locks it in.
    pub async fn checks(&self) -> Vec<Check> {
        let health = self.sandbox.health().await.map(|health| {
            let missing = health.lockdown.missing();
            let lockdown = match missing.is_empty() {
                true => "locked down".to_owned(),
                false => format!("NOT fully locked down: {} missing", missing.join(", ")),
            };
            format!(
                "Python {}, {lockdown}, {} sessions",
                health.python_version, health.sessions
            )
        });
        vec![
            Check::ready("jinja", "in process"),
            Check::of("python", health),
        ]
    }
}

fn too_long(timeout: Duration) -> String {
    format!(
        "the expansion took longer than {} s, which is the most it may",
        timeout.as_secs_f32()
    )
}

fn check_size(request: &ExpandRequest) -> Result<(), ApiError> {
    if request.imports.len() <= limits::IMPORTS {
        return Ok(());
    }
    let message = format!(
        "the request has {} imports; {} are the most",
        request.imports.len(),
        limits::IMPORTS
    );
    Err(ApiError::new(ErrorCode::InvalidRequest, message))
}

/// Nobody waits any more once this is dropped.
struct StopOnDrop(Stop);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.set();
    }
}

/// One expansion, on a thread that may block.
struct Job {
    request: ExpandRequest,
    deadline: Instant,
    stop: Stop,
    options: Options,
    sandbox: Arc<Sandbox>,
    schemas: Arc<SchemaCache>,
    templates: Arc<JinjaCache>,
    runtime: Handle,
}

impl Job {
    /// Begins once more where the processes of templates were lost on the way: an expansion has no
    /// effects, and from its beginning it comes to the same bytes.
    fn run(mut self) -> Result<ExpandResponse, ErrorBody> {
        let seed = self.seed();
        let imports = std::mem::take(&mut self.request.imports);
        let files =
            Files::new(imports).map_err(|error| unlocated(error.into(), &self.request.name))?;
        let outcome = match self.attempt(&files, seed) {
            (Err(error), true) => {
                tracing::warn!(%error, "an expansion lost its process; trying again");
                self.attempt(&files, seed).0
            }
            (outcome, _) => outcome,
        };
        Ok(outcome?)
    }

    /// The outcome, and whether it failed only because a process was lost.
    fn attempt(&self, files: &Files, seed: u64) -> (Result<ExpandResponse, ExpansionError>, bool) {
        let request = &self.request;
        let opening = Opening {
            files: files.clone(),
            limits: self.options.python,
            current_time: python::current_time(&request.env),
            seed,
        };
        let sandbox = Arc::clone(&self.sandbox);
        let mut engines = Engines {
            jinja: Jinja::new(
                files,
                self.options.jinja,
                &self.templates,
                self.stop.clone(),
            ),
            python: Python::new(self.runtime.clone(), sandbox, self.deadline, opening),
        };
        let input = Input {
            name: &request.name,
            content: &request.content,
            files,
            env: &request.env,
            scopes: &request.scopes,
        };
        let budget = Budget::new(self.options.bounds, self.stop.clone());
        let outcome = expansion::expand(&input, &mut engines, &self.schemas, budget);
        (outcome, engines.python.is_lost())
    }

    /// Randomness in templates differs from input to input, and only then.
    fn seed(&self) -> u64 {
        let request = &self.request;
        let imports = request
            .imports
            .iter()
            .flat_map(|import| [import.name.as_str(), import.content.as_str()]);
        Key::of([request.content.as_str()].into_iter().chain(imports)).number()
    }
}

fn unlocated(fault: Fault, name: &str) -> ExpansionError {
    fault.at(common::api::error::Location {
        file: Some(name.to_owned()),
        ..Default::default()
    })
}

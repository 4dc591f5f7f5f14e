//! One expansion after another, with their shared state.

use std::collections::{HashMap, HashSet};
use std::os::unix::net::UnixStream;

use common::api::error::{ErrorBody, ErrorCode, Location};
use common::api::expander::{ExpandRequest, ExpandResponse};
use common::model::language::TABLE;
use common::model::{Language, limits};

use super::Answer;
use super::host::Host;
use crate::cache::Key;
use crate::engine::broker_config::{self, BrokerConfigCache, BrokerConfigs};
use crate::engine::charts::{self, ChartCache, Charts};
use crate::engine::go_template::GoTemplates;
use crate::engine::jinja::{self, Jinja, JinjaCache};
use crate::engine::manifests::Manifests;
use crate::engine::plans::Plans;
use crate::engine::python::{self, Opening, Python};
use crate::engine::template_object::{self, TemplateObjectCache, TemplateObjects};
use crate::engine::{Engine, Engines};
use crate::expansion::{self, At, ExpansionError, ExpansionStep, Fault, Input, SchemaCache, Watch};
use crate::input::{Budget, Files};
use crate::process::message::{ANSWER_BYTES, Expand, HEAD_BYTES, Limits};
use crate::process::note::{Digest, Note, NoteFile, Stage, short};

/// The shared state of all expansions of this process.
pub struct Expansions<'s> {
    host: Host<'s>,
    note: NoteFile,
    limits: Limits,
    schemas: SchemaCache,
    templates: JinjaCache,
    template_objects: TemplateObjectCache,
    charts: ChartCache,
    broker_configs: BrokerConfigCache,
}

impl<'s> Expansions<'s> {
    pub fn new(stream: &'s UnixStream, note: NoteFile, limits: Limits) -> Self {
        Self {
            host: Host::new(stream),
            note,
            limits,
            schemas: expansion::schema_cache(),
            templates: jinja::cache(),
            template_objects: template_object::cache(),
            charts: charts::cache(),
            broker_configs: broker_config::cache(),
        }
    }

    pub fn answer(&self, asked: &Expand, body: Vec<u8>) -> Answer {
        self.expand(asked, body)
            .and_then(|response| written(&response))
            .unwrap_or_else(|mut error| {
                error.request_id.clone_from(&asked.request_id);
                refusal(&error)
            })
    }

    fn expand(&self, asked: &Expand, body: Vec<u8>) -> Result<ExpandResponse, ErrorBody> {
        self.note(&Note {
            stage: Stage::Configuration,
            file: "the request".to_owned(),
            resource: None,
            path: None,
            digest: None,
        });
        let mut request: ExpandRequest = asked.format.read(&body).map_err(|error| error.0)?;
        drop(body);
        check_size(&request)?;
        let key = input_key(&request);
        let imports = std::mem::take(&mut request.imports);
        let files =
            Files::new(imports).map_err(|error| unlocated(Fault::from(error), &request.name))?;
        let mut watcher = Watcher {
            expansions: self,
            refused: asked.refused.iter().copied().collect(),
            digests: HashMap::new(),
            name: &request.name,
            input: Digest::from_bytes(key.bytes()),
        };
        watcher
            .before(ExpansionStep::Whole)
            .map_err(|fault| unlocated(fault, &request.name))?;
        Ok(self.run(&request, &files, key.number(), &mut watcher)?)
    }

    fn run(
        &self,
        request: &ExpandRequest,
        files: &Files,
        seed: u64,
        watcher: &mut Watcher<'_, '_>,
    ) -> Result<ExpandResponse, ExpansionError> {
        let engines = TABLE.iter().map(|row| {
            let engine = self.engine(row.language, request, files, seed);
            (row.language, engine)
        });
        let mut engines = Engines::new(engines.collect());
        let input = Input {
            name: &request.name,
            content: &request.content,
            files,
            env: &request.env,
            scopes: &request.scopes,
            values: &request.values,
            seed: &request.seed,
            charts: &request.charts,
            plans: &request.plans,
        };
        let budget = Budget::new(self.limits.bounds);
        expansion::expand(&input, &mut engines, &self.schemas, budget, watcher)
    }

    /// The engines of all languages. Add the engine of a new language here.
    fn engine<'e>(
        &'e self,
        language: Language,
        request: &'e ExpandRequest,
        files: &Files,
        seed: u64,
    ) -> Box<dyn Engine + 'e> {
        match language {
            Language::Jinja => Box::new(Jinja::new(files, self.limits.jinja, &self.templates)),
            Language::Python => {
                let opening = Opening {
                    files: files.clone(),
                    limits: self.limits.python,
                    current_time: python::current_time(&request.env),
                    seed,
                };
                Box::new(Python::new(self.host, opening))
            }
            Language::GoTemplate => Box::new(GoTemplates::new(files)),
            Language::TemplateObject => Box::new(TemplateObjects::new(&self.template_objects)),
            Language::BrokerConfig => {
                Box::new(BrokerConfigs::new(&self.broker_configs, &request.env))
            }
            Language::Plan => Box::new(Plans::new(files)),
            Language::Manifests => Box::new(Manifests),
            Language::Package | Language::Chart => Box::new(Charts::new(
                &self.charts,
                request.capabilities.as_ref(),
                request.lookups.as_deref(),
                request.texts,
            )),
        }
    }

    /// A note that cannot be written matters only after a crash.
    fn note(&self, note: &Note) {
        if let Err(error) = self.note.write(note) {
            eprintln!("expandybird: cannot write the note: {error}");
        }
    }
}

/// Records each step before it starts, and forbids those that have crashed processes.
struct Watcher<'a, 's> {
    expansions: &'a Expansions<'s>,
    refused: HashSet<Digest>,
    /// By the name of the import.
    digests: HashMap<String, Digest>,
    name: &'a str,
    input: Digest,
}

impl Watcher<'_, '_> {
    fn digest(&mut self, at: &At<'_>) -> Digest {
        if let Some(digest) = self.digests.get(&at.file.name) {
            return *digest;
        }
        let digest = Digest::of(&at.file.content);
        self.digests.insert(at.file.name.clone(), digest);
        digest
    }

    fn enter(
        &self,
        stage: Stage,
        file: &str,
        digest: Digest,
        at: Option<&At<'_>>,
    ) -> Result<(), Fault> {
        if self.refused.contains(&digest) {
            return Err(Fault::Blocked {
                file: file.to_owned(),
            });
        }
        self.expansions.note(&Note {
            stage,
            file: short(file),
            resource: at.map(|at| short(at.resource)),
            path: at.map(|at| short(&at.path.to_string())),
            digest: Some(digest),
        });
        Ok(())
    }
}

impl Watch for Watcher<'_, '_> {
    fn before(&mut self, step: ExpansionStep<'_>) -> Result<(), Fault> {
        let (stage, at) = match step {
            ExpansionStep::Whole => {
                return self.enter(Stage::Configuration, self.name, self.input, None);
            }
            ExpansionStep::Schema(at) => (Stage::Schema, at),
            ExpansionStep::Template(at) => (Stage::Template, at),
        };
        let digest = self.digest(&at);
        self.enter(stage, at.file.path(), digest, Some(&at))
    }
}

fn written(response: &ExpandResponse) -> Result<Answer, ErrorBody> {
    let mut bytes = vec![0; HEAD_BYTES];
    serde_json::to_writer(&mut bytes, response).map_err(|error| {
        let message = format!("the expansion cannot be written as JSON: {error}");
        ErrorBody::new(ErrorCode::InvalidConfiguration, message)
    })?;
    if bytes.len() - HEAD_BYTES > ANSWER_BYTES {
        let message = format!(
            "the expansion comes to more than {} MiB with its layout: split the configuration",
            ANSWER_BYTES >> 20
        );
        return Err(ErrorBody::new(ErrorCode::TemplateOutput, message));
    }
    Ok(Answer { code: None, bytes })
}

fn refusal(error: &ErrorBody) -> Answer {
    let mut bytes = vec![0; HEAD_BYTES];
    // Text, numbers and lists of them, so JSON can always represent it.
    if let Err(unwritable) = serde_json::to_writer(&mut bytes, error) {
        eprintln!("expandybird: an error cannot be written: {unwritable}");
    }
    Answer {
        code: Some(error.code),
        bytes,
    }
}

fn check_size(request: &ExpandRequest) -> Result<(), ErrorBody> {
    if request.imports.len() <= limits::IMPORTS {
        return Ok(());
    }
    let message = format!(
        "the request has {} imports; {} are the most",
        request.imports.len(),
        limits::IMPORTS
    );
    Err(ErrorBody::new(ErrorCode::InvalidRequest, message))
}

/// Randomness in templates depends only on the input.
fn input_key(request: &ExpandRequest) -> Key {
    let imports = request
        .imports
        .iter()
        .flat_map(|import| [import.name.as_str(), import.content.as_str()]);
    Key::of([request.content.as_str()].into_iter().chain(imports))
}

fn unlocated(fault: Fault, name: &str) -> ExpansionError {
    fault.at(Location {
        file: Some(name.to_owned()),
        ..Location::default()
    })
}

//! Plans of the Service Fabrik Inter-operator.
//!
//! Decides which template of a plan answers a request, and what its output becomes: resources, a chart with its values,
//! edits of live objects, or an answer for the manager. What a plan means, `expandybird-sfplan` knows.

mod fault;
mod inputs;
mod objects;

use common::api::plan::{PlanAction, PlanSource, PlanState, PlanStatus, WantedObject};
use common::manifests;
use common::model::{Import, language};
use expandybird_sfplan::{
    Action, Engine as Renderer, Made, Plan, Source, State, Status, Subject, render, sources,
    status, values,
};
use serde_json::{Map, Value, json};

use self::fault::{Fallible, failed, refused};
use super::python::current_time;
use super::values::MadeUp;
use super::{Engine, EngineError, Instance, Output, PlanInputs, PlanOutput, Rendered};
use crate::input::{Files, PLAN_TYPE};

/// Plans of one expansion.
pub struct Plans {
    files: Files,
}

impl Plans {
    pub fn new(files: &Files) -> Self {
        Self {
            files: files.clone(),
        }
    }
}

impl Engine for Plans {
    fn render(&mut self, instance: &Instance<'_>) -> Result<Output, EngineError> {
        let made_up = MadeUp::default();
        let run = Run {
            files: &self.files,
            instance,
            inputs: &instance.plan,
            plan: read(instance.template)?,
            subject: inputs::facts(instance).subject(),
            made_up: made_up.clone(),
        };
        let mut output = run.output().map_err(|error| *error)?;
        output.values = made_up.into_used();
        Ok(output)
    }
}

fn read(file: &Import) -> Result<Plan, EngineError> {
    let documents = manifests::read_plan(&file.content).map_err(|source| {
        EngineError::from(manifests::ManifestError::Yaml {
            file: file.path().to_owned(),
            source: Box::new(source),
        })
    })?;
    Plan::of_documents(&documents, id(&file.name)).map_err(|error| failed(file, &error))
}

/// The id of the plan that the name of a type says: `sfplan:ID`, or `FILE#ID`.
fn id(type_name: &str) -> Option<&str> {
    let part = || language::part(type_name).map(|(_, id)| id);
    type_name.strip_prefix(PLAN_TYPE).or_else(part)
}

/// One instance of a plan.
struct Run<'r> {
    files: &'r Files,
    instance: &'r Instance<'r>,
    inputs: &'r PlanInputs<'r>,
    plan: Plan,
    subject: Subject,
    made_up: MadeUp,
}

impl Run<'_> {
    fn output(mut self) -> Fallible<Output> {
        if self.inputs.action == PlanAction::Select {
            let selector = self.selector()?;
            return Ok(answer(PlanOutput {
                selector: Some(selector),
                ..PlanOutput::default()
            }));
        }
        let found = match self.inputs.found {
            Some(found) => found.clone(),
            None => {
                let text = self.printed(Action::Sources, &Map::new())?;
                let wanted = sources(&text).map_err(|error| self.failed(&error))?;
                if !wanted.is_empty() {
                    let wants = wanted.into_iter().map(|one| self.wanted(one)).collect();
                    return Ok(answer(PlanOutput {
                        wants,
                        ..PlanOutput::default()
                    }));
                }
                Map::new()
            }
        };
        match self.inputs.action {
            PlanAction::Status => self.status(&found),
            PlanAction::Apply | PlanAction::Select => self.applied(&found),
        }
    }

    fn action(&self) -> Action {
        match inputs::kind(self.instance) {
            inputs::Kind::Provision => Action::Provision,
            inputs::Kind::Bind => Action::Bind,
            inputs::Kind::Unbind => Action::Unbind,
        }
    }

    /// One trailing line end is no part of it.
    fn selector(&mut self) -> Fallible<String> {
        if !self.plan.has(Action::ClusterSelector) {
            return Ok(String::new());
        }
        let text = self.printed(Action::ClusterSelector, &Map::new())?;
        Ok(text.strip_suffix('\n').unwrap_or(&text).trim().to_owned())
    }

    fn status(&mut self, found: &Map<String, Value>) -> Fallible<Output> {
        let block = match self.action() {
            Action::Bind => "bind",
            Action::Unbind => "unbind",
            _ => "provision",
        };
        let text = self.printed(Action::Status, found)?;
        let status = status(&text, block).map_err(|error| self.failed(&error))?;
        Ok(answer(PlanOutput {
            status: Some(said(status)),
            ..PlanOutput::default()
        }))
    }

    fn applied(&mut self, found: &Map<String, Value>) -> Fallible<Output> {
        let action = self.action();
        let template = self.plan.template(action);
        let template = template.map_err(|error| self.failed(&error))?.clone();
        if template.engine == Renderer::Helm {
            let text = self.printed(action, found)?;
            let values = values(action, &text).map_err(|error| self.failed(&error))?;
            return Ok(chart(&self.subject.release(), template.url, values));
        }
        if template.text.is_empty()
            && let Some(url) = &template.url
            && self.files.named(url).is_none()
        {
            return Ok(chart("template", Some(url.clone()), Value::Null));
        }
        let text = self.printed(action, found)?;
        let (objects, edits) = objects::divided(self.instance, action, &text, found)?;
        let bytes = text.len();
        let mut output = Output::new(Rendered::Placed(objects::placed(objects, bytes)));
        output.plan = Some(PlanOutput {
            edits,
            ..PlanOutput::default()
        });
        Ok(output)
    }

    /// What the template of an action prints. Its text may be a file of its own.
    fn printed(&mut self, action: Action, found: &Map<String, Value>) -> Fallible<String> {
        let template = self.plan.template(action);
        let template = template.map_err(|error| self.failed(&error))?;
        if template.engine == Renderer::GoTemplate
            && template.text.is_empty()
            && let Some(file) = template
                .url
                .as_deref()
                .and_then(|url| self.files.named(url))
        {
            self.plan = self.plan.clone().with_text(action, &file.content);
        }
        let time = current_time(self.instance.env);
        let made = Made {
            host: self.made_up.host(&self.instance.values, time),
        };
        let text = render(&self.plan, action, &self.subject, found, made);
        text.map_err(|error| self.failed(&error))
    }

    fn wanted(&self, source: Source) -> PlanSource {
        let own = || self.subject.instance["metadata"]["namespace"].as_str();
        let namespace = source.namespace.or_else(|| own().map(str::to_owned));
        PlanSource {
            key: source.key,
            object: WantedObject {
                api_version: source.api_version,
                kind: source.kind,
                name: source.name,
                namespace,
            },
        }
    }

    fn failed(&self, error: &expandybird_sfplan::PlanError) -> Box<EngineError> {
        Box::new(failed(self.instance.template, error))
    }
}

/// No resources, only an answer.
fn answer(plan: PlanOutput) -> Output {
    Output {
        plan: Some(plan),
        ..Output::new(Rendered::Placed(Vec::new()))
    }
}

/// A chart as the only resource. The manager fetches it, if it is not a file of the request.
fn chart(name: &str, url: Option<String>, values: Value) -> Output {
    let resource = json!({"name": name, "type": url, "properties": values});
    Output {
        plan: Some(PlanOutput::default()),
        ..Output::new(Rendered::Data(json!({"resources": [resource]})))
    }
}

fn said(status: Status) -> PlanStatus {
    let (state, unknown) = match status.state {
        State::InProgress => (PlanState::InProgress, None),
        State::Succeeded => (PlanState::Succeeded, None),
        State::Failed => (PlanState::Failed, None),
        State::Unknown(text) => (PlanState::InProgress, Some(text)),
    };
    PlanStatus {
        state,
        unknown,
        error: status.error,
        response: status.response,
        dashboard_url: status.dashboard_url,
        instance_usable: status.instance_usable,
        update_repeatable: status.update_repeatable,
    }
}

/// For errors of objects.
fn invalid(instance: &Instance<'_>, message: String) -> Box<EngineError> {
    Box::new(refused(instance.template, message))
}

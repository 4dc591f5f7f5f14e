//! An expander that knows two kinds of text: JSON, which is the expansion itself, and what makes it fail.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use common::api::error::{ErrorBody, ErrorCode, Location};
use common::api::expander::{ExpandRequest, ExpandResponse};
use common::model::{
    Configuration, GeneratedValue, Layout, LayoutNode, Output, Resource, Scope, SecretValue,
};
use common::server::observe::health::Check;
use common::yaml::{self, Duplicates, Limits};

use super::Expander;
use crate::dependency::CallError;

/// The text that a template fails on.
pub const BROKEN: &str = "broken";

/// `content` is a configuration as JSON; a resource whose type an import names becomes the import's resources.
#[derive(Debug, Default)]
pub struct FakeExpander {
    requests: Mutex<Vec<ExpandRequest>>,
    /// Answers that come first, instead.
    failures: Mutex<VecDeque<ErrorBody>>,
    hangs: AtomicBool,
}

impl FakeExpander {
    pub fn fail_next(&self, times: usize, error: &ErrorBody) {
        self.failures
            .lock()
            .unwrap()
            .extend(std::iter::repeat_n(error.clone(), times));
    }

    /// From now on it does not answer.
    pub fn hang(&self) {
        self.hangs.store(true, Ordering::SeqCst);
    }

    pub fn requests(&self) -> Vec<ExpandRequest> {
        self.requests.lock().unwrap().clone()
    }
}

pub fn away() -> ErrorBody {
    ErrorBody::new(
        ErrorCode::ExpanderUnavailable,
        "expandybird cannot be reached",
    )
}

#[async_trait]
impl Expander for FakeExpander {
    async fn expand(
        &self,
        request: Arc<ExpandRequest>,
        _: Duration,
    ) -> Result<ExpandResponse, CallError> {
        let request = &*request;
        self.requests.lock().unwrap().push(request.clone());
        if self.hangs.load(Ordering::SeqCst) {
            std::future::pending::<()>().await;
        }
        if let Some(error) = self.failures.lock().unwrap().pop_front() {
            return Err(CallError::Refused(Box::new(error)));
        }
        let mut response = ExpandResponse::default();
        response.layout.resources = expand(request, &request.content, None, &mut response.config)
            .map_err(CallError::Refused)?;
        response.secrets = passwords(&response.layout);
        response.values = generated(request, &response.layout);
        response.config.outputs = outputs(request).map_err(CallError::Refused)?;
        for resource in &response.config.resources {
            let type_name = resource.type_name.to_string();
            if !response.unresolved.contains(&type_name) {
                response.unresolved.push(type_name);
            }
        }
        Ok(response)
    }

    async fn health(&self) -> Check {
        Check::ready("expandybird", "")
    }
}

/// The outputs of the configuration, or else those of its only instance.
fn outputs(request: &ExpandRequest) -> Result<Vec<Output>, Box<ErrorBody>> {
    let configuration = parse(request, &request.content)?;
    let [only] = &configuration.resources[..] else {
        return Ok(configuration.outputs);
    };
    let mut imports = request.imports.iter();
    let template = imports.find(|import| import.name == only.type_name.as_str());
    match template.filter(|_| configuration.outputs.is_empty()) {
        Some(template) => Ok(parse(request, &template.content)?.outputs),
        None => Ok(configuration.outputs),
    }
}

/// Every `password` that a template is given is secret.
fn passwords(layout: &Layout) -> Vec<SecretValue> {
    let nodes = layout.walk().into_iter();
    let given = nodes.filter_map(|(path, node)| {
        let value = node.properties.as_ref()?.get("password")?.clone();
        let pointer = "/password".to_owned();
        Some(SecretValue {
            path,
            pointer,
            value,
        })
    });
    given.collect()
}

/// Every instance with `generated: NAME` makes up a value of that name, from the seed.
fn generated(request: &ExpandRequest, layout: &Layout) -> Vec<GeneratedValue> {
    let nodes = layout.walk().into_iter();
    let made = nodes.filter_map(|(path, node)| {
        let name = node.properties.as_ref()?.get("generated")?.as_str()?;
        let mut kept = request.values.iter();
        let kept = kept.find(|one| one.name == name && one.instance.last() == Some(&node.name));
        let value = kept.map_or_else(|| request.seed.as_str().into(), |kept| kept.value.clone());
        Some(GeneratedValue {
            instance: vec![node.name.clone()],
            path,
            name: name.to_owned(),
            value,
            secret: true,
        })
    });
    made.collect()
}

fn expand(
    request: &ExpandRequest,
    content: &str,
    scope: Option<&Scope>,
    flat: &mut Configuration,
) -> Result<Vec<LayoutNode>, Box<ErrorBody>> {
    let nodes = parse(request, content)?
        .resources
        .into_iter()
        .map(|resource| node(request, resource, scope, flat));
    nodes.collect()
}

fn node(
    request: &ExpandRequest,
    mut resource: Resource,
    scope: Option<&Scope>,
    flat: &mut Configuration,
) -> Result<LayoutNode, Box<ErrorBody>> {
    if let Some(full) = scope.and_then(|scope| scope.qualify(resource.type_name.as_str())) {
        resource.type_name = full;
    }
    let template = request
        .imports
        .iter()
        .find(|import| import.name == resource.type_name.as_str());
    let mut node = LayoutNode {
        name: resource.name.clone(),
        type_name: resource.type_name.clone(),
        properties: None,
        resources: None,
        message: None,
        source: None,
        hook: Vec::new(),
        origin: None,
    };
    match template {
        Some(template) => {
            node.properties = resource.properties;
            node.resources = Some(expand(
                request,
                &template.content,
                request.scopes.get(&template.name),
                flat,
            )?);
        }
        None => flat.resources.push(resource),
    }
    Ok(node)
}

fn parse(request: &ExpandRequest, content: &str) -> Result<Configuration, Box<ErrorBody>> {
    if content.trim() == "resources: []" {
        return Ok(Configuration::default());
    }
    serde_json::from_str(content)
        .or_else(|error| written(content).ok_or(error))
        .map_err(|error| {
            let location = Location {
                file: Some(request.name.clone()),
                line: Some(3),
                ..Location::default()
            };
            let cause = ErrorBody::new(ErrorCode::TemplateFailed, error.to_string());
            Box::new(
                ErrorBody::new(
                    ErrorCode::TemplateFailed,
                    format!("{content} cannot be expanded"),
                )
                .at(location)
                .caused_by([cause]),
            )
        })
}

/// A configuration that the manager wrote, as YAML.
fn written(content: &str) -> Option<Configuration> {
    let read = yaml::read(content, &Limits::DEFAULT, Duplicates::Error).ok()?;
    serde_json::from_value(read.value).ok()
}

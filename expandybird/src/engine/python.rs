//! Python templates, in the sandbox: one session an expansion, opened by the first of them.
//!
//! Blocks the thread that it is called on, which is one that may block; the session's deadline
//! bounds every call.

use std::sync::Arc;

use common::api::error::ErrorCode;
use serde_json::{Map, Value};
use tokio::runtime::Handle;
use tokio::time::Instant;

use super::{Engine, EngineError, Instance, Output, Rendered};
use crate::expansion::Files;
use crate::sandbox::{self, Failure, Sandbox, SandboxError, Session, TemplateResult};

pub struct Python {
    runtime: Handle,
    sandbox: Arc<Sandbox>,
    deadline: Instant,
    opening: Opening,
    session: Option<Session>,
    is_lost: bool,
}

/// What a session is opened with.
pub struct Opening {
    pub files: Files,
    pub limits: sandbox::Limits,
    /// What clocks show: the input's own time, so that the same input gives the same bytes.
    pub current_time: i64,
    pub seed: u64,
}

impl Python {
    pub fn new(
        runtime: Handle,
        sandbox: Arc<Sandbox>,
        deadline: Instant,
        opening: Opening,
    ) -> Self {
        Self {
            runtime,
            sandbox,
            deadline,
            opening,
            session: None,
            is_lost: false,
        }
    }

    /// Whether the session was lost through no fault of a template: the whole may be tried again.
    pub fn is_lost(&self) -> bool {
        self.is_lost
    }

    fn open(&self) -> Result<Session, SandboxError> {
        let imports = self
            .opening
            .files
            .all()
            .iter()
            .map(|import| sandbox::Import {
                name: import.name.clone(),
                path: import.path().to_owned(),
                content: import.content.clone(),
            });
        let open = sandbox::Open {
            imports: imports.collect(),
            limits: self.opening.limits,
            current_time: self.opening.current_time,
            seed: self.opening.seed,
        };
        self.runtime
            .block_on(self.sandbox.session(open, self.deadline))
    }

    fn call(&mut self, instance: &Instance<'_>) -> Result<sandbox::Output, SandboxError> {
        let mut session = match self.session.take() {
            Some(session) => session,
            None => self.open()?,
        };
        let call = sandbox::Call {
            template: instance.template.name.clone(),
            env: instance.env.clone(),
            properties: instance.properties.cloned(),
        };
        let output = self.runtime.block_on(session.call(call));
        self.session = Some(session);
        output
    }
}

impl Engine for Python {
    fn render(&mut self, instance: &Instance<'_>) -> Result<Output, EngineError> {
        let output = self.call(instance).map_err(|error| {
            self.is_lost |= matches!(error, SandboxError::Lost);
            described(&error, instance.template.path())
        })?;
        Ok(Output {
            result: match output.result {
                TemplateResult::Text(text) => Rendered::Text(text),
                TemplateResult::Data(value) => Rendered::Data(value),
            },
            warnings: printed(&output.printed, instance.template.path()),
        })
    }
}

/// Whoever prints wants it to be seen; the result is no place for it.
fn printed(text: &str, file: &str) -> Vec<String> {
    const SHOWN: usize = 200;
    let text = text.trim();
    if text.is_empty() {
        return Vec::new();
    }
    let mut shown: String = text.chars().take(SHOWN).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    vec![format!("{file} printed, outside of its result: {shown}")]
}

/// The template's innermost frame is the place; the others are shown above it.
fn described(error: &SandboxError, file: &str) -> EngineError {
    let failure = error.failure();
    let innermost = failure.and_then(|failure| failure.frames.last());
    let hint = failure.and_then(|failure| failure.hint.as_deref());
    let message = match hint {
        Some(hint) => format!("template '{file}' failed: {error} ({hint})"),
        None => format!("template '{file}' failed: {error}"),
    };
    EngineError {
        code: error.code(),
        message: if error.code() == ErrorCode::ExpanderUnavailable {
            error.to_string()
        } else {
            message
        },
        file: Some(innermost.map_or_else(|| file.to_owned(), |frame| frame.file.clone())),
        line: innermost.map(|frame| frame.line),
        column: innermost.and_then(|frame| frame.column),
        excerpt: failure.map(frames).unwrap_or_default(),
    }
}

fn frames(failure: &Failure) -> String {
    let shown = failure.frames.iter().map(|frame| {
        let sandbox::Frame {
            file,
            line,
            function,
            source,
            ..
        } = frame;
        format!("  {file}:{line} in {function}: {source}")
    });
    shown.collect::<Vec<_>>().join("\n")
}

/// The time that templates see: `env.current_time`, in seconds since 1970, as a number or as text; 0 without it.
pub fn current_time(env: &Map<String, Value>) -> i64 {
    match env.get("current_time") {
        Some(Value::Number(number)) => number.as_i64().unwrap_or_default(),
        Some(Value::String(text)) => text.parse().unwrap_or_default(),
        _ => 0,
    }
}

//! Python templates, in the sandbox: one session per expansion. The first Python template opens it.
//!
//! Blocks the current thread. The server ends the expansion at its deadline.

use std::io::{Read, Write};

use common::api::error::ErrorCode;
use serde_json::{Map, Value};

use super::{Engine, EngineError, Instance, Output, Rendered};
use crate::input::Files;
use crate::sandbox::{
    self, Conversation, Ended, Failure, HowEnded, SandboxError, TemplateResult, ended,
};

/// The source of processes for Python templates.
pub trait Sessions {
    type Stream: Read + Write;

    /// The stream of a process that waits for a session.
    fn open(&mut self) -> Result<Self::Stream, SandboxError>;

    /// How a process with a closed stream ended. `opened`: it had a template.
    fn how_it_ended(&mut self, opened: bool) -> Result<HowEnded, SandboxError>;
}

pub struct Python<S: Sessions> {
    sessions: S,
    opening: Opening,
    session: Option<Conversation<S::Stream>>,
}

/// The settings of a session.
pub struct Opening {
    pub files: Files,
    pub limits: sandbox::Limits,
    /// The time of all clocks: the time in the input, so that the same input gives the same output.
    pub current_time: i64,
    pub seed: u64,
}

impl<S: Sessions> Python<S> {
    pub fn new(sessions: S, opening: Opening) -> Self {
        Self {
            sessions,
            opening,
            session: None,
        }
    }

    fn open(&mut self) -> Result<Conversation<S::Stream>, SandboxError> {
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
        Conversation::new(self.sessions.open()?, open)
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
        let output = session.call(call);
        let opened = session.is_open();
        self.session = Some(session);
        output.map_err(|error| match error {
            Ended::Failed(error) => error,
            Ended::Closed => self
                .sessions
                .how_it_ended(opened)
                .map_or_else(|error| error, |how| ended(how, &self.opening.limits)),
        })
    }
}

impl<S: Sessions> Engine for Python<S> {
    fn render(&mut self, instance: &Instance<'_>) -> Result<Output, EngineError> {
        let output = self
            .call(instance)
            .map_err(|error| described(&error, instance.template.path()))?;
        let result = match output.result {
            TemplateResult::Text(text) => Rendered::Text(text),
            TemplateResult::Data(value) => Rendered::Data(value),
        };
        Ok(Output {
            warnings: printed(&output.printed, instance.template.path()),
            ..Output::new(result)
        })
    }
}

/// Printed output is for the author to see, and cannot be part of the result.
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

/// The location is the template's innermost frame. The other frames are shown above it.
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
        message: match error.code() {
            // The template is not the cause.
            ErrorCode::ExpanderUnavailable | ErrorCode::Unavailable => error.to_string(),
            _ => message,
        },
        file: Some(innermost.map_or_else(|| file.to_owned(), |frame| frame.file.clone())),
        line: innermost.map(|frame| frame.line),
        column: innermost.and_then(|frame| frame.column),
        excerpt: failure.map(frames).unwrap_or_default(),
        causes: Vec::new(),
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

/// The time that templates see: `env.current_time`, in seconds since 1970, as a number or a text. Default: 0.
pub fn current_time(env: &Map<String, Value>) -> i64 {
    match env.get("current_time") {
        Some(Value::Number(number)) => number.as_i64().unwrap_or_default(),
        Some(Value::String(text)) => text.parse().unwrap_or_default(),
        _ => 0,
    }
}

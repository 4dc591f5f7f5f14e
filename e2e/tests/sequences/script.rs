//! What a sequence did, as a person can do it again: requests as `curl` sends them, interference as `kubectl` does.

use std::fmt;
use std::time::Instant;

use serde_json::Value;

/// One request to the manager.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    pub method: reqwest::Method,
    /// With its query.
    pub path: String,
    pub headers: Vec<(&'static str, String)>,
    pub body: Option<Value>,
}

impl Request {
    pub fn new(method: reqwest::Method, path: String) -> Self {
        Self {
            method,
            path,
            headers: Vec::new(),
            body: None,
        }
    }

    pub fn get(path: String) -> Self {
        Self::new(reqwest::Method::GET, path)
    }

    pub fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    pub fn body(mut self, body: Value) -> Self {
        self.body = Some(body);
        self
    }
}

impl fmt::Display for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "curl -X {} \"$DM{}\"", self.method, self.path)?;
        for (name, value) in &self.headers {
            write!(f, " -H '{name}: {value}'")?;
        }
        if let Some(body) = &self.body {
            let body = body.to_string().replace('\'', "'\\''");
            write!(f, " -H 'content-type: application/json' -d '{body}'")?;
        }
        Ok(())
    }
}

/// The lines of one run, each with the seconds since its start.
#[derive(Debug, Clone)]
pub struct Script {
    start: Instant,
    lines: Vec<String>,
}

impl Script {
    pub fn new() -> Self {
        Self {
            start: Instant::now(),
            lines: Vec::new(),
        }
    }

    /// Something that a person can run.
    pub fn run(&mut self, command: impl fmt::Display) {
        self.lines.push(format!(
            "# {:.2} s\n{command}",
            self.start.elapsed().as_secs_f32()
        ));
    }

    /// What came of it.
    pub fn note(&mut self, text: impl fmt::Display) {
        let at = self.start.elapsed().as_secs_f32();
        self.lines.push(format!("#   {at:.2} s: {text}"));
    }
}

impl fmt::Display for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.lines.join("\n"))
    }
}

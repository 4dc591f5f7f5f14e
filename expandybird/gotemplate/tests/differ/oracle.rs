//! Go's own `text/template`, in a process.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::LazyLock;

use serde::Deserialize;

use crate::case::{Answer, Case};
use crate::go;

static PROGRAM: LazyLock<PathBuf> = LazyLock::new(|| {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/oracle");
    go::build(folder, "gotemplate-oracle")
});

pub struct Oracle {
    process: Child,
    requests: ChildStdin,
    responses: BufReader<ChildStdout>,
}

#[derive(Deserialize)]
struct Response {
    output: Option<String>,
    error: String,
}

impl Oracle {
    pub fn start() -> Self {
        let mut process = Command::new(&*PROGRAM)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        Self {
            requests: process.stdin.take().unwrap(),
            responses: BufReader::new(process.stdout.take().unwrap()),
            process,
        }
    }

    pub fn answer(&mut self, case: &Case) -> Answer {
        writeln!(self.requests, "{}", case.request()).unwrap();
        let mut line = String::new();
        self.responses.read_line(&mut line).unwrap();
        let response: Response = serde_json::from_str(&line).unwrap();
        if response.error.is_empty() {
            let output = response.output.unwrap_or_default();
            let bytes = base64::Engine::decode(&base64::prelude::BASE64_STANDARD, output);
            return Ok(bytes.unwrap().escape_ascii().to_string());
        }
        Err(response.error)
    }
}

impl Drop for Oracle {
    fn drop(&mut self) {
        let _ended_already = self.process.kill();
        let _status = self.process.wait();
    }
}

//! The program of Go that runs the real Sprig.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::go;

/// What a template gave.
#[derive(Debug, PartialEq, Eq)]
pub enum Answer {
    /// Its text, lossily read.
    Output(String),
    /// Its error.
    Error(String),
    /// The original crashed, on a map that contains itself; or we stopped at a limit.
    Died,
}

#[derive(serde::Deserialize)]
struct Line {
    output: Option<String>,
    error: String,
}

/// The answer to each template. The original starts anew after a template that killed it.
pub fn answers(templates: &[String], data: &serde_json::Value) -> Vec<Answer> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/oracle");
    let program = go::build(folder, "sprig-oracle");
    let mut all = Vec::with_capacity(templates.len());
    while let Some(rest) = templates.get(all.len()..).filter(|rest| !rest.is_empty()) {
        all.extend(run(&program, rest, data));
        if all.len() < templates.len() {
            all.push(Answer::Died);
        }
    }
    all
}

/// The answers to as many templates as the program survived.
fn run(program: &Path, templates: &[String], data: &serde_json::Value) -> Vec<Answer> {
    let mut command = Command::new(program);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut child = command.spawn().expect("the program starts");
    let mut input = child.stdin.take().expect("it has an input");
    let request = |template| {
        format!(
            "{}\n",
            serde_json::json!({"template": template, "data": data})
        )
    };
    let lines: String = templates.iter().map(request).collect();
    // The program does not read to the end if it dies.
    let writer = std::thread::spawn(move || input.write_all(lines.as_bytes()));
    let output = child.wait_with_output().expect("it ends");
    drop(writer.join());
    let lines = output
        .stdout
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty());
    lines.map(read).collect()
}

fn read(line: &[u8]) -> Answer {
    let line: Line = serde_json::from_slice(line).expect("each line is an answer");
    if !line.error.is_empty() {
        return Answer::Error(line.error);
    }
    let output = line.output.unwrap_or_default();
    let bytes = data_encoding::BASE64
        .decode(output.as_bytes())
        .expect("bytes are base 64");
    Answer::Output(String::from_utf8_lossy(&bytes).into_owned())
}

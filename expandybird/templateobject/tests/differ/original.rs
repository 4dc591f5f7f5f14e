//! The program of Go that runs OpenShift's own processor.

use std::io::Write as _;
use std::process::{Command, Stdio};

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::go;

/// What a Template gave.
#[derive(Debug, Default, Deserialize)]
pub struct Answer {
    #[serde(default)]
    pub objects: Option<Vec<Value>>,
    #[serde(default)]
    pub message: String,
    /// The values of all parameters.
    #[serde(default)]
    pub values: Option<Map<String, Value>>,
    #[serde(default)]
    pub errors: Option<Vec<String>>,
    /// The original crashed.
    #[serde(default)]
    pub died: bool,
}

/// The answer to each Template.
pub fn answers(templates: &[Value]) -> Vec<Answer> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/oracle");
    let program = go::build(folder, "templateobject-oracle");
    let mut command = Command::new(program);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().expect("the program starts");
    let mut input = child.stdin.take().expect("it has an input");
    let lines: String = templates.iter().map(|one| format!("{one}\n")).collect();
    let writer = std::thread::spawn(move || input.write_all(lines.as_bytes()));
    let output = child.wait_with_output().expect("it ends");
    writer.join().expect("it reads").expect("it reads all");
    let lines = output.stdout.split(|byte| *byte == b'\n');
    let lines = lines.filter(|line| !line.is_empty());
    lines
        .map(|line| serde_json::from_slice(line).expect("each line is an answer"))
        .collect()
}

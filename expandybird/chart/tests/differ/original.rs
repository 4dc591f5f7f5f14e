//! The program of Go that runs the real Helm.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};

use data_encoding::BASE64;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::case::Case;
use crate::go;

#[derive(Debug, Default, Deserialize, PartialEq, Eq)]
pub struct Answer {
    pub manifests: Option<Vec<Manifest>>,
    pub hooks: Option<Vec<Hook>>,
    pub crds: Option<Vec<String>>,
    pub notes: String,
    pub error: String,
}

#[derive(Debug, Deserialize, PartialEq, Eq)]
pub struct Manifest {
    pub path: String,
    pub kind: String,
    pub text: String,
}

#[derive(Debug, Deserialize, PartialEq, Eq)]
pub struct Hook {
    pub path: String,
    pub kind: String,
    pub text: String,
    pub name: String,
    pub events: Vec<String>,
    pub weight: i64,
    pub policies: Vec<String>,
}

/// What Helm makes of each case.
pub fn answers(cases: &[Case]) -> Vec<Answer> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/oracle");
    let program = go::build(folder, "helm-oracle");
    let mut child = Command::new(program)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut input = child.stdin.take().expect("it has an input");
    let requests: Vec<String> = cases.iter().map(request).collect();
    let writer = std::thread::spawn(move || input.write_all(requests.concat().as_bytes()));
    let output = BufReader::new(child.stdout.take().expect("it has an output"));
    let read = |line: Result<String, _>| {
        serde_json::from_str(&line.expect("it is text")).expect("each line is an answer")
    };
    let answers = output.lines().map(read).collect();
    writer.join().expect("it ends").expect("all is read");
    assert!(child.wait().expect("it ends").success());
    answers
}

fn request(case: &Case) -> String {
    let files = case.files.iter();
    let files = files.map(|(path, data)| (path.clone(), Value::from(BASE64.encode(data))));
    let request = json!({"files": files.collect::<Map<_, _>>(), "values": case.values});
    format!("{request}\n")
}

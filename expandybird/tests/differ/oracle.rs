//! The Python process that holds the originals.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde::Deserialize;
use serde_json::{Value, json};

/// What an original says.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    Ok(Value),
    Error(String),
    /// It has no answer that could be compared.
    Skip(String),
}

pub struct Oracle {
    process: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Oracle {
    pub fn start() -> Self {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let libraries = ["python", "originals"].map(|name| here.join("../target").join(name));
        assert!(
            libraries.iter().all(|library| library.exists()),
            "the originals are not in target/python and target/originals: run `make setup`"
        );
        let path = std::env::join_paths(&libraries).expect("the path has no colon");
        let mut process = Command::new("python3")
            .arg(here.join("tests/differ/oracle.py"))
            .env("PYTHONPATH", path)
            .env("PYTHONHASHSEED", "0")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("python3 starts");
        let requests = process.stdin.take().expect("it was piped");
        let answers = BufReader::new(process.stdout.take().expect("it was piped"));
        Self {
            process,
            requests,
            answers,
        }
    }

    pub fn ask<T: for<'de> Deserialize<'de>>(&mut self, kind: &str, cases: &[Value]) -> T {
        let request = json!({ "kind": kind, "cases": cases });
        writeln!(self.requests, "{request}").expect("the oracle takes requests");
        self.requests.flush().expect("the oracle takes requests");
        let mut answer = String::new();
        self.answers
            .read_line(&mut answer)
            .expect("the oracle answers");
        serde_json::from_str(&answer)
            .unwrap_or_else(|error| panic!("the oracle says {answer:?}: {error}"))
    }
}

impl Drop for Oracle {
    fn drop(&mut self) {
        // It ends with its input as well; nothing is lost if it has ended.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

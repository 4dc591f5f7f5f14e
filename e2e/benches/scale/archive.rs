//! The archive of a store with many deployments like one.

use anyhow::{Context, Result};
use bytes::Bytes;
use serde_json::json;
use sha2::{Digest, Sha256};

/// The deployment that is copied.
pub const SEED: &str = "seed-000000";
/// Lines that are sent together.
const LINES: usize = 512;

pub struct Archive {
    seed: Vec<String>,
    operation: String,
    count: usize,
    line: usize,
    copy: usize,
    entries: usize,
    digest: Sha256,
}

impl Archive {
    /// Of a backup's lines.
    pub fn new(mut seed: Vec<String>, count: usize) -> Result<Self> {
        seed.pop().context("an empty backup")?;
        let operation = seed
            .iter()
            .find_map(|line| Some(line.split_once("\"operation\\u0000")?.1));
        let operation = operation
            .and_then(|id| id.split('"').next())
            .context("no operation")?;
        Ok(Self {
            operation: operation.to_owned(),
            seed,
            count,
            line: 0,
            copy: 0,
            entries: 0,
            digest: Sha256::new(),
        })
    }

    /// The next lines, or none after the last.
    pub fn lines(&mut self) -> Option<Bytes> {
        let mut text = String::new();
        for _ in 0..LINES {
            let Some(line) = self.line() else { break };
            text += &line;
            text.push('\n');
        }
        (!text.is_empty()).then(|| Bytes::from(text))
    }

    fn line(&mut self) -> Option<String> {
        if self.line > self.seed.len() {
            return None;
        }
        let Some(line) = self.seed.get(self.line) else {
            self.line += 1;
            let digest = self.digest.clone().finalize();
            let sha256: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
            return Some(json!({"entries": self.entries, "sha256": sha256}).to_string());
        };
        let (copies, text) = self.copied(line);
        self.entries += usize::from(self.line > 0);
        self.digest.update(&text);
        self.digest.update("\n");
        self.copy += 1;
        if self.copy >= copies {
            (self.line, self.copy) = (self.line + 1, 0);
        }
        Some(text)
    }

    /// How many copies of a line there are, and this one.
    fn copied(&self, line: &str) -> (usize, String) {
        if line.starts_with("[\"type\\u0000") {
            return (1, line.replace(",\"1\"]", &format!(",\"{}\"]", self.count)));
        }
        if !line.contains(SEED) && !line.contains(&self.operation) {
            return (1, line.to_owned());
        }
        let (stem, _) = self.operation.split_at(self.operation.len() - 12);
        let text = line.replace(SEED, &format!("seed-{:06}", self.copy));
        (
            self.count,
            text.replace(&self.operation, &format!("{stem}{:012x}", self.copy)),
        )
    }
}

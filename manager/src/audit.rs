//! The audit log: a JSON line for each request that writes or is denied, and for the end of each operation. A line says
//! who did what, from where, and with what outcome.
//!
//! Lines contain names and codes, but no bodies, headers or secrets. A line that cannot be written does not stop its
//! request, because a full disk would stop everything. The failure is logged as an error, and the service is not ready
//! until a line can be written again. If the file is renamed or removed, as log rotation does, a new one is opened.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use common::api::error::ErrorCode;
use common::model::{DeploymentName, Operation, OperationId, OperationType};
use common::server::observe::health::Check;
use jiff::Timestamp;
use serde::Serialize;

/// Standard output.
const STDOUT: &str = "-";
/// A new file is for its owner alone. Log rotation may make it with other rights.
const MODE: u32 = 0o600;

/// Clones write to the same file. By default nothing is written.
#[derive(Clone, Default)]
pub struct Audit(Option<Arc<Mutex<Log>>>);

struct Log {
    place: AuditSink,
    /// Why the last line could not be written.
    fault: Option<String>,
}

enum AuditSink {
    Stdout,
    File { path: PathBuf, file: File },
}

#[derive(Debug, thiserror::Error)]
#[error("--audit-log {} cannot be opened: {source}", path.display())]
pub struct AuditError {
    path: PathBuf,
    source: io::Error,
}

/// How a request or an operation ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Outcome {
    Done,
    /// An operation continues the request.
    Accepted,
    Denied,
    Failed,
}

#[derive(Debug, Serialize)]
#[serde(
    tag = "event",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub enum Event<'a> {
    Request {
        #[serde(skip_serializing_if = "Option::is_none")]
        request_id: Option<String>,
        user: &'a str,
        #[serde(skip_serializing_if = "<[_]>::is_empty")]
        groups: &'a [String],
        #[serde(skip_serializing_if = "Option::is_none")]
        address: Option<&'a str>,
        method: &'a str,
        /// The route's pattern, not the path.
        route: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        deployment: Option<DeploymentName>,
        /// The operation that the request started, or is about.
        #[serde(skip_serializing_if = "Option::is_none")]
        operation: Option<OperationId>,
        status: u16,
        outcome: Outcome,
        #[serde(skip_serializing_if = "Option::is_none")]
        code: Option<ErrorCode>,
    },
    Operation {
        operation: &'a OperationId,
        #[serde(rename = "type")]
        operation_type: OperationType,
        deployment: &'a DeploymentName,
        user: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        address: Option<&'a str>,
        outcome: Outcome,
        #[serde(skip_serializing_if = "Option::is_none")]
        code: Option<ErrorCode>,
    },
}

#[derive(Serialize)]
struct Line<'a> {
    time: Timestamp,
    #[serde(flatten)]
    event: &'a Event<'a>,
}

impl Audit {
    /// Appends to a file, or to standard output for `-`.
    pub fn open(place: Option<&Path>) -> Result<Self, AuditError> {
        let Some(path) = place else {
            return Ok(Self::default());
        };
        let place = match path.as_os_str() == STDOUT {
            true => AuditSink::Stdout,
            false => AuditSink::File {
                file: opened(path).map_err(|source| AuditError {
                    path: path.to_owned(),
                    source,
                })?,
                path: path.to_owned(),
            },
        };
        let log = Log { place, fault: None };
        Ok(Self(Some(Arc::new(Mutex::new(log)))))
    }

    pub fn is_kept(&self) -> bool {
        self.0.is_some()
    }

    pub fn record(&self, event: &Event<'_>) {
        let Some(log) = &self.0 else {
            return;
        };
        let mut log = log.lock().unwrap_or_else(PoisonError::into_inner);
        let time = Timestamp::now();
        let written = log.place.write(&Line { time, event });
        log.fault = written.err().map(|error| {
            tracing::error!(%error, line = ?event, "a line of the audit log cannot be written: {error}");
            error.to_string()
        });
    }

    /// An operation's end.
    pub fn ended(&self, operation: &Operation) {
        self.record(&Event::Operation {
            operation: &operation.id,
            operation_type: operation.operation_type,
            deployment: &operation.deployment,
            user: &operation.user,
            address: operation.from.as_deref(),
            outcome: match &operation.error {
                None => Outcome::Done,
                Some(error) => failure(error.code),
            },
            code: operation.error.as_ref().map(|error| error.code),
        });
    }

    /// None if no audit log is configured.
    pub fn health(&self) -> Option<Check> {
        let log = self
            .0
            .as_ref()?
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        Some(match &log.fault {
            None => Check::ready("audit log", ""),
            Some(fault) => Check::down(
                "audit log",
                format!("the last line is not written: {fault}"),
            ),
        })
    }
}

/// How auditors see a failure with this code.
pub fn failure(code: ErrorCode) -> Outcome {
    match code {
        ErrorCode::Unauthenticated | ErrorCode::Forbidden | ErrorCode::PermissionsMissing => {
            Outcome::Denied
        }
        _ => Outcome::Failed,
    }
}

impl AuditSink {
    /// One write per line, so that the lines of several processes do not mix.
    fn write(&mut self, line: &Line<'_>) -> io::Result<()> {
        let mut text = serde_json::to_vec(line)?;
        text.push(b'\n');
        match self {
            Self::Stdout => {
                let mut out = io::stdout().lock();
                out.write_all(&text)?;
                out.flush()
            }
            Self::File { path, file } => {
                if !is_same(path, file) {
                    *file = opened(path)?;
                }
                file.write_all(&text)
            }
        }
    }
}

fn opened(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.create(true).append(true).mode(MODE).open(path)
}

fn is_same(path: &Path, file: &File) -> bool {
    let (Ok(there), Ok(ours)) = (std::fs::metadata(path), file.metadata()) else {
        return false;
    };
    (there.dev(), there.ino()) == (ours.dev(), ours.ino())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(audit: &Audit, user: &str) {
        audit.record(&Event::Request {
            request_id: None,
            user,
            groups: &[],
            address: Some("127.0.0.1"),
            method: "POST",
            route: "/deployments",
            deployment: None,
            operation: None,
            status: 201,
            outcome: Outcome::Done,
            code: None,
        });
    }

    fn users(path: &Path) -> Vec<String> {
        let text = std::fs::read_to_string(path).unwrap();
        let line = |line| {
            let line: serde_json::Value = serde_json::from_str(line).unwrap();
            line["user"].as_str().unwrap().to_owned()
        };
        text.lines().map(line).collect()
    }

    #[test]
    fn lines_are_appended_and_a_rotated_file_is_opened_anew() {
        let folder = tempfile::tempdir().unwrap();
        let (path, old) = (folder.path().join("audit"), folder.path().join("audit.1"));
        for user in ["ann", "bob\n{}"] {
            write(&Audit::open(Some(&path)).unwrap(), user);
        }
        assert_eq!(users(&path), ["ann", "bob\n{}"]);
        let audit = Audit::open(Some(&path)).unwrap();
        write(&audit, "cay");
        std::fs::rename(&path, &old).unwrap();
        write(&audit, "dan");
        assert_eq!(users(&old), ["ann", "bob\n{}", "cay"]);
        assert_eq!(users(&path), ["dan"]);
        assert!(audit.health().unwrap().ready);
        for file in [path, old] {
            assert_eq!(file.metadata().unwrap().mode() & 0o777, MODE);
        }
    }

    #[test]
    fn who_may_not_is_denied_and_everything_else_fails() {
        use ErrorCode::{Forbidden, InvalidRequest, PermissionsMissing, Unauthenticated};
        for code in [Unauthenticated, Forbidden, PermissionsMissing] {
            assert_eq!(failure(code), Outcome::Denied, "{code}");
        }
        assert_eq!(failure(InvalidRequest), Outcome::Failed);
    }

    #[test]
    fn a_line_that_cannot_be_written_is_told_until_one_can() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit");
        let audit = Audit::open(Some(&path)).unwrap();
        std::fs::remove_file(&path).unwrap();
        std::fs::create_dir(&path).unwrap();
        write(&audit, "ann");
        assert!(!audit.health().unwrap().ready);
        std::fs::remove_dir(&path).unwrap();
        write(&audit, "ann");
        assert!(audit.health().unwrap().ready);
        assert!(Audit::open(Some(folder.path())).is_err());
    }
}

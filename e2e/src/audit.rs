//! The API server's audit log: each write that reached the cluster, in the order in which they were answered.

use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::Value;

/// One write that the API server took (status 2xx) and that was no dry run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditedWrite {
    /// RFC 3339 with microseconds, as the API server saw the request come in.
    pub received: String,
    /// `create`, `patch`, `delete`, ….
    pub verb: String,
    /// The plural of the kind: `configmaps`.
    pub resource: String,
    /// `status`, `scale`; empty for the object itself.
    pub subresource: String,
    /// Empty for objects of the whole cluster.
    pub namespace: String,
    /// Empty for a create whose name stands in its body only.
    pub name: String,
    /// Of the request, if it names one.
    pub field_manager: Option<String>,
    pub user_agent: String,
}

impl AuditedWrite {
    /// The operation that resourcifier wrote for, as its user agent names it.
    pub fn operation(&self) -> Option<&str> {
        let (_, named) = self.user_agent.split_once("(operation ")?;
        named.strip_suffix(')')
    }
}

/// Reads the log bit by bit.
#[derive(Debug)]
pub struct AuditLog {
    path: PathBuf,
    read: u64,
}

impl AuditLog {
    /// From its start, or from what is in it now.
    pub fn open(path: &Path, from_now: bool) -> Result<Self> {
        let read = match from_now {
            true => std::fs::metadata(path).map_or(0, |log| log.len()),
            false => 0,
        };
        Ok(Self {
            path: path.to_owned(),
            read,
        })
    }

    /// The writes since the last call.
    pub fn more(&mut self) -> Result<Vec<AuditedWrite>> {
        let mut file = std::fs::File::open(&self.path)
            .with_context(|| format!("no audit log {}", self.path.display()))?;
        file.seek(SeekFrom::Start(self.read))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        // A line that is being written is read next time.
        let whole = bytes
            .iter()
            .rposition(|byte| *byte == b'\n')
            .map_or(0, |end| end + 1);
        self.read += u64::try_from(whole)?;
        let lines = bytes[..whole].split(|byte| *byte == b'\n');
        let lines = lines.filter(|line| !line.is_empty());
        let mut writes = Vec::new();
        for line in lines {
            writes.extend(write(&serde_json::from_slice(line)?));
        }
        Ok(writes)
    }
}

fn write(event: &Value) -> Option<AuditedWrite> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let uri = event["requestURI"].as_str().unwrap_or_default();
    let taken = (200..300).contains(&event["responseStatus"]["code"].as_i64().unwrap_or_default());
    if !taken || uri.contains("dryRun=") {
        return None;
    }
    let query = uri.split_once('?').map_or("", |(_, query)| query);
    let manager = query
        .split('&')
        .find_map(|pair| pair.strip_prefix("fieldManager="));
    let object = &event["objectRef"];
    Some(AuditedWrite {
        received: text(&event["requestReceivedTimestamp"]),
        verb: text(&event["verb"]),
        resource: text(&object["resource"]),
        subresource: text(&object["subresource"]),
        namespace: text(&object["namespace"]),
        name: text(&object["name"]),
        field_manager: manager.map(str::to_owned),
        user_agent: text(&event["userAgent"]),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn event(uri: &str, code: u16) -> Value {
        json!({
            "requestURI": uri, "verb": "patch", "userAgent": "resourcifier/1 (operation op-1)",
            "objectRef": {"resource": "configmaps", "namespace": "n", "name": "a"},
            "responseStatus": {"code": code}, "requestReceivedTimestamp": "2026-01-01T00:00:00.000001Z",
        })
    }

    #[test]
    fn only_writes_that_changed_something_are_read() {
        assert_eq!(write(&event("/api/v1/x?fieldManager=dm-a", 409)), None);
        assert_eq!(write(&event("/api/v1/x?dryRun=All", 200)), None);
        let found = write(&event("/api/v1/x?force=true&fieldManager=dm-a", 201));
        assert_eq!(
            found.as_ref().and_then(|write| write.operation()),
            Some("op-1")
        );
        let manager = found.and_then(|write| write.field_manager);
        assert_eq!(manager.as_deref(), Some("dm-a"));
    }

    #[test]
    fn a_line_that_is_still_being_written_is_read_later() -> Result<()> {
        let file = tempfile::NamedTempFile::new()?;
        let line = format!("{}\n", event("/api/v1/x", 200));
        let (begin, end) = line.split_at(30);
        std::fs::write(file.path(), format!("{line}{begin}"))?;
        let mut log = AuditLog::open(file.path(), false)?;
        assert_eq!(log.more()?.len(), 1);
        assert_eq!(log.more()?.len(), 0);
        std::fs::write(file.path(), format!("{line}{begin}{end}"))?;
        assert_eq!(log.more()?.len(), 1);
        Ok(())
    }
}

//! The file with the tokens for one manager: only its user can read it, and one process writes it at a time.

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use common::model::Secret;
use ring::digest::{SHA256, digest};
use serde::{Deserialize, Serialize};

use super::LoginError;

/// What `dm login` has got, and how to get more.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SavedLogin {
    /// URL of the manager.
    pub service: String,
    pub issuer: String,
    pub client_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub issuer_ca: Option<PathBuf>,
    pub token: Secret,
    /// In seconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refresh_token: Option<Secret>,
}

/// The place of the tokens for a manager.
#[derive(Debug, Clone)]
pub struct LoginFile(PathBuf);

impl LoginFile {
    pub fn of(service: &str) -> Result<Self, LoginError> {
        Ok(Self::in_folder(&folder()?, service))
    }

    fn in_folder(folder: &Path, service: &str) -> Self {
        let digest = digest(&SHA256, service.trim_end_matches('/').as_bytes());
        let name: String = digest.as_ref()[..16]
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        Self(folder.join(format!("{name}.json")))
    }

    /// None if nobody is signed in.
    pub fn read(&self) -> Result<Option<SavedLogin>, LoginError> {
        let text = match fs::read(&self.0) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(self.failed(&error)),
        };
        let mode = fs::metadata(&self.0).map_err(|error| self.failed(&error))?;
        if mode.permissions().mode() & 0o077 != 0 {
            let reason = "other users can read it; run chmod 600 on it, or dm login again";
            return Err(self.fault(reason.to_owned()));
        }
        let read = serde_json::from_slice(&text);
        let reason = |error: serde_json::Error| format!("{error}; run dm login again");
        read.map(Some).map_err(|error| self.fault(reason(error)))
    }

    /// Whole or not at all.
    pub fn write(&self, login: &SavedLogin) -> Result<(), LoginError> {
        let text = serde_json::to_vec_pretty(login);
        let text = text.map_err(|error| self.fault(error.to_string()))?;
        let part = self.0.with_extension("part");
        let write = || {
            self.make_folder()?;
            // An old file keeps its mode, so it must go first.
            match fs::remove_file(&part) {
                Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
                _ => {}
            }
            let mut options = OpenOptions::new();
            let options = options.write(true).create_new(true).mode(0o600);
            let mut file = options.open(&part)?;
            file.write_all(&text)?;
            file.sync_all()?;
            fs::rename(&part, &self.0)
        };
        write().map_err(|error| self.failed(&error))
    }

    /// Whether there was a file.
    pub fn remove(&self) -> Result<bool, LoginError> {
        match fs::remove_file(&self.0) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
            Err(error) => Err(self.failed(&error)),
        }
    }

    /// Waits until no other process writes, and keeps others from it until the file is dropped.
    pub fn lock(&self) -> Result<File, LoginError> {
        let lock = || {
            self.make_folder()?;
            let mut options = OpenOptions::new();
            let options = options.write(true).create(true).truncate(false).mode(0o600);
            let file = options.open(self.0.with_extension("lock"))?;
            file.lock()?;
            Ok(file)
        };
        lock().map_err(|error: std::io::Error| self.failed(&error))
    }

    fn make_folder(&self) -> std::io::Result<()> {
        let Some(folder) = self.0.parent() else {
            return Ok(());
        };
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true).mode(0o700).create(folder)
    }

    fn failed(&self, error: &std::io::Error) -> LoginError {
        self.fault(error.to_string())
    }

    fn fault(&self, reason: String) -> LoginError {
        LoginError::File {
            file: self.0.clone(),
            reason,
        }
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the folder of a user's state is where the platform says"
)]
fn folder() -> Result<PathBuf, LoginError> {
    let named = std::env::var_os("XDG_STATE_HOME").filter(|value| !value.is_empty());
    let state = match named {
        Some(folder) => PathBuf::from(folder),
        None => std::env::home_dir()
            .ok_or(LoginError::NoHome)?
            .join(".local/state"),
    };
    Ok(state.join("dm").join("logins"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn login() -> SavedLogin {
        SavedLogin {
            service: "http://127.0.0.1:8080".to_owned(),
            issuer: "https://id".to_owned(),
            client_id: "dm".to_owned(),
            issuer_ca: None,
            token: Secret::new("t"),
            expires: Some(5),
            refresh_token: None,
        }
    }

    #[test]
    fn tokens_are_for_their_user_only_and_for_one_manager() {
        let folder = tempfile::tempdir().unwrap();
        let place = LoginFile::in_folder(&folder.path().join("logins"), "http://127.0.0.1:8080/");
        assert!(place.read().unwrap().is_none());
        place.write(&login()).unwrap();
        place.write(&login()).unwrap();
        let mode = fs::metadata(&place.0).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let same = LoginFile::in_folder(&folder.path().join("logins"), "http://127.0.0.1:8080");
        assert_eq!(same.read().unwrap().unwrap().token.reveal(), "t");
        let other = LoginFile::in_folder(&folder.path().join("logins"), "http://127.0.0.1:8081");
        assert!(other.read().unwrap().is_none());
        fs::set_permissions(&place.0, fs::Permissions::from_mode(0o644)).unwrap();
        let error = place.read().unwrap_err().to_string();
        assert!(error.contains("chmod 600"), "{error}");
        assert!(place.remove().unwrap() && !place.remove().unwrap());
    }

    #[test]
    fn one_process_writes_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let place = LoginFile::in_folder(folder.path(), "http://127.0.0.1:8080");
        let held = place.lock().unwrap();
        let other = File::open(place.0.with_extension("lock")).unwrap();
        assert!(other.try_lock().is_err());
        drop(held);
        assert!(other.try_lock().is_ok());
    }
}

//! The adapter: each call of the port as one run of the kubectl program.
//!
//! Objects travel on stdin and credentials in the kubeconfig: neither is ever on the command line.
//! `--validate=false` costs nothing: server-side apply itself refuses unknown fields, while kubectl's own validation
//! stops a whole batch for one object, and before 1.34 decodes the OpenAPI document for each object.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use async_trait::async_trait;
use common::model::ObjectRef;
use serde_json::Value;
use tokio::sync::Semaphore;

use super::error::KubectlError;
use super::objects::{by_object, found, key, stdin, stub};
use super::process::{Finished, Invocation, run};
use super::{Cascade, Kubectl, Marks, Outcomes, Query, Versions, output, redact};
use crate::plan::ServedKind;

/// One request to the API server takes at most this long.
const REQUEST_TIMEOUT: &str = "--request-timeout=30s";
/// Discovery is a handful of requests.
const DISCOVERY: Duration = Duration::from_secs(20);
/// kubectl processes at once: each takes some 60 MiB.
const AT_ONCE: usize = 8;

/// Which kubectl, and which cluster.
#[derive(Debug, Clone)]
pub struct Settings {
    pub program: PathBuf,
    pub kubeconfig: Option<PathBuf>,
    pub context: Option<String>,
    /// A folder of the process's own for kubectl's cache: it goes by address, and must not outlive a cluster.
    pub cache: PathBuf,
}

#[derive(Debug)]
pub struct CommandLine {
    settings: Settings,
    slots: Semaphore,
}

impl CommandLine {
    pub fn new(settings: Settings) -> Self {
        Self {
            settings,
            slots: Semaphore::new(AT_ONCE),
        }
    }

    async fn run(
        &self,
        call: &'static str,
        arguments: &[&str],
        stdin: Vec<u8>,
        within: Duration,
    ) -> Result<Finished, KubectlError> {
        let missed = |_| KubectlError::TimedOut {
            call,
            seconds: within.as_secs(),
        };
        let _slot = tokio::time::timeout(within, self.slots.acquire())
            .await
            .map_err(missed)?;
        let invocation = Invocation {
            call,
            arguments: self.arguments(arguments),
            stdin,
            within,
        };
        let started = std::time::Instant::now();
        let finished = run(
            &self.settings.program,
            self.settings.kubeconfig.as_deref(),
            invocation,
        )
        .await?;
        tracing::debug!(
            kubectl.call = call,
            kubectl.success = finished.success,
            took_ms = started.elapsed().as_millis(),
            "ran kubectl {call}"
        );
        Ok(finished)
    }

    fn arguments(&self, arguments: &[&str]) -> Vec<OsString> {
        let mut all: Vec<OsString> = vec![
            REQUEST_TIMEOUT.into(),
            "--cache-dir".into(),
            self.settings.cache.as_os_str().into(),
        ];
        if let Some(context) = &self.settings.context {
            all.push(format!("--context={context}").into());
        }
        all.extend(arguments.iter().map(OsString::from));
        all
    }
}

/// What `kubectl apply` prints: all objects at its end, but none if one failed; or the name of each as it is done.
#[derive(Debug, Clone, Copy)]
enum Print {
    Objects,
    Names,
}

impl CommandLine {
    async fn get_all(
        &self,
        objects: &[ObjectRef],
        within: Duration,
    ) -> Result<Finished, KubectlError> {
        let arguments = ["get", "--ignore-not-found", "-o", "json", "-f", "-"];
        self.run("get", &arguments, stdin(objects.iter().map(stub)), within)
            .await
    }

    async fn apply_as(
        &self,
        print: Print,
        manager: &str,
        objects: &[Value],
        within: Duration,
    ) -> Result<Finished, KubectlError> {
        let manager = format!("--field-manager={manager}");
        let format = match print {
            Print::Objects => "json",
            Print::Names => "name",
        };
        let mut arguments = vec![
            "apply",
            "--server-side",
            "--force-conflicts=false",
            "--validate=false",
        ];
        arguments.extend([manager.as_str(), "-o", format, "-f", "-"]);
        let mut finished = self
            .run("apply", &arguments, stdin(objects.iter().cloned()), within)
            .await?;
        finished.stderr = redact::redacted(finished.stderr, objects);
        Ok(finished)
    }

    /// After a call in which something failed: the same once more, so that kubectl tells what succeeded.
    /// Applying what is applied changes nothing.
    async fn apply_and_tell(
        &self,
        manager: &str,
        objects: &[Value],
        refs: &[ObjectRef],
        within: Duration,
    ) -> Result<Outcomes<Value>, KubectlError> {
        let finished = self
            .apply_as(Print::Names, manager, objects, within)
            .await?;
        let done = output::done(refs, &String::from_utf8_lossy(&finished.stdout));
        let failed: Vec<usize> = (0..refs.len()).filter(|&index| !done[index]).collect();
        let mut errors = output::assign(refs, &failed, &finished.stderr);
        let applied: Vec<ObjectRef> = (0..refs.len())
            .filter(|&index| done[index])
            .map(|index| refs[index].clone())
            .collect();
        let mut live = self.get(&applied, within).await?.into_iter();
        let outcome = |index| match errors.remove(&index) {
            Some(error) => Err(error),
            None => live
                .next()
                .transpose()?
                .flatten()
                .ok_or_else(output::silence),
        };
        Ok((0..refs.len()).map(outcome).collect())
    }
}

#[async_trait]
impl Kubectl for CommandLine {
    async fn versions(&self, within: Duration) -> Result<Versions, KubectlError> {
        let finished = self
            .run("version", &["version", "-o", "json"], Vec::new(), within)
            .await?;
        let answer: Value =
            serde_json::from_slice(&finished.stdout).map_err(|_| failure("version", &finished))?;
        let version = |of: &str| answer[of]["gitVersion"].as_str().map(str::to_owned);
        let client =
            version("clientVersion").ok_or_else(|| malformed("version", "no client version"))?;
        let server =
            version("serverVersion").ok_or_else(|| failure("version", &finished).to_string());
        let skew = finished
            .stderr
            .lines()
            .find_map(|line| line.strip_prefix("WARNING: "))
            .map(str::to_owned);
        Ok(Versions {
            client,
            server,
            skew,
        })
    }

    async fn kinds(&self) -> Result<Vec<ServedKind>, KubectlError> {
        let arguments = ["api-resources", "-o", "wide", "--no-headers"];
        let finished = self
            .run("api-resources", &arguments, Vec::new(), DISCOVERY)
            .await?;
        let kinds = output::kinds(&String::from_utf8_lossy(&finished.stdout));
        if kinds.is_empty() {
            return Err(failure("api-resources", &finished));
        }
        if !finished.success {
            tracing::warn!(reason = %output::messages(&finished.stderr).join("; "), "the cluster tells only a part of its kinds");
        }
        Ok(kinds)
    }

    async fn kinds_of(&self, api_version: &str) -> Result<Vec<ServedKind>, KubectlError> {
        let path = if api_version.contains('/') {
            format!("/apis/{api_version}")
        } else {
            format!("/api/{api_version}")
        };
        let finished = self
            .run("get --raw", &["get", "--raw", &path], Vec::new(), DISCOVERY)
            .await?;
        if !finished.success {
            let error = failure("get --raw", &finished);
            return if error.is_transient() {
                Err(error)
            } else {
                Ok(Vec::new())
            };
        }
        let list = serde_json::from_slice(&finished.stdout)
            .map_err(|error| malformed("get --raw", &error.to_string()))?;
        Ok(output::kinds_of_list(&list, api_version))
    }

    async fn get(
        &self,
        objects: &[ObjectRef],
        within: Duration,
    ) -> Result<Outcomes<Option<Value>>, KubectlError> {
        if objects.is_empty() {
            return Ok(Vec::new());
        }
        let finished = self.get_all(objects, within).await?;
        if finished.success {
            return Ok(found(objects, by_object("get", &finished)?));
        }
        // kubectl prints no object if one cannot be read: the others are asked for again without those.
        let unreadable = output::named_errors(objects, &finished.stderr);
        if unreadable.is_empty() {
            return Err(failure("get", &finished));
        }
        let is_readable = |index: &usize| !unreadable.contains_key(index);
        let readable: Vec<ObjectRef> = (0..objects.len())
            .filter(is_readable)
            .map(|index| objects[index].clone())
            .collect();
        let mut found = match readable.is_empty() {
            true => HashMap::new(),
            false => by_object(
                "get",
                &succeeded("get", self.get_all(&readable, within).await?)?,
            )?,
        };
        let outcome = |(index, object): (usize, &ObjectRef)| match unreadable.get(&index) {
            Some(error) => Err(error.clone()),
            None => Ok(found.remove(&key(object))),
        };
        Ok(objects.iter().enumerate().map(outcome).collect())
    }

    async fn apply(
        &self,
        manager: &str,
        objects: &[Value],
        within: Duration,
    ) -> Result<Outcomes<Value>, KubectlError> {
        let refs: Vec<ObjectRef> = objects.iter().map(crate::plan::object_ref).collect();
        let finished = self
            .apply_as(Print::Objects, manager, objects, within)
            .await?;
        if finished.success {
            let mut applied = by_object("apply", &finished)?;
            let outcome = |object| applied.remove(&key(object)).ok_or_else(output::silence);
            return Ok(refs.iter().map(outcome).collect());
        }
        if refs.len() == 1 {
            return Ok(vec![Err(output::only_error(&finished.stderr))]);
        }
        self.apply_and_tell(manager, objects, &refs, within).await
    }

    async fn delete(
        &self,
        objects: &[ObjectRef],
        cascade: Cascade,
        within: Duration,
    ) -> Result<Outcomes<()>, KubectlError> {
        let cascade = match cascade {
            Cascade::Foreground => "--cascade=foreground",
            Cascade::Background => "--cascade=background",
        };
        let arguments = [
            "delete",
            "--ignore-not-found",
            "--wait=false",
            cascade,
            "-o",
            "name",
            "-f",
            "-",
        ];
        let finished = self
            .run(
                "delete",
                &arguments,
                stdin(objects.iter().map(stub)),
                within,
            )
            .await?;
        if finished.success {
            return Ok(objects.iter().map(|_| Ok(())).collect());
        }
        let messages = output::messages(&finished.stderr);
        let deleted = String::from_utf8_lossy(&finished.stdout).into_owned();
        let is_deleted = |object: &ObjectRef| {
            deleted
                .lines()
                .any(|line| line.ends_with(&format!("/{}", object.name)))
        };
        Ok(objects
            .iter()
            .map(|object| {
                match messages
                    .iter()
                    .find(|message| output::names(message, object))
                {
                    Some(message) => Err(output::object_error(message)),
                    None if is_deleted(object) => Ok(()),
                    None => Err(output::object_error(&messages.join("\n"))),
                }
            })
            .collect())
    }

    async fn unmark(
        &self,
        objects: &[ObjectRef],
        marks: &Marks<'_>,
        within: Duration,
    ) -> Result<(), KubectlError> {
        for (call, keys) in [("label", marks.labels), ("annotate", marks.annotations)] {
            let removals: Vec<String> = keys.iter().map(|key| format!("{key}-")).collect();
            let arguments: Vec<&str> = [call, "-f", "-"]
                .into_iter()
                .chain(removals.iter().map(String::as_str))
                .collect();
            let finished = self
                .run(call, &arguments, stdin(objects.iter().map(stub)), within)
                .await?;
            if !finished.success {
                return Err(failure(call, &finished));
            }
        }
        Ok(())
    }

    async fn read(
        &self,
        query: Query<'_>,
        within: Duration,
    ) -> Result<Option<Value>, KubectlError> {
        let (group, version) = query
            .kind
            .api_version
            .split_once('/')
            .unwrap_or(("", &query.kind.api_version));
        let resource = format!("{}.{version}.{group}", query.kind.resource);
        let mut arguments = vec!["get", "--ignore-not-found", "-o", "json"];
        match query.namespace {
            Some(namespace) => arguments.extend(["-n", namespace]),
            None if query.kind.namespaced => arguments.push("--all-namespaces"),
            None => {}
        }
        if let Some(selector) = query.selector {
            arguments.extend(["-l", selector]);
        }
        arguments.extend(["--", &resource]);
        arguments.extend(query.name);
        let finished = self.run("get", &arguments, Vec::new(), within).await?;
        if !finished.success {
            return Err(failure("get", &finished));
        }
        if finished.stdout.iter().all(u8::is_ascii_whitespace) {
            return Ok(None);
        }
        serde_json::from_slice(&finished.stdout)
            .map(Some)
            .map_err(|error| malformed("get", &error.to_string()))
    }
}

fn succeeded(call: &'static str, finished: Finished) -> Result<Finished, KubectlError> {
    if finished.success {
        Ok(finished)
    } else {
        Err(failure(call, &finished))
    }
}

fn failure(call: &'static str, finished: &Finished) -> KubectlError {
    let messages = output::messages(&finished.stderr);
    let text = if messages.is_empty() {
        finished.stderr.trim().to_owned()
    } else {
        messages.join("; ")
    };
    let error = output::object_error(&text);
    if error.fault == super::ObjectFault::Transient {
        KubectlError::Unreachable(error.text)
    } else {
        KubectlError::Failed {
            call,
            text: error.text,
        }
    }
}

fn malformed(call: &'static str, reason: &str) -> KubectlError {
    KubectlError::Malformed {
        call,
        reason: reason.to_owned(),
    }
}

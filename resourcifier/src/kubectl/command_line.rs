//! The adapter: each call of the port as one run of the kubectl program.
//!
//! Objects travel on stdin and credentials in the kubeconfig: neither is ever on the command line.
//! `--validate=false` costs nothing: server-side apply itself refuses unknown fields, while kubectl's own validation
//! stops a whole batch for one object, and before 1.34 decodes the OpenAPI document for each object.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use async_trait::async_trait;
use common::model::ObjectRef;
use serde_json::Value;
use tokio::sync::Semaphore;

use super::error::KubectlError;
use super::objects::{by_object, key, stdin, stub};
use super::process::{Finished, Invocation, run};
use super::{
    ApplyOptions, Cascade, DeleteOptions, Deletion, Kubectl, Log, Marks, ObjectEvent, Page,
    PageRequest, Query, Versions, Watch, output, redact,
};
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
        object: &ObjectRef,
        within: Duration,
    ) -> Result<Option<Value>, KubectlError> {
        let finished = self.get_all(std::slice::from_ref(object), within).await?;
        if !finished.success {
            return Err(failure("get", &finished));
        }
        Ok(by_object("get", &finished)?.remove(&key(object)))
    }

    async fn list(
        &self,
        query: Query<'_>,
        _: PageRequest<'_>,
        within: Duration,
    ) -> Result<Page, KubectlError> {
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
        let finished = self.run("get", &arguments, Vec::new(), within).await?;
        if !finished.success {
            return Err(failure("get", &finished));
        }
        let items =
            output::objects(&finished.stdout).map_err(|reason| malformed("get", &reason))?;
        Ok(Page {
            items,
            ..Page::default()
        })
    }

    async fn watch(&self, _: Query<'_>, _: &str, _: Duration) -> Result<Watch, KubectlError> {
        Ok(Box::pin(futures::stream::empty()))
    }

    async fn apply(
        &self,
        object: &Value,
        options: ApplyOptions<'_>,
        within: Duration,
    ) -> Result<Value, KubectlError> {
        let manager = format!("--field-manager={}", options.manager);
        let force = format!("--force-conflicts={}", options.force);
        let mut arguments = vec![
            "apply",
            "--server-side",
            "--validate=false",
            &force,
            &manager,
        ];
        if options.dry_run {
            arguments.push("--dry-run=server");
        }
        arguments.extend(["-o", "json", "-f", "-"]);
        let finished = self
            .run(
                "apply",
                &arguments,
                stdin(std::iter::once(object.clone())),
                within,
            )
            .await?;
        if !finished.success {
            let stderr = redact::redacted(finished.stderr, std::slice::from_ref(object));
            return Err(output::only_error(&stderr).into());
        }
        let applied = by_object("apply", &finished)?.into_values().next();
        applied.ok_or_else(|| output::silence().into())
    }

    async fn delete(
        &self,
        object: &ObjectRef,
        options: DeleteOptions<'_>,
        within: Duration,
    ) -> Result<Deletion, KubectlError> {
        let live = self.get(object, within).await?;
        let uid = live.as_ref().map(|live| live["metadata"]["uid"].as_str());
        match (uid, options.uid) {
            (None, _) => return Ok(Deletion::Missing),
            (Some(live), Some(asked)) if live != Some(asked) => return Ok(Deletion::Replaced),
            _ => {}
        }
        let cascade = match options.cascade {
            Cascade::Foreground => "--cascade=foreground",
            Cascade::Background => "--cascade=background",
        };
        let arguments = [
            "delete",
            "--ignore-not-found",
            "--wait=false",
            cascade,
            "-f",
            "-",
        ];
        let finished = self
            .run(
                "delete",
                &arguments,
                stdin(std::iter::once(stub(object))),
                within,
            )
            .await?;
        match finished.success {
            true => Ok(Deletion::Asked),
            false => Err(failure("delete", &finished)),
        }
    }

    async fn unmark(
        &self,
        object: &ObjectRef,
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
                .run(
                    call,
                    &arguments,
                    stdin(std::iter::once(stub(object))),
                    within,
                )
                .await?;
            if !finished.success {
                return Err(failure(call, &finished));
            }
        }
        Ok(())
    }

    async fn log(&self, log: Log<'_>, within: Duration) -> Result<String, KubectlError> {
        let tail = format!("--tail={}", log.lines);
        let previous = format!("--previous={}", log.previous);
        let arguments = [
            "logs",
            "-n",
            log.namespace,
            &tail,
            &previous,
            "-c",
            log.container,
            "--",
            log.pod,
        ];
        let finished = self.run("logs", &arguments, Vec::new(), within).await?;
        match finished.success {
            true => Ok(String::from_utf8_lossy(&finished.stdout).into_owned()),
            false => Err(failure("logs", &finished)),
        }
    }

    async fn events(
        &self,
        _: &ObjectRef,
        _: Option<&str>,
        _: Duration,
    ) -> Result<Vec<ObjectEvent>, KubectlError> {
        Ok(Vec::new())
    }
}

fn failure(_: &'static str, finished: &Finished) -> KubectlError {
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
        error.into()
    }
}

fn malformed(call: &'static str, reason: &str) -> KubectlError {
    KubectlError::Malformed {
        call,
        reason: reason.to_owned(),
    }
}

//! Expansion without a manager: by the `expandybird` program, in the same way as the service of that name.
//!
//! Responsible for finding and running that program. The request goes to its standard input, the answer comes from its standard
//! output, both in the format of the service. Refuses to know what a template is. References to templates of a registry stay in
//! the result, because only a manager fetches those. A name that only an import could have is an error.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Output, Stdio};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use common::api::error::ErrorBody;
use common::api::expander::{Environment, ExpandRequest, ExpandResponse};
use common::api::manager::{Expand, Expansion};
use common::api::plan::PlanSources;
use common::json::{self, Limits};
use common::model::{ManifestName, NameError, Namespace, language};
use jiff::Timestamp;
use ring::rand::{SecureRandom as _, SystemRandom};
use tokio::io::AsyncWriteExt;
use tokio::process::Command;

use crate::error::{CommandError, ExitCode, exit_code, hint_for};

const PROGRAM: &str = "expandybird";
/// The manager's defaults for namespace and user.
const NAMESPACE: &str = "default";
const USERNAME: &str = "anonymous";

#[derive(Debug, thiserror::Error)]
pub enum LocalError {
    #[error(
        "expansion without a manager needs the program {PROGRAM}, which is neither beside dm nor on PATH"
    )]
    NoProgram,
    #[error("{} cannot be run: {source}", program.display())]
    NotRunnable { program: PathBuf, source: io::Error },
    #[error("{} ended with {status} and without an answer{}", program.display(), said(stderr))]
    NoAnswer {
        program: PathBuf,
        status: ExitStatus,
        stderr: String,
    },
    #[error(transparent)]
    Name(#[from] NameError),
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
    Unresolved(Vec<UnresolvedType>),
    /// The error that the service would have returned.
    #[error("{0}")]
    Answered(Box<ErrorBody>),
}

impl CommandError for LocalError {
    fn exit_code(&self) -> ExitCode {
        match self {
            Self::Answered(body) => exit_code(body.code),
            Self::Unresolved(_) => ExitCode::Failed,
            Self::NoProgram | Self::NotRunnable { .. } | Self::NoAnswer { .. } | Self::Name(_) => {
                ExitCode::Unavailable
            }
        }
    }

    fn body(&self) -> Option<&ErrorBody> {
        match self {
            Self::Answered(body) => Some(body),
            _ => None,
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::NoProgram => Some(
                "install expandybird and expandybird-worker beside dm, or let the manager expand: \
                 leave --local out"
                    .to_owned(),
            ),
            Self::Answered(body) => hint_for(body.code).map(str::to_owned),
            _ => None,
        }
    }
}

/// A type that has the form of a template, but is neither an import nor a reference to a registry.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("type '{type_name}' is neither a Kubernetes kind nor an imported file; {}", advice(.near.as_deref()))]
pub struct UnresolvedType {
    type_name: String,
    near: Option<String>,
}

fn advice(near: Option<&str>) -> String {
    match near {
        Some(near) => format!("did you mean '{near}'?"),
        None => "import the template, or begin the kind with a capital letter".to_owned(),
    }
}

fn said(stderr: &str) -> String {
    match stderr.trim() {
        "" => String::new(),
        text => format!(": {text}"),
    }
}

/// Expands like the manager, with the same default namespace and user.
pub async fn expansion(request: Expand) -> Result<Expansion, LocalError> {
    let response = answer(request, false).await?;
    // Nothing is redacted: the values belong to the user.
    Ok(Expansion {
        secrets: Vec::new(),
        values: Vec::new(),
        plans: Vec::new(),
        ..response.into_expansion(Vec::new())
    })
}

/// The texts that charts print, as Helm prints them. None if there is no chart. The warnings of the expansion come with them.
pub async fn texts(request: Expand) -> Result<(Option<String>, Vec<String>), LocalError> {
    let response = answer(request, true).await?;
    Ok((response.texts, response.warnings))
}

async fn answer(request: Expand, texts: bool) -> Result<ExpandResponse, LocalError> {
    let now = Timestamp::now();
    let environment = Environment {
        deployment: request.name.clone(),
        namespace: match request.namespace {
            Some(namespace) => namespace,
            None => Namespace::parse(NAMESPACE)?,
        },
        manifest: ManifestName::parse(format!("manifest-{:013}", now.as_millisecond()))?,
        username: USERNAME.to_owned(),
        current_time: now.as_second(),
    };
    let mut request = ExpandRequest {
        name: request.name.to_string(),
        content: request.content,
        imports: request.imports,
        env: environment.to_map(),
        seed: request.seed.or_else(random_seed).unwrap_or_default(),
        capabilities: request.capabilities,
        texts,
        ..ExpandRequest::default()
    };
    let response = expanded(&mut request).await?;
    let names: Vec<&str> = request
        .imports
        .iter()
        .map(|import| import.name.as_str())
        .collect();
    let unresolved = unresolved(&response.unresolved, &names);
    if !unresolved.is_empty() {
        return Err(LocalError::Unresolved(unresolved));
    }
    Ok(response)
}

/// Without a cluster, plans see no live objects.
async fn expanded(request: &mut ExpandRequest) -> Result<ExpandResponse, LocalError> {
    loop {
        let response = expand(request).await?;
        let plans = response.plans.iter().filter(|plan| !plan.wants.is_empty());
        let seen = plans.map(|plan| PlanSources {
            path: plan.path.clone(),
            objects: serde_json::Map::new(),
        });
        let before = request.plans.found.len();
        request.plans.found.extend(seen);
        // A plan that has its objects wants no more.
        if request.plans.found.len() == before {
            return Ok(response);
        }
    }
}

/// A seed that nobody can guess. None if the machine has no random numbers.
pub fn random_seed() -> Option<String> {
    let mut bytes = [0; 32];
    SystemRandom::new().fill(&mut bytes).ok()?;
    Some(BASE64_STANDARD.encode(bytes))
}

/// Types that nothing can resolve. Without this check, a typing error in the name of a template would count as a kind.
fn unresolved(types: &[String], imports: &[&str]) -> Vec<UnresolvedType> {
    let of_templates = types.iter().filter(|name| is_template(name));
    let unresolved = of_templates.map(|name| UnresolvedType {
        type_name: name.clone(),
        near: nearest(name, imports),
    });
    unresolved.collect()
}

/// Whether a type is a template's file by its form: `web.py`, `web`. A kind begins with a capital letter; a reference with
/// a registry's path or a version (`github.com/o/r/web:v1`) is the manager's to resolve, and stays.
fn is_template(name: &str) -> bool {
    let is_word = !name.contains(['/', ':']) && name.starts_with(|c: char| c.is_ascii_lowercase());
    language::is_template_name(name) || is_word
}

/// The import with the most similar name, if it is similar enough for a typing error.
fn nearest(name: &str, imports: &[&str]) -> Option<String> {
    /// From 0, nothing in common, to 1, equal.
    const NEAR: f64 = 0.7;
    let rated = imports
        .iter()
        .map(|import| (strsim::normalized_damerau_levenshtein(name, import), import));
    let near = rated.filter(|(nearness, _)| *nearness >= NEAR);
    let nearest = near.max_by(|(a, _), (b, _)| a.total_cmp(b));
    nearest.map(|(_, import)| (*import).to_owned())
}

/// Expands a request in a new process, which ends with this future.
async fn expand(request: &ExpandRequest) -> Result<ExpandResponse, LocalError> {
    let program = program().ok_or(LocalError::NoProgram)?;
    match answered(&program, request).await {
        Ok(output) => read(&program, &output),
        Err(source) => Err(LocalError::NotRunnable { program, source }),
    }
}

async fn answered(program: &Path, request: &ExpandRequest) -> io::Result<Output> {
    let request = serde_json::to_vec(request)?;
    let mut child = Command::new(program)
        .args(["expand", "--request"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()?;
    let stdin = child.stdin.take();
    let write = async {
        if let Some(mut stdin) = stdin {
            // If the program ends before it has read all input, it prints the reason itself.
            let _ = stdin.write_all(&request).await;
        }
    };
    let ((), output) = tokio::join!(write, child.wait_with_output());
    output
}

fn read(program: &Path, output: &Output) -> Result<ExpandResponse, LocalError> {
    if output.status.success() {
        if let Ok(response) = json::from_slice(&output.stdout, &Limits::ANSWER) {
            return Ok(response);
        }
    } else if let Ok(body) = json::from_slice(&output.stdout, &Limits::ERROR) {
        return Err(LocalError::Answered(Box::new(body)));
    }
    Err(LocalError::NoAnswer {
        program: program.to_owned(),
        status: output.status,
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    })
}

/// The program beside this one, or else the first on PATH.
#[expect(
    clippy::disallowed_methods,
    reason = "PATH is how the system finds programs"
)]
fn program() -> Option<PathBuf> {
    let beside = std::env::current_exe()
        .ok()
        .and_then(|program| Some(program.parent()?.to_owned()));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = beside.into_iter().chain(std::env::split_paths(&path));
    folders
        .map(|folder| folder.join(PROGRAM))
        .find(|program| program.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_that_only_an_import_could_be_is_unresolved() {
        let types = [
            "wbe.jinja",
            "lib/x.py",
            "service",
            "Service",
            "v1/Service",
            "apps/v1/Deployment",
            "web:v1",
            "github.com/o/r/web:v1",
        ];
        let types = types.map(str::to_owned);
        let found = unresolved(&types, &["web.jinja", "other.py"]);
        let near: Vec<_> = found
            .iter()
            .map(|found| (found.type_name.as_str(), found.near.as_deref()))
            .collect();
        assert_eq!(
            near,
            [
                ("wbe.jinja", Some("web.jinja")),
                ("lib/x.py", None),
                ("service", None)
            ]
        );
    }
}

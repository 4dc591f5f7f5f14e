//! `dm test`: checks that a template version works and keeps its promises.

mod checks;
mod deployment;
mod live;
mod subject;

use std::path::Path;

use clap::Args;
use common::model::{ClusterName, DeploymentName, Namespace};
use common::request_id;
use serde::Serialize;

use crate::authoring::test::subject::{TestSubject, folder, registry};
use crate::authoring::version::expander::{ExampleExpander, Place};
use crate::client::change::options::policies::AccountFlag;
use crate::client::session::{Session, within};
use crate::client::target::qualified;
use crate::error::{ExitCode, Failure};
use crate::terminal::table::Table;

/// Test a template version: its example.yaml expands, the cluster accepts every object, and it keeps the promises of the
/// previous version.
///
/// The objects go through a dry run of the API server; nothing is stored. With --live, dm also deploys the example under a
/// unique name, and removes it when it is ready, when it fails, or on Ctrl-C. A PATCH may not add or change properties or
/// outputs, and a MINOR may not break them. To compare outputs, the previous version's example.yaml is expanded with both
/// versions. A folder is tested without a registry: TEMPLATE/VERSION beside the other versions, or a package with a
/// Chart.yaml.
///
/// With --live and the name of a deployment, the test hooks of its Helm charts run, one after the other. Nothing else of the
/// deployment changes.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dm test replicatedservice:v1
  dm test redis:v1 --registry my-org/my-repo
  dm test charts/redis/v1.1              # a folder, before it is published
  dm test charts/redis/v1.1 --live --namespace scratch --timeout 5m
  dm test --live web                     # the test hooks of a deployment's charts

Exit codes: 0 all checks passed, 1 a check failed, otherwise as for other commands.")]
pub struct Test {
    /// TEMPLATE:VERSION, a full template reference, the folder of a version, or, with --live, a deployment.
    #[arg(value_name = "TEMPLATE:VERSION|DIR|NAME")]
    pub template: String,
    /// Also deploy the example, wait until it is ready, and delete it. For a deployment: run its test hooks.
    #[arg(long)]
    pub live: bool,
    /// Namespace for objects that name none [default: the manager's].
    #[arg(long, short)]
    pub namespace: Option<Namespace>,
    /// Cluster to test on, as in dm clusters [default: that of the manager's own resourcifier].
    #[arg(long, value_name = "CLUSTER")]
    pub cluster: Option<ClusterName>,
    #[command(flatten)]
    pub account: AccountFlag,
    /// Registry of TEMPLATE:VERSION, on GitHub or registered [default: the default registry].
    #[arg(long, id = "registry", value_name = "ORG/REPO[/COLLECTION]|NAME")]
    pub registry: Option<String>,
}

/// The result of a test.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Report {
    template: String,
    ok: bool,
    checks: Vec<Check>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Check {
    name: &'static str,
    ok: bool,
    /// One sentence for the result, or one for each fault.
    #[serde(rename = "told")]
    findings: Vec<String>,
}

impl Check {
    fn ok(name: &'static str, finding: impl Into<String>) -> Self {
        Self {
            name,
            ok: true,
            findings: vec![finding.into()],
        }
    }

    fn failed(name: &'static str, findings: Vec<String>) -> Self {
        Self {
            name,
            ok: false,
            findings,
        }
    }
}

impl Test {
    pub async fn run(self, session: &mut Session<'_, '_>) -> Result<ExitCode, Failure> {
        if let Some(name) = self.deployment() {
            deployment::run(session, name).await?;
            return Ok(ExitCode::Done);
        }
        let checked = within(session.timeout, "the test", self.checked(session)).await?;
        let (tested, name, mut checks) = checked;
        let is_sound = checks.iter().all(|check| check.ok);
        if let (true, true, Ok(example)) = (self.live, is_sound, &tested.example) {
            checks.push(live::check(session, &name, example, &self).await?);
        }
        let report = Report {
            template: tested.shown,
            ok: checks.iter().all(|check| check.ok),
            checks,
        };
        session.show(&report, render)?;
        Ok(match report.ok {
            true => ExitCode::Done,
            false => ExitCode::Failed,
        })
    }

    /// The deployment whose test hooks run: a plain name with --live, and no folder.
    fn deployment(&self) -> Option<DeploymentName> {
        let is_template = self.registry.is_some() || Path::new(&self.template).exists();
        let name = DeploymentName::parse(&self.template).ok()?;
        (self.live && !is_template).then_some(name)
    }

    fn place(&self) -> Place<'_> {
        Place {
            namespace: self.namespace.as_ref(),
            cluster: self.cluster.as_ref(),
        }
    }

    /// The checks that store nothing.
    async fn checked(
        &self,
        session: &Session<'_, '_>,
    ) -> Result<(TestSubject, DeploymentName, Vec<Check>), Failure> {
        let tested = self.tested(session).await?;
        let name = unique()?;
        let expander = ExampleExpander::Manager {
            client: &session.client,
            place: self.place(),
        };
        let mut checks = vec![checks::versions(&tested.promises, &expander).await];
        match &tested.example {
            Err(reason) => checks.push(Check::failed("example", vec![reason.clone()])),
            Ok(example) => {
                let client = &session.client;
                let place = self.place();
                let expansion = checks::expansion(client, &name, example, place).await?;
                let expands = expansion.ok;
                checks.push(expansion);
                if expands {
                    checks.push(checks::objects(client, &name, example, place).await?);
                }
            }
        }
        Ok((tested, name, checks))
    }

    async fn tested(&self, session: &Session<'_, '_>) -> Result<TestSubject, Failure> {
        let path = Path::new(&self.template);
        if !path.is_dir() {
            let reference = qualified(&self.template, self.registry.as_deref())?;
            return registry::fetch(&session.client, &reference).await;
        }
        if self.registry.is_some() {
            let reason = "--registry is for TEMPLATE:VERSION, not for a folder; leave it out";
            return Err(Failure::usage(reason.to_owned()));
        }
        folder::read(path)
    }
}

/// A unique deployment name: the end of the id is random.
fn unique() -> Result<DeploymentName, Failure> {
    let id = request_id::fresh();
    let random = id.get(16..).unwrap_or(&id);
    Ok(DeploymentName::parse(format!("test-{random}"))?)
}

/// One row for each line of each sentence, such as an excerpt of a template with its caret. Faults are not clipped.
fn render(report: &Report) -> String {
    let mut table = Table::new(&["CHECK", "RESULT", "WHAT WAS SEEN"]);
    for check in &report.checks {
        let result = if check.ok { "ok" } else { "failed" };
        let lines = check.findings.iter().flat_map(|finding| finding.lines());
        for (index, line) in lines.enumerate() {
            match index {
                0 => table.row([check.name, result, line]),
                _ => table.row(["", "", line]),
            }
        }
    }
    table.render(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_excerpt_of_a_fault_stands_below_its_sentence() {
        let finding = "'x' is undefined\n4 | {{ x }}\n  |    ^".to_owned();
        let report = Report {
            template: "t:v1".to_owned(),
            ok: false,
            checks: vec![Check::failed("expansion", vec![finding])],
        };
        let shown = "\
CHECK      RESULT  WHAT WAS SEEN
expansion  failed  'x' is undefined
                   4 | {{ x }}
                     |    ^
";
        assert_eq!(render(&report), shown);
    }
}

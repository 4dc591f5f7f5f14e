//! A release that the real Helm installed becomes a deployment.

mod kill;

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use e2e::helm::Helm;
use e2e::{Dm, Stack};
use serde_json::{Value, json};

use super::{chart, data};

/// Writes a chart into a folder of the stack.
fn folder(stack: &Stack, name: &str, files: &[(String, String)]) -> Result<PathBuf> {
    let folder = stack.folder().join(name);
    for (path, text) in files {
        let place = folder.join(path);
        std::fs::create_dir_all(place.parent().context("a file without a folder")?)?;
        std::fs::write(place, text)?;
    }
    Ok(folder)
}

/// Stays after it has run: Helm keeps the objects of hooks.
const HOOK: &str = "\
apiVersion: batch/v1
kind: Job
metadata:
  name: {{ .Release.Name }}-prepare
  annotations: {helm.sh/hook: 'pre-install,pre-upgrade'}
spec:
  template: {spec: {restartPolicy: Never, containers: [{name: main, image: simulated.invalid/well}]}}
";

/// The chart without its subchart, and with a hook.
fn alone() -> Vec<(String, String)> {
    let files = chart("1.0.0").into_iter();
    let own = files.filter(|(path, _)| !path.starts_with("charts/"));
    let own = own.map(|(path, text)| match path.as_str() {
        "Chart.yaml" => (
            path,
            "apiVersion: v2\nname: web\nversion: 1.0.0\n".to_owned(),
        ),
        _ => (path, text),
    });
    let hook = ("templates/hook.yaml".to_owned(), HOOK.to_owned());
    own.chain([hook]).collect()
}

struct Installed {
    stack: Stack,
    helm: Helm,
    dm: Dm,
}

impl Installed {
    /// A release `site` of a chart.
    async fn release(files: &[(String, String)], values: &str) -> Result<Self> {
        let stack = Stack::start().await?;
        let kubeconfig = stack.cluster.kubeconfig();
        let helm = Helm::build(stack.folder(), kubeconfig)?;
        let chart = folder(&stack, "chart", files)?;
        let chart = text(&chart)?;
        helm.ok(&[
            "install",
            "site",
            chart,
            "-n",
            &stack.namespace,
            "--set",
            values,
        ])?;
        let dm = stack.dm.with_kubeconfig(kubeconfig);
        Ok(Self { stack, helm, dm })
    }

    fn import<'a>(&'a self, more: &[&'a str]) -> Result<Vec<&'a str>> {
        let namespace = self.stack.namespace.as_str();
        let kubectl = text(self.stack.cluster.kubectl_path())?;
        let import = [
            "import",
            "helm-release",
            "site",
            "-n",
            namespace,
            "--kubectl",
            kubectl,
        ];
        Ok([&import[..], more].concat())
    }

    /// The UID of the hook's Job: another run is another Job.
    fn hook(&self) -> Result<String> {
        let uid = "jsonpath={.metadata.uid}";
        let place = ["--namespace", &self.stack.namespace];
        let get = ["get", "job", "site-prepare", "-o", uid];
        self.stack.cluster.kubectl(&[&get[..], &place].concat())
    }

    /// What the objects are, without what says who owns them.
    fn objects(&self) -> Result<Vec<Value>> {
        let kinds = "configmaps,deployments";
        let mut objects = self.stack.cluster.objects(&self.stack.namespace, kinds)?;
        objects.retain(|object| object["metadata"]["name"] != "kube-root-ca.crt");
        for object in &mut objects {
            let metadata = &mut object["metadata"];
            metadata["managedFields"] = Value::Null;
            metadata["resourceVersion"] = Value::Null;
            // The generation of a Deployment counts its annotations, too.
            metadata["generation"] = Value::Null;
            for part in ["labels", "annotations"] {
                if let Some(marks) = metadata[part].as_object_mut() {
                    marks.retain(|name, _| !says_who_owns(name));
                }
                if metadata[part] == json!({}) {
                    metadata[part] = Value::Null;
                }
            }
            object["status"] = Value::Null;
        }
        Ok(objects)
    }
}

fn says_who_owns(name: &str) -> bool {
    name == "app.kubernetes.io/managed-by" || name.starts_with("deployment-manager.dev/")
}

fn text(path: &Path) -> Result<&str> {
    path.to_str().context("a path that is not text")
}

#[tokio::test]
async fn a_release_becomes_a_deployment_and_no_object_changes() -> Result<()> {
    let installed = Installed::release(&alone(), "greeting=Moin,replicas=2").await?;
    let (before, hook) = (installed.objects()?, installed.hook()?);
    assert_eq!(before.len(), 2);
    let preview = installed.dm.ok(&installed.import(&["--dry-run"])?).await?;
    assert!(preview.contains("would change no object"), "{preview}");
    installed
        .dm
        .ok(&installed.import(&["--forget-release"])?)
        .await?;
    assert_eq!(installed.objects()?, before);
    assert_eq!(
        installed.hook()?,
        hook,
        "Helm has run the hook, and once is enough"
    );
    let Installed { stack, helm, dm } = &installed;
    assert_eq!(helm.ok(&["list", "-q", "-n", &stack.namespace])?.trim(), "");
    dm.ok(&["diff", "site", "--no-hooks"]).await?;
    // Helm owns no field any more, so nothing is in conflict with it.
    dm.ok(&["update", "site", "--set", "greeting=Servus", "--no-hooks"])
        .await?;
    assert_eq!(data(stack, "site-web", "greeting")?, "Servus");
    assert_eq!(installed.hook()?, hook, "the update runs no hooks");
    dm.ok(&["update", "site", "--set", "greeting=Moin"]).await?;
    assert_ne!(
        installed.hook()?,
        hook,
        "the deployment runs them from now on"
    );
    let pods = stack.cluster.objects(&stack.namespace, "deployments")?;
    assert_eq!(
        pods[0]["spec"]["replicas"], 2,
        "the values of the release stay"
    );
    dm.ok(&["delete", "site"]).await?;
    assert_eq!(stack.names("deployments")?, Vec::<String>::new());
    Ok(())
}

#[tokio::test]
async fn a_release_with_subcharts_needs_its_chart_and_another_one_is_refused() -> Result<()> {
    let installed = Installed::release(&chart("1.0.0"), "cache.size=large").await?;
    let before = installed.objects()?;
    let said = installed.dm.fails(1, &installed.import(&[])?).await?;
    assert!(said.contains("--chart helm:REPOSITORY/web:1.0.0"), "{said}");
    folder(&installed.stack, "other", &chart("1.0.1"))?;
    let said = installed
        .dm
        .fails(1, &installed.import(&["--chart", "other"])?)
        .await?;
    assert!(said.contains("other is web 1.0.1"), "{said}");
    installed
        .dm
        .ok(&installed.import(&["--chart", "chart"])?)
        .await?;
    assert_eq!(installed.objects()?, before);
    let helm = installed
        .helm
        .ok(&["list", "-q", "-n", &installed.stack.namespace])?;
    assert_eq!(
        helm.trim(),
        "site",
        "Helm's record stays unless it is to be forgotten"
    );
    Ok(())
}

#[tokio::test]
async fn an_object_that_somebody_changed_stops_the_import() -> Result<()> {
    let installed = Installed::release(&alone(), "greeting=Moin").await?;
    let Installed { stack, dm, .. } = &installed;
    let patch = r#"{"data": {"greeting": "Hi"}}"#;
    let args = [
        "patch",
        "configmap",
        "site-web",
        "--namespace",
        &stack.namespace,
        "-p",
        patch,
    ];
    stack.cluster.kubectl(&args)?;
    let said = dm.run(&installed.import(&[])?).await?;
    assert_eq!(said.code, 1, "{said:?}");
    assert!(
        said.stderr.contains("would change 1 of its objects"),
        "{said:?}"
    );
    assert!(said.stdout.contains("greeting"), "{said:?}");
    assert_eq!(data(stack, "site-web", "greeting")?, "Hi");
    dm.fails(3, &["get", "site"]).await?;
    let missing = dm
        .fails(
            1,
            &[
                "import",
                "helm-release",
                "gone",
                "--kubectl",
                text(stack.cluster.kubectl_path())?,
            ],
        )
        .await?;
    assert!(missing.contains("no release gone"), "{missing}");
    Ok(())
}

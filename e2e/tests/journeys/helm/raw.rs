//! `dm expand --raw` prints what `helm template --include-crds` prints.

use anyhow::{Context as _, Result};
use e2e::Stack;
use e2e::helm::Helm;
use fastrand::Rng;

use crate::hooks::chart::Chart;

const CHARTS: usize = 40;
const DEFINITION: &str = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition";

/// Several documents, among them an empty one, and an object of a kind that Helm puts first.
const MORE: &str = "\
# A comment before.
apiVersion: v1
kind: ConfigMap
metadata: {name: {{ .Release.Name }}-more}
data: {version: {{ .Capabilities.KubeVersion.Version | quote }}, known: \"{{ .Capabilities.APIVersions.Has \"shop.example/v1\" }}\"}

---

---
apiVersion: v1
kind: Namespace
metadata: {name: {{ .Release.Namespace }}-{{ .Values.color }}}


";

#[tokio::test]
async fn the_texts_of_a_chart_are_those_of_helm() -> Result<()> {
    let stack = Stack::start().await?;
    let helm = Helm::build(stack.folder(), stack.cluster.kubeconfig())?;
    let more = ("templates/more.yaml".to_owned(), MORE.to_owned());
    for (path, text) in Chart::new(&stack).files("1.0.0").into_iter().chain([more]) {
        stack.write(&format!("app/{path}"), &text)?;
    }
    stack.write("green.yaml", "color: green\n")?;
    for (values, set) in [
        (
            &["--values", "green.yaml"][..],
            &["--properties-file", "green.yaml"][..],
        ),
        (&[], &[]),
    ] {
        let common = [
            "--namespace",
            "shop",
            "--kube-version",
            "1.33.0",
            "--api-versions",
            "shop.example/v1",
        ];
        let template = ["template", "demo", "app", "--include-crds"];
        let theirs = helm.ok(&[&template[..], &common, values].concat())?;
        let expand = ["expand", "app", "--name", "demo", "--raw"];
        let ours = stack.dm.ok(&[&expand[..], &common, set].concat()).await?;
        assert_eq!(ours, theirs, "{set:?}");
        assert!(
            theirs.contains("# Source: app/templates/more.yaml"),
            "{theirs}"
        );
    }
    stack.write("plain.yaml", "resources: []\n")?;
    let refused = stack
        .dm
        .fails(1, &["expand", "plain.yaml", "--raw"])
        .await?;
    assert!(
        refused.contains("there is no chart whose texts can be printed"),
        "{refused}"
    );
    random_charts(&stack, &helm).await
}

/// Charts of random documents, hooks and definitions, with all that may stand between them.
async fn random_charts(stack: &Stack, helm: &Helm) -> Result<()> {
    let seed = fastrand::u64(..);
    println!("random charts: seed {seed}");
    let mut rng = Rng::with_seed(seed);
    for number in 0..CHARTS {
        let folder = format!("random-{number}");
        let metadata = "apiVersion: v2\nname: random\nversion: 1.0.0\n";
        stack.write(&format!("{folder}/Chart.yaml"), metadata)?;
        for file in 0..rng.usize(1..4) {
            let place = pick(&mut rng, &["", "sub/", "_"]);
            let separator = pick(&mut rng, &["---\n", "\n---\n", "--- \n", "---\n---\n"]);
            let documents: Vec<_> = (0..rng.usize(1..5)).map(|_| document(&mut rng)).collect();
            let path = format!("{folder}/templates/{place}{file}.yaml");
            stack.write(&path, &documents.join(separator))?;
        }
        for file in 0..rng.usize(..3) {
            let (before, after) = (between(&mut rng), between(&mut rng));
            let definition =
                format!("{before}{DEFINITION}\nmetadata: {{name: c{file}.x.y}}\n{after}");
            stack.write(&format!("{folder}/crds/{file}.yaml"), &definition)?;
        }
        let version = ["--kube-version", "1.33.0"];
        let template = ["template", "demo", &folder, "--include-crds"];
        let theirs = helm.ok(&[&template[..], &version].concat())?;
        let expand = ["expand", &folder, "--name", "demo", "--raw"];
        let ours = stack.dm.ok(&[&expand[..], &version].concat()).await;
        let ours = ours.with_context(|| format!("seed {seed}, {folder}"))?;
        assert_eq!(ours, theirs, "seed {seed}, {folder}");
    }
    Ok(())
}

fn document(rng: &mut Rng) -> String {
    if rng.u8(..5) == 0 {
        return between(rng).to_owned();
    }
    let kind = pick(
        rng,
        &[
            "ConfigMap",
            "Service",
            "Namespace",
            "Deployment",
            "Job",
            "Weird",
        ],
    );
    let (name, weight) = (rng.u32(..), rng.i8(-2..3));
    let events = pick(
        rng,
        &[
            "pre-install",
            "test",
            "post-upgrade,pre-install",
            "crd-install",
            "nope",
        ],
    );
    let hook = match rng.u8(..4) {
        0 => format!(
            "  annotations: {{helm.sh/hook: {events:?}, helm.sh/hook-weight: \"{weight}\"}}\n"
        ),
        _ => String::new(),
    };
    let data = pick(
        rng,
        &["", "", "data:\n  text: |\n    a\n    --- b\n\n    c\n"],
    );
    let (before, after) = (between(rng), between(rng));
    format!("{before}apiVersion: v1\nkind: {kind}\nmetadata:\n  name: n{name}\n{hook}{data}{after}")
}

fn between(rng: &mut Rng) -> &'static str {
    pick(rng, &["", "", "\n", "\n\n", "  \n", "# note\n", "\r\n"])
}

fn pick(rng: &mut Rng, all: &[&'static str]) -> &'static str {
    rng.choice(all).copied().unwrap_or_default()
}

//! `dm expand --raw` prints what `helm template --include-crds` prints.

use anyhow::Result;
use e2e::Stack;
use e2e::helm::Helm;

use crate::hooks::chart::Chart;

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
    Ok(())
}

//! Helm charts from where they are published, and releases of Helm that become deployments.

mod import;
mod raw;
mod registries;
mod whole;

use anyhow::Result;
use e2e::Stack;

/// The files of a chart `web` with a subchart `cache`.
pub fn chart(version: &str) -> Vec<(String, String)> {
    let metadata = format!(
        "apiVersion: v2\nname: web\nversion: {version}\ndescription: Serves.\ndependencies:\n- {{name: cache, version: 1.x}}\n"
    );
    let config = format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{{{ .Release.Name }}}}-web\ndata:\n  greeting: {{{{ .Values.greeting | quote }}}}\n  chart: {version:?}\n"
    );
    let cache = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .Release.Name }}-cache\ndata:\n  size: {{ .Values.size | quote }}\n";
    let pods = "\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .Release.Name }}-web
  labels: {app.kubernetes.io/managed-by: {{ .Release.Service }}}
spec:
  replicas: {{ .Values.replicas }}
  selector: {matchLabels: {app: {{ .Release.Name }}}}
  template:
    metadata: {labels: {app: {{ .Release.Name }}}}
    spec: {containers: [{name: main, image: {{ .Values.image }}}]}
";
    let values =
        "greeting: Hello\nimage: simulated.invalid/well\nreplicas: 1\ncache: {size: small}\n";
    let schema = r#"{"properties": {"replicas": {"type": "integer", "minimum": 1}}}"#;
    [
        ("Chart.yaml", metadata.as_str()),
        (
            "charts/cache/Chart.yaml",
            "apiVersion: v2\nname: cache\nversion: 1.0.0\n",
        ),
        ("charts/cache/templates/config.yaml", cache),
        ("charts/cache/values.yaml", "size: tiny\n"),
        (
            "templates/NOTES.txt",
            "{{ .Values.greeting }} from {{ .Release.Name }}",
        ),
        ("templates/config.yaml", &config),
        ("templates/pods.yaml", pods),
        ("values.schema.json", schema),
        ("values.yaml", values),
    ]
    .map(|(path, text)| (path.to_owned(), text.to_owned()))
    .to_vec()
}

/// The data of a config map of the test's namespace.
pub fn data(stack: &Stack, name: &str, key: &str) -> Result<String> {
    let (name, path) = (
        format!("configmap/{name}"),
        format!("jsonpath={{.data.{key}}}"),
    );
    let args = ["get", &name, "--namespace", &stack.namespace, "-o", &path];
    stack.cluster.kubectl(&args)
}

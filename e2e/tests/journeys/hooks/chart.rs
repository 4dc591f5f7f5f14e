//! A chart with a subchart, a definition, and hooks of every kind.

use std::path::Path;

use anyhow::{Result, ensure};
use e2e::Stack;
use serde_json::Value;

/// The chart in the stack's folder, and what it makes in the cluster.
pub struct Chart<'s> {
    pub stack: &'s Stack,
    /// Of its kind: no other test uses it.
    pub group: String,
}

const METADATA: &str = "apiVersion: v2\nname: app\nversion: VERSION\ndependencies:\n- name: store\n  version: 1.0.0\n  repository: \"\"\n";

const VALUES: &str = "color: red\nprepare: well\nannounce: well\ncleanup: well\ncheck: well\nstore:\n  size: small\n";

const DEFINITION: &str = "\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: paints.GROUP
spec:
  group: GROUP
  scope: Namespaced
  names: {kind: Paint, plural: paints, singular: paint}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              color: {type: string}
";

const OBJECTS: &str = r#"
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Release.Name }}-state
data:
  revision: "{{ .Release.Revision }}"
  upgrade: "{{ .Release.IsUpgrade }}"
  color: {{ .Values.color }}
  chart: {{ .Chart.Version }}
  cluster: {{ .Capabilities.KubeVersion.Version }}
  seen: {{ dig "data" "word" "nothing" (lookup "v1" "ConfigMap" .Release.Namespace "seen") }}
---
{{- if .Capabilities.APIVersions.Has "GROUP/v1/Paint" }}
apiVersion: GROUP/v1
kind: Paint
metadata:
  name: {{ .Release.Name }}
spec:
  color: {{ .Values.color }}
{{- end }}
"#;

const HOOKS: &str = r#"
{{- define "hook" }}
---
apiVersion: batch/v1
kind: Job
metadata:
  name: {{ .root.Release.Name }}-{{ .name }}
  annotations:
    helm.sh/hook: {{ .events }}
    {{- with .policy }}
    helm.sh/hook-delete-policy: {{ . }}
    {{- end }}
spec:
  backoffLimit: 0
  template:
    spec:
      restartPolicy: Never
      containers:
      - name: main
        image: simulated.invalid/{{ .does }}
{{- end }}
{{- template "hook" dict "root" . "name" "prepare" "events" "pre-install,pre-upgrade" "does" .Values.prepare }}
{{- template "hook" dict "root" . "name" "announce" "events" "post-install,post-upgrade,post-rollback" "does" .Values.announce "policy" "before-hook-creation,hook-succeeded" }}
{{- template "hook" dict "root" . "name" "cleanup" "events" "pre-delete" "does" .Values.cleanup }}
{{- template "hook" dict "root" . "name" "check" "events" "test" "does" .Values.check }}
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Release.Name }}-input
  annotations:
    helm.sh/hook: pre-install,pre-upgrade
    helm.sh/hook-weight: "-5"
data:
  for: prepare
"#;

const STORE: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .Release.Name }}-store\ndata:\n  size: {{ .Values.size }}\n";

impl<'s> Chart<'s> {
    /// The chart, which is nowhere yet.
    pub fn new(stack: &'s Stack) -> Self {
        let group = format!("{}.example.com", stack.namespace);
        Self { stack, group }
    }

    /// Writes the chart as the folder `app`.
    pub fn write(stack: &'s Stack) -> Result<Self> {
        let chart = Self::new(stack);
        for (path, text) in chart.files("1.0.0") {
            let path = stack.folder().join("app").join(path);
            std::fs::create_dir_all(path.parent().unwrap_or(Path::new("")))?;
            std::fs::write(path, text)?;
        }
        Ok(chart)
    }

    /// The files of a version.
    pub fn files(&self, version: &str) -> Vec<(String, String)> {
        let store = "apiVersion: v2\nname: store\nversion: 1.0.0\n";
        let files = [
            ("Chart.yaml", METADATA),
            ("values.yaml", VALUES),
            ("crds/paints.yaml", DEFINITION),
            ("templates/objects.yaml", OBJECTS),
            ("templates/hooks.yaml", HOOKS),
            ("charts/store/Chart.yaml", store),
            ("charts/store/templates/store.yaml", STORE),
        ];
        let filled = |text: &str| {
            let text = text.replace("GROUP", &self.group);
            text.replace("VERSION", version)
        };
        files
            .map(|(path, text)| (path.to_owned(), filled(text)))
            .to_vec()
    }

    /// The kind of the definition, as kubectl takes it.
    pub fn kind(&self) -> String {
        format!("paints.{}", self.group)
    }

    /// `dm deploy` of the chart.
    pub async fn deploy(&self, name: &str, more: &[&str]) -> Result<String> {
        self.stack
            .deploy(&[&["app", "--name", name], more].concat())
            .await
    }

    /// What the chart wrote down of its release.
    pub fn state(&self, name: &str) -> Result<Value> {
        let maps = self
            .stack
            .cluster
            .objects(&self.stack.namespace, "configmaps")?;
        let wanted = format!("{name}-state");
        let mut maps = maps.into_iter();
        let found = maps.find(|map| map["metadata"]["name"] == wanted.as_str());
        Ok(found.map(|map| map["data"].clone()).unwrap_or_default())
    }

    /// How often a hook has run: each run is a Job of its own, and Kubernetes notes each that is done.
    pub fn runs(&self, job: &str) -> Result<usize> {
        let events = self
            .stack
            .cluster
            .objects(&self.stack.namespace, "events")?;
        let of_job = events.iter().filter(|event| {
            let about = &event["involvedObject"];
            about["kind"] == "Job" && about["name"] == job && event["reason"] == "SuccessfulCreate"
        });
        let uids: std::collections::HashSet<&str> = of_job
            .filter_map(|event| event["involvedObject"]["uid"].as_str())
            .collect();
        Ok(uids.len())
    }

    /// The deployments that share the definition.
    pub fn sharers(&self) -> Result<Vec<String>> {
        let name = self.kind();
        let text = self
            .stack
            .cluster
            .kubectl(&["get", "crd", &name, "-o", "json"])?;
        let definition: Value = serde_json::from_str(&text)?;
        let annotations = definition["metadata"]["annotations"].as_object();
        let keys = annotations.into_iter().flat_map(|all| all.keys());
        let sharers = keys.filter_map(|key| key.strip_prefix("shared-by.deployment-manager.dev/"));
        Ok(sharers.map(str::to_owned).collect())
    }

    /// Nothing of the deployment is left, apart from the definition.
    pub fn is_gone(&self, name: &str) -> Result<()> {
        for kind in ["jobs", "pods", "configmaps", &self.kind()] {
            let left = self.stack.names(kind)?;
            let own = left
                .iter()
                .filter(|left| left.starts_with(&format!("{name}-")) || *left == name);
            let own: Vec<_> = own.collect();
            ensure!(own.is_empty(), "{name} left {kind}: {own:?}");
        }
        Ok(())
    }
}

impl Drop for Chart<'_> {
    fn drop(&mut self) {
        let name = self.kind();
        let _ = self
            .stack
            .cluster
            .kubectl(&["delete", "crd", &name, "--wait=false"]);
    }
}

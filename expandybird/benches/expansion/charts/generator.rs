//! Charts of the sizes of well-known ones, with what their templates are made of: helpers, conditions, loops, `toYaml`.

use std::path::Path;

use anyhow::{Context as _, Result};

#[derive(Debug, Clone, Copy)]
pub enum Size {
    /// As `helm create` makes one.
    Small,
    /// Five subcharts, 120 KB.
    Prometheus,
    KubePrometheusStack,
}

/// Paths with their texts.
pub type Files = Vec<(String, String)>;

const HELPERS: &str = r#"
{{- define "NAME.fullname" -}}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 63 | trimSuffix "-" }}
{{- else }}
{{- $name := default .Chart.Name .Values.nameOverride }}
{{- if contains $name .Release.Name }}
{{- .Release.Name | trunc 63 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name $name | trunc 63 | trimSuffix "-" }}
{{- end }}
{{- end }}
{{- end }}
{{- define "NAME.selectorLabels" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}
{{- define "NAME.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{ include "NAME.selectorLabels" . }}
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}
"#;

const DEPLOYMENT: &str = r#"{{- if .Values.server.enabled }}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ include "NAME.fullname" . }}-INDEX
  labels:
    {{- include "NAME.labels" . | nindent 4 }}
spec:
  {{- if not .Values.autoscaling.enabled }}
  replicas: {{ .Values.server.replicas }}
  {{- end }}
  selector:
    matchLabels:
      {{- include "NAME.selectorLabels" . | nindent 6 }}
  template:
    metadata:
      {{- with .Values.podAnnotations }}
      annotations:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      labels:
        {{- include "NAME.selectorLabels" . | nindent 8 }}
    spec:
      serviceAccountName: {{ include "NAME.fullname" . }}
      securityContext:
        {{- toYaml .Values.securityContext | nindent 8 }}
      containers:
      - name: {{ .Chart.Name }}
        image: "{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}"
        imagePullPolicy: {{ .Values.image.pullPolicy }}
        args:
        {{- range $key, $value := .Values.server.extraFlags }}
        - --{{ $key }}={{ tpl (toString $value) $ }}
        {{- end }}
        ports:
        {{- range .Values.server.ports }}
        - name: {{ .name }}
          containerPort: {{ .port }}
          protocol: {{ .protocol | default "TCP" | upper }}
        {{- end }}
        env:
        {{- range $name, $value := .Values.server.env }}
        - name: {{ $name | upper | replace "-" "_" }}
          value: {{ $value | quote }}
        {{- end }}
        resources:
          {{- toYaml .Values.resources | nindent 10 }}
      {{- with .Values.nodeSelector }}
      nodeSelector:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with .Values.tolerations }}
      tolerations:
        {{- toYaml . | nindent 8 }}
      {{- end }}
{{- end }}
"#;

const SERVICE: &str = r#"apiVersion: v1
kind: Service
metadata:
  name: {{ include "NAME.fullname" . }}-INDEX
  labels:
    {{- include "NAME.labels" . | nindent 4 }}
spec:
  type: {{ .Values.service.type }}
  ports:
  {{- range .Values.server.ports }}
  - port: {{ .port }}
    targetPort: {{ .name }}
    name: {{ .name }}
  {{- end }}
  selector:
    {{- include "NAME.selectorLabels" . | nindent 4 }}
"#;

/// Most of a chart of rules is text, with few actions in it.
const RULES: &str = r#"{{- if and .Values.rules.create (semverCompare ">=1.19.0-0" .Capabilities.KubeVersion.Version) }}
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ printf "%s-%s" (include "NAME.fullname" .) "rules-INDEX" | trunc 63 | trimSuffix "-" }}
  labels:
    {{- include "NAME.labels" . | nindent 4 }}
data:
  rules.yaml: |
    groups:
LINES
{{- end }}
"#;

const RULE: &str = r#"    - alert: Alert{{ .Chart.Name }}NUMBER
      expr: sum(rate(requests_total{job="{{ .Release.Name }}", code=~"5.."}[5m])) by (instance) / sum(rate(requests_total[5m])) > 0.NUMBER
      for: {{ dig "NUMBER" "for" .Values.rules.for (.Values.rules.overrides | default dict) }}
      labels: {severity: {{ .Values.rules.severity | default "warning" }}}
"#;

const VALUES: &str = "\
nameOverride: ''
commonLabels: {team: platform, tier: backend}
podAnnotations: {checksum: abc, prometheus.io/scrape: 'true'}
image: {repository: registry.example.com/bench, tag: '', pullPolicy: IfNotPresent}
server:
  enabled: true
  replicas: 2
  extraFlags: {web.enable-lifecycle: true, storage.path: '/data/{{ .Release.Name }}', retention: 15d}
  ports: [{name: http, port: 8080}, {name: metrics, port: 9090, protocol: tcp}]
  env: {log-level: info, region: eu, mode: production}
autoscaling: {enabled: false}
service: {type: ClusterIP}
securityContext: {runAsNonRoot: true, runAsUser: 65534, fsGroup: 65534}
resources: {limits: {cpu: 500m, memory: 512Mi}, requests: {cpu: 100m, memory: 128Mi}}
nodeSelector: {kubernetes.io/os: linux}
tolerations: [{key: dedicated, operator: Equal, value: monitoring, effect: NoSchedule}]
rules: {create: true, for: 10m, severity: critical}
";

impl Size {
    pub fn name(self) -> &'static str {
        match self {
            Self::Small => "small chart",
            Self::Prometheus => "chart like prometheus",
            Self::KubePrometheusStack => "chart like kube-prometheus-stack",
        }
    }

    /// Subcharts, and for each chart: deployments, services, files of rules, rules of a file.
    fn parts(self) -> (usize, [usize; 4]) {
        match self {
            Self::Small => (0, [1, 1, 0, 0]),
            Self::Prometheus => (5, [4, 4, 3, 11]),
            Self::KubePrometheusStack => (5, [5, 5, 12, 14]),
        }
    }
}

/// The files of a chart `bench`.
pub fn chart(size: Size) -> Files {
    let (subcharts, parts) = size.parts();
    let names: Vec<String> = (0..subcharts).map(|index| format!("part{index}")).collect();
    let mut files = own("bench", "", &names, parts);
    for name in &names {
        files.extend(own(name, &format!("charts/{name}/"), &[], parts));
    }
    files
}

fn own(name: &str, folder: &str, subcharts: &[String], parts: [usize; 4]) -> Files {
    let [deployments, services, rules, lines] = parts;
    let dependencies = subcharts.iter();
    let dependencies: String = dependencies
        .map(|name| format!("- {{name: {name}, version: 1.x.x, condition: {name}.enabled}}\n"))
        .collect();
    let metadata = format!(
        "apiVersion: v2\nname: {name}\nversion: 1.0.0\nappVersion: 2.0.0\ndependencies:\n{dependencies}"
    );
    let metadata = metadata.trim_end_matches("dependencies:\n").to_owned();
    let lines: String = (0..lines)
        .map(|line| RULE.replace("NUMBER", &line.to_string()))
        .collect();
    let rule = RULES.replace("LINES\n", &lines);
    let mut files = vec![
        ("Chart.yaml".to_owned(), metadata),
        ("templates/_helpers.tpl".to_owned(), HELPERS.to_owned()),
        ("values.yaml".to_owned(), VALUES.to_owned()),
    ];
    for (kind, count, text) in [
        ("deployment", deployments, DEPLOYMENT),
        ("service", services, SERVICE),
        ("rules", rules, rule.as_str()),
    ] {
        let numbered = (0..count).map(|index| {
            let text = text.replace("INDEX", &index.to_string());
            (format!("templates/{kind}-{index}.yaml"), text)
        });
        files.extend(numbered);
    }
    let placed = files.into_iter();
    placed
        .map(|(path, text)| (format!("{folder}{path}"), text.replace("NAME", name)))
        .collect()
}

/// Writes a chart as a folder.
pub fn write(files: &[(String, String)], folder: &Path) -> Result<()> {
    for (path, text) in files {
        let place = folder.join(path);
        std::fs::create_dir_all(place.parent().context("a file without a folder")?)?;
        std::fs::write(place, text)?;
    }
    Ok(())
}

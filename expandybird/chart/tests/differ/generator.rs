//! Random charts: values with nulls and types that clash, globals, aliases, conditions, tags, imports, subcharts within
//! subcharts, and templates that print all that they see.

use std::collections::BTreeMap;

use fastrand::Rng;
use serde_json::{Map, Value, json};

use crate::case::Case;

const KEYS: [&str; 8] = ["a", "b", "c", "global", "enabled", "exports", "tags", "db"];
const CHARTS: [&str; 4] = ["db", "web", "lib", "cache"];

/// Pieces of templates. Each sees `.Values` and all else.
const PIECES: [&str; 34] = [
    "a: {{ .Values.a }}",
    "a: {{ .Values.a.b }}",
    "b: {{ .Values.b | quote }}",
    "b: {{ .Values.b.a.c | default \"none\" }}",
    "{{- with .Values.c }}\nc: {{ toJson . }}\n{{- end }}",
    "{{- range $k, $v := .Values }}\n{{ $k }}: {{ $v | toJson }}\n{{- end }}",
    "name: {{ include \"name\" . }}",
    "all: |\n{{ toYaml .Values | indent 2 }}",
    "chart: {{ toJson .Chart }}",
    "release: {{ toJson .Release }}",
    "template: {{ .Template.Name }} {{ .Template.BasePath }}",
    "subcharts: {{ keys .Subcharts | sortAlpha | toJson }}",
    "file: {{ .Files.Get \"note.txt\" | quote }}",
    "lines: {{ .Files.Lines \"note.txt\" | toJson }}",
    "files: {{ range $path, $_ := .Files.Glob \"**\" }}{{ $path }} {{ end }}",
    "config: |\n{{ (.Files.Glob \"*.txt\").AsConfig | indent 2 }}",
    "secrets: |\n{{ (.Files.Glob \"conf/*\").AsSecrets | indent 2 }}",
    "tpl: {{ tpl \"{{ .Values.a }}{{ include \\\"name\\\" . }}\" . }}",
    "{{- $_ := set .Values \"changed\" .Template.Name }}\nchanged: {{ .Values.changed }}",
    "changed: {{ .Values.changed }}",
    "{{- $_ := set .Values.global \"seen\" .Chart.Name }}\nglobal: {{ toJson .Values.global }}",
    "required: {{ required \"a is required\" .Values.a }}",
    "kube: {{ .Capabilities.KubeVersion.Version }} {{ .Capabilities.APIVersions.Has \"apps/v1\" }}",
    "type: {{ typeOf .Values }} {{ typeOf . }} {{ kindOf .Values.a }} {{ typeOf .Files }}",
    "{{- if eq (toString .Values.b) \"1\" }}\n---\nkind: Service\nmetadata: {name: second}\n{{- end }}",
    "int: {{ .Values.a | int }} {{ .Values.b | float64 }}",
    "deep: {{ dig \"a\" \"b\" \"none\" (.Values.c | default dict | toJson | fromJson) }}",
    "db: {{ .Values.db | toJson }}",
    "sub: {{ .Subcharts.db.Chart.Name }} {{ .Subcharts.db.Values | toJson }}",
    "exports: {{ .Values.exports }}",
    "fail: {{ if .Values.a }}{{ fail \"a is given\" }}{{ end }}",
    "nested: {{ include \"nested\" (dict \"n\" 3 \"root\" .) }}",
    "index: {{ index .Values \"b\" \"a\" }}",
    "yaml: {{ .Values.YAML | quote }}",
];

const HELPERS: &str = "{{- define \"name\" }}{{ .Chart.Name }}-{{ .Values.b }}{{ end }}
{{- define \"nested\" }}{{ .n }}{{ if gt (int .n) 0 }}{{ include \"nested\" (dict \"n\" (sub .n 1) \"root\" .root) }}{{ else }}{{ .root.Values.a.b.c }}{{ end }}{{ end }}
";

pub struct Generator {
    random: Rng,
    count: usize,
}

impl Generator {
    pub fn new(seed: u64) -> Self {
        Self {
            random: Rng::with_seed(seed),
            count: 0,
        }
    }

    pub fn case(&mut self) -> Case {
        self.count += 1;
        let mut files = BTreeMap::new();
        self.chart("root", "", 0, &mut files);
        Case {
            name: format!("random chart {}", self.count),
            files,
            values: Value::Object(self.map(0)),
        }
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.random.usize(..from.len())]
    }

    fn chart(
        &mut self,
        name: &str,
        path: &str,
        depth: usize,
        files: &mut BTreeMap<String, Vec<u8>>,
    ) {
        let mut add = |name: &str, text: String| files.insert(format!("{path}{name}"), text.into());
        let mut inner: Vec<&str> = Vec::new();
        if depth < 3 {
            for _ in 0..self.random.usize(..3 - depth.min(2)) {
                let name = self.pick(&CHARTS);
                if !inner.contains(&name) {
                    inner.push(name);
                }
            }
        }
        let mut metadata = json!({"apiVersion": "v2", "name": name, "version": "1.2.3", "appVersion": "7",
            "keywords": ["x"], "annotations": {"k": "v"}, "maintainers": [{"name": "me"}]});
        if self.random.u8(..10) == 0 {
            metadata["kubeVersion"] = json!(self.pick(&[">=1.20.0-0", ">=1.99"]));
        }
        if !inner.is_empty() && self.random.u8(..4) > 0 {
            metadata["dependencies"] = self.dependencies(&inner);
        }
        add("Chart.yaml", metadata.to_string());
        if self.random.u8(..6) > 0 {
            add("values.yaml", Value::Object(self.map(0)).to_string());
        }
        if self.random.u8(..8) == 0 {
            add("values.schema.json", self.schema().to_string());
        }
        add("note.txt", "one\ntwo\n".to_owned());
        add("conf/a.bin", "\u{1}binary".to_owned());
        add("templates/_helpers.tpl", HELPERS.to_owned());
        for number in 0..self.random.usize(1..4) {
            let mut text = format!(
                "kind: {}\nmetadata: {{name: {name}-{number}}}\n",
                self.pick(&["ConfigMap", "Service", "Secret", "Own", "Deployment", "Job"])
            );
            for _ in 0..self.random.usize(1..4) {
                text.push_str(&format!("k{}: |\n  x\n", self.random.u8(..)));
                text.push_str(self.pick(&PIECES));
                text.push('\n');
            }
            // Any text may come out of the pieces: a comment keeps it YAML.
            let text = text.replace("\n", "\n# ").replace("# ---", "---");
            let hook = self.pick(&[
                "",
                "",
                "",
                "pre-install",
                "post-install, test",
                "crd-install",
            ]);
            let head = match hook {
                "" => String::new(),
                hook => format!(
                    "---\nkind: Job\nmetadata:\n  name: hook\n  annotations:\n    helm.sh/hook: {hook}\n    helm.sh/hook-weight: \"{}\"\n---\n",
                    self.random.i8(..)
                ),
            };
            add(
                &format!("templates/t{number}.yaml"),
                format!("{head}# {text}\n"),
            );
        }
        if self.random.bool() {
            add(
                "templates/NOTES.txt",
                "{{ .Chart.Name }} {{ .Values.a }}\n".to_owned(),
            );
        }
        add(
            "crds/one.yaml",
            "kind: CustomResourceDefinition\n".to_owned(),
        );
        for inner in inner {
            self.chart(inner, &format!("{path}charts/{inner}/"), depth + 1, files);
        }
    }

    fn dependencies(&mut self, inner: &[&str]) -> Value {
        let mut all = Vec::new();
        for (number, name) in inner.iter().enumerate() {
            for again in 0..self.random.usize(1..3) {
                let mut one =
                    json!({"name": name, "version": self.pick(&["1.2.3", "*", "^1.0.0", "9"])});
                if again > 0 || self.random.u8(..4) == 0 {
                    one["alias"] = json!(format!("alias{number}{again}"));
                }
                if self.random.bool() {
                    let conditions = [
                        "enabled",
                        "db.enabled",
                        "a.b,enabled",
                        "global.a",
                        "alias01.enabled",
                    ];
                    one["condition"] = json!(self.pick(&conditions));
                }
                if self.random.u8(..3) == 0 {
                    one["tags"] = json!([self.pick(&["a", "b"])]);
                }
                if self.random.u8(..3) == 0 {
                    let imports = [
                        json!("a"),
                        json!({"child": "a", "parent": "b"}),
                        json!({"child": "b.a", "parent": "."}),
                    ];
                    let index = self.random.usize(..imports.len());
                    one["import-values"] = json!([imports[index]]);
                }
                all.push(one);
            }
        }
        json!(all)
    }

    fn map(&mut self, depth: usize) -> Map<String, Value> {
        let mut map = Map::new();
        for _ in 0..self.random.usize(..6) {
            let key = self.pick(&KEYS);
            let value = self.value(key, depth);
            map.insert(key.to_owned(), value);
        }
        map
    }

    fn value(&mut self, key: &str, depth: usize) -> Value {
        let is_table = matches!(key, "global" | "db" | "exports" | "tags");
        match self.random.u8(..10) {
            _ if key == "enabled" => json!(self.random.bool()),
            0 => Value::Null,
            1..4 if depth < 3 => Value::Object(self.map(depth + 1)),
            _ if is_table && depth < 2 => Value::Object(self.map(depth + 1)),
            4 => json!([1, {"a": "x"}, null]),
            5 => json!(self.random.i16(..)),
            6 => json!(1.5),
            7 => json!(self.random.bool()),
            _ => json!(self.pick(&["x", "", "yes", "1", "multi\nline\n"])),
        }
    }

    fn schema(&mut self) -> Value {
        let schemas = [
            json!({"properties": {"a": {"type": "string"}, "b": {"type": ["number", "null"]}}}),
            json!({"required": ["a", "b"], "properties": {"a": {"enum": ["x", 1, null]}}}),
            json!({"additionalProperties": false, "properties": {"a": {}, "global": {}}}),
            json!({"properties": {"db": {"$ref": "#/$defs/db"}}, "$defs": {"db": {"required": ["a"], "properties": {"b": {"type": "object"}, "c": {"minimum": 5000, "type": "integer"}}}}}),
            json!({"$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "maxProperties": 2}),
        ];
        let index = self.random.usize(..schemas.len());
        schemas[index].clone()
    }
}

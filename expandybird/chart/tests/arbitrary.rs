//! No bytes make a chart panic or run without end. The seed of a failure is printed.

#![expect(clippy::expect_used, reason = "a test ends where it fails")]

use std::io::Write as _;

use expandybird_chart::{Capabilities, Chart, ChartError, File, Release, render, yaml};
use expandybird_gotemplate::budget::Limits;
use fastrand::Rng;
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::json;
use tar::{Builder, Header};

const ROUNDS: u64 = 400;

const CHART: &str = "apiVersion: v2\nname: web\nversion: 1.0.0\ndependencies:\n- {name: db, version: 1, alias: x, condition: a.b, import-values: [c, {child: d, parent: .}]}\n";
const VALUES: &str =
    "a: &a {b: [1, 2.5, ~, yes]}\nc: *a\nd: |\n  text\n<<: {f: 1}\nglobal: {e: null}\n";
const TEMPLATE: &str = "{{- define \"n\" }}{{ .Values.a.b | toYaml | nindent 2 }}{{ end -}}\nkind: Job\nmetadata:\n  annotations: {helm.sh/hook: pre-install, helm.sh/hook-weight: \"1\"}\nspec: {{ include \"n\" . }}{{ tpl \"{{ .Release.Name }}\" . }}\n---\n{{ range $i, $v := .Files.Glob \"{a,*}.[a-z]\" }}{{ $i }}{{ end }}\n";
const SCHEMA: &str = "{\"properties\": {\"a\": {\"anyOf\": [{\"type\": \"string\"}, {\"$ref\": \"#/$defs/x\"}]}}, \"$defs\": {\"x\": {\"required\": [\"b\"]}}}";

fn files() -> Vec<(&'static str, Vec<u8>)> {
    [
        ("Chart.yaml", CHART),
        ("values.yaml", VALUES),
        ("values.schema.json", SCHEMA),
        (".helmignore", "*.bak\n[a-c]/\n"),
        ("templates/t.yaml", TEMPLATE),
        ("charts/db/Chart.yaml", "{name: db, version: 1}"),
        ("charts/db/templates/d.yaml", "{{ .Values | toJson }}"),
        ("a.x", "x"),
    ]
    .map(|(name, text)| (name, text.as_bytes().to_vec()))
    .into()
}

/// Some bytes are others, are gone, or are there again.
fn changed(random: &mut Rng, bytes: &mut Vec<u8>) {
    for _ in 0..random.usize(..4) {
        let at = random.usize(..=bytes.len());
        let until = (at + random.usize(..8)).min(bytes.len());
        let piece: Vec<u8> = match random.u8(..3) {
            0 => Vec::new(),
            1 => bytes[at..until].repeat(2),
            _ => b"{}[]:&*!|>'\"\n-.$%"[..random.usize(..17)].to_vec(),
        };
        bytes.splice(at..until, piece);
    }
}

fn limits() -> Limits {
    Limits {
        steps: 200_000,
        ..Limits::default()
    }
}

fn rendered(chart: Result<Chart, ChartError>) -> Result<(), ChartError> {
    let release = Release::install("demo", "default");
    let values = json!({"a": {"x": null}});
    let capabilities = Capabilities::default();
    render(
        &chart?,
        &values,
        &release,
        &capabilities,
        limits(),
        Default::default(),
    )
    .map(|_| ())
}

#[test]
fn changed_charts_render_or_fail() {
    let mut renders = 0;
    for seed in 0..ROUNDS {
        println!("seed {seed}");
        let mut random = Rng::with_seed(seed);
        let mut files = files();
        let one = random.usize(..files.len());
        changed(&mut random, &mut files[one].1);
        let files = files.into_iter().map(|(name, data)| File::new(name, data));
        renders += usize::from(rendered(Chart::from_folder(files.collect())).is_ok());
    }
    assert!(renders > 0, "none of the charts renders");
}

fn archive() -> Vec<u8> {
    let mut archive = Builder::new(Vec::new());
    for (name, data) in files() {
        let mut header = Header::new_gnu();
        header.set_size(data.len() as u64);
        let added = archive.append_data(&mut header, format!("web/{name}"), data.as_slice());
        added.expect("it is added");
    }
    archive.into_inner().expect("it is whole")
}

fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).expect("it is written");
    encoder.finish().expect("it is whole")
}

#[test]
fn changed_archives_are_read_or_refused() {
    let whole = archive();
    assert!(Chart::from_archive(&packed(&whole)).is_ok());
    for seed in 0..ROUNDS {
        println!("seed {seed}");
        let mut random = Rng::with_seed(seed);
        let mut bytes = whole.clone();
        changed(&mut random, &mut bytes);
        let mut bytes = packed(&bytes);
        if random.bool() {
            changed(&mut random, &mut bytes);
        }
        drop(Chart::from_archive(&bytes));
    }
}

#[test]
fn any_text_is_yaml_or_not() {
    for seed in 0..ROUNDS * 5 {
        println!("seed {seed}");
        let mut random = Rng::with_seed(seed);
        let mut text = [VALUES, CHART, TEMPLATE][random.usize(..3)]
            .as_bytes()
            .to_vec();
        changed(&mut random, &mut text);
        drop(yaml::read(&text));
    }
}

#[test]
fn a_schema_that_refers_to_itself_ends() {
    for schema in [
        "{\"$ref\": \"#\"}",
        "{\"allOf\": [{\"$ref\": \"#\"}]}",
        "{\"$ref\": \"https://example.com/x.json\"}",
        "{\"$ref\": \"file:///etc/passwd\"}",
    ] {
        let mut files = files();
        files[2].1 = schema.into();
        let files = files.into_iter().map(|(name, data)| File::new(name, data));
        drop(rendered(Chart::from_files(files.collect())));
    }
}

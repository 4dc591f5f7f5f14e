//! What a schema marks as secret goes from the command line to the cluster, and is nowhere told or kept on the way.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use e2e::stack::AUDIT_LOG;
use e2e::{Said, Stack};
use serde_json::{Value, json};

/// One that occurs in nothing else, and one that has other forms in URLs, in quotes and in YAML.
const FIRST: &str = "firstPa55phrase";
const SECOND: &str = "it's \"2nd\" & 100%: seKret";

const SCHEMA: &str = "properties:
  password: {type: string, writeOnly: true}
  breaks: {type: string, default: ''}
required: [password]
";

/// The password in an environment, a URL, a Secret and an output; and, where it is to break, in a field that the cluster
/// refuses with its value.
const TEMPLATE: &str = r#"import base64
import urllib.parse

def GenerateConfig(context):
    password = context.properties['password']
    url = 'postgres://app:' + urllib.parse.quote(password, safe='') + '@db/app'
    environment = [{'name': 'PASSWORD', 'value': password}, {'name': 'URL', 'value': url}]
    container = {'name': 'main', 'image': 'simulated.invalid/well', 'env': environment}
    labels = {'app': 'web'}
    pods = {'metadata': {'labels': labels}, 'spec': {'containers': [container]}}
    coded = base64.b64encode(password.encode()).decode()
    breaks = context.properties['breaks']
    protocol = {'': 'TCP', 'given': password, 'referred': '$(ref.key.data.coded)'}[breaks]
    return {
        'resources': [
            {'name': 'web', 'type': 'Deployment', 'properties': {'spec': {
                'replicas': 1, 'selector': {'matchLabels': labels}, 'template': pods}}},
            {'name': 'key', 'type': 'Secret', 'properties': {
                'stringData': {'plain': password}, 'data': {'coded': coded}}},
            {'name': 'copy', 'type': 'ConfigMap', 'properties': {'data': {'coded': '$(ref.key.data.coded)'}}},
            {'name': 'front', 'type': 'Service', 'properties': {'spec': {
                'ports': [{'port': 80, 'protocol': protocol}], 'selector': labels}}},
        ],
        'outputs': [{'name': 'url', 'value': url}, {'name': 'coded', 'value': '$(ref.key.data.coded)'}],
    }
"#;

/// Everything that was said, and by whom.
#[derive(Default)]
struct Told {
    texts: Vec<(String, String)>,
}

impl Told {
    fn add(&mut self, source: impl Into<String>, text: impl Into<String>) {
        self.texts.push((source.into(), text.into()));
    }

    async fn dm(&mut self, stack: &Stack, args: &[&str]) -> Result<Said> {
        let said = stack.dm.run(args).await?;
        self.add(args.join(" "), format!("{}{}", said.stdout, said.stderr));
        Ok(said)
    }

    /// Each of these, as people and as programs read it.
    async fn read(&mut self, stack: &Stack, commands: &[&[&str]]) -> Result<()> {
        for command in commands {
            for form in [&[][..], &["-o", "json"], &["-o", "yaml"]] {
                let said = self.dm(stack, &[*command, form].concat()).await?;
                ensure!(said.code <= 2, "{command:?}: {said:?}");
            }
        }
        Ok(())
    }

    async fn get(&mut self, stack: &Stack, path: &str) -> Result<String> {
        let answer = reqwest::get(format!("{}{path}", stack.manager.url())).await?;
        let status = answer.status();
        let text = answer.text().await?;
        ensure!(status.is_success(), "{path}: {status}: {text}");
        self.add(path, text.clone());
        Ok(text)
    }

    fn file(&mut self, path: &Path) -> Result<()> {
        let bytes = std::fs::read(path)?;
        ensure!(!bytes.is_empty(), "nothing is in {}", path.display());
        self.add(path.display().to_string(), String::from_utf8_lossy(&bytes));
        Ok(())
    }

    fn folder(&mut self, path: &Path) -> Result<()> {
        for entry in std::fs::read_dir(path)? {
            let entry = entry?.path();
            match entry.is_dir() {
                true => self.folder(&entry)?,
                false if entry.metadata()?.len() > 0 => self.file(&entry)?,
                false => {}
            }
        }
        Ok(())
    }

    /// Where any of the forms of a value occurs, with what stands around it.
    fn occurrences(&self, value: &str) -> Vec<String> {
        let quoted = json!(value).to_string();
        let forms = [
            value.to_owned(),
            quoted.trim_matches('"').to_owned(),
            format!("{value:?}").trim_matches('"').to_owned(),
            value.replace('\'', "''"),
            STANDARD.encode(value),
            STANDARD.encode(STANDARD.encode(value)),
            percent_encoded(value),
        ];
        let mut found = Vec::new();
        for (source, text) in &self.texts {
            for form in &forms {
                found.extend(
                    text.match_indices(form.as_str())
                        .take(3)
                        .map(|(at, _)| format!("{source}: {}", around(text, at))),
                );
            }
        }
        found
    }
}

fn around(text: &str, at: usize) -> &str {
    let start = text.floor_char_boundary(at.saturating_sub(300));
    let end = text.ceil_char_boundary((at + 100).min(text.len()));
    text.get(start..end).unwrap_or_default()
}

fn percent_encoded(text: &str) -> String {
    let encoded = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
            char::from(byte).to_string()
        }
        _ => format!("%{byte:02X}"),
    };
    text.bytes().map(encoded).collect()
}

fn configured(stack: &Stack, password: &str, breaks: &str) -> Result<()> {
    let properties = json!({"password": password, "breaks": breaks});
    let resources = json!([{"name": "app", "type": "app.py", "properties": properties}]);
    let configuration = json!({"imports": [{"path": "app.py"}], "resources": resources});
    stack.write("web.yaml", &configuration.to_string())?;
    Ok(())
}

const READ: [&[&str]; 10] = [
    &["list"],
    &["get", "web"],
    &["status", "web"],
    &["manifest", "web"],
    &["layout", "web"],
    &["operations", "web"],
    &["deployed-types"],
    &["deployed-instances", "app.py"],
    &["expand", "web.yaml"],
    &["diff", "web.yaml"],
];

/// What the cluster has of it: a proof that the password got there.
fn in_cluster(stack: &Stack) -> Result<String> {
    let secrets = stack.cluster.objects(&stack.namespace, "secrets")?;
    let key = secrets.iter().find(|one| one["metadata"]["name"] == "key");
    let coded = key.and_then(|key| key["data"]["plain"].as_str());
    let bytes = STANDARD.decode(coded.context("there is no Secret")?)?;
    Ok(String::from_utf8(bytes)?)
}

async fn everything_is_read(told: &mut Told, stack: &Stack) -> Result<()> {
    told.read(stack, &READ).await?;
    let mut paths: Vec<_> = ["", "/resources", "/graph", "/manifests"]
        .iter()
        .map(|path| format!("/deployments/web{path}"))
        .collect();
    let manifests = told.get(stack, "/deployments/web/manifests").await?;
    for name in names(&manifests, "name")? {
        let manifest = format!("/deployments/web/manifests/{name}");
        paths.extend([format!("{manifest}/layout"), manifest]);
    }
    let operations = told.get(stack, "/operations").await?;
    for id in names(&operations, "id")? {
        let operation = format!("/operations/{id}");
        paths.extend([format!("{operation}/events"), operation]);
    }
    paths.extend(["/types/all/instances", "/types", "/metrics", "/deployments"].map(str::to_owned));
    for path in paths {
        told.get(stack, &path).await?;
    }
    Ok(())
}

fn names(list: &str, field: &str) -> Result<Vec<String>> {
    let list: Value = serde_json::from_str(list)?;
    let items = list["items"].as_array().context("no list")?;
    let names = items.iter().filter_map(|item| item[field].as_str());
    Ok(names.map(str::to_owned).collect())
}

#[tokio::test]
async fn a_secret_is_in_the_cluster_and_in_nothing_that_is_told_logged_or_kept() -> Result<()> {
    let (stack, mut told) = (Stack::telling_all().await?, Told::default());
    stack.write("app.py", TEMPLATE)?;
    stack.write("app.py.schema", SCHEMA)?;

    configured(&stack, FIRST, "")?;
    let deploy = ["deploy", "web.yaml", "--namespace", &stack.namespace];
    let said = told.dm(&stack, &deploy).await?;
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(in_cluster(&stack)?, FIRST);
    everything_is_read(&mut told, &stack).await?;

    configured(&stack, SECOND, "")?;
    for (code, args) in [
        (1, &["diff", "web.yaml"][..]),
        (0, &["preview", "web.yaml"]),
        (0, &["preview", "web"]),
        (0, &["update", "web", "--commit"]),
        (0, &["manifest", "diff", "web"]),
    ] {
        let said = told.dm(&stack, args).await?;
        assert_eq!(said.code, code, "{args:?}: {said:?}");
    }
    assert_eq!(in_cluster(&stack)?, SECOND);
    everything_is_read(&mut told, &stack).await?;

    for breaks in ["given", "referred"] {
        configured(&stack, SECOND, breaks)?;
        let said = told.dm(&stack, &["update", "web.yaml"]).await?;
        assert_eq!(said.code, 1, "{said:?}");
        assert!(said.stderr.contains("Unsupported value"), "{said:?}");
        let said = told.dm(&stack, &["diff", "web.yaml"]).await?;
        assert!(said.code > 0, "{said:?}");
        everything_is_read(&mut told, &stack).await?;
    }

    let first = told.get(&stack, "/deployments/web/manifests").await?;
    let first = names(&first, "name")?;
    let first = first.first().context("no manifest")?;
    let said = told.dm(&stack, &["rollback", "web", first]).await?;
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(in_cluster(&stack)?, FIRST);
    everything_is_read(&mut told, &stack).await?;

    told.dm(&stack, &["admin", "backup", "store.backup"])
        .await?;
    told.file(&stack.folder().join("store.backup"))?;
    told.folder(&stack.store())?;
    let said = told.dm(&stack, &["delete", "web"]).await?;
    assert_eq!(said.code, 0, "{said:?}");
    told.get(&stack, "/operations").await?;
    told.folder(&stack.store())?;
    told.file(&stack.folder().join(AUDIT_LOG))?;
    for service in [&stack.manager, &stack.expandybird, &stack.resourcifier] {
        told.file(&service.log_path())?;
    }

    let logs = told
        .texts
        .iter()
        .filter(|(source, _)| source.ends_with(".log"));
    assert!(
        logs.clone().any(|(_, text)| text.contains("TRACE")),
        "nothing was traced"
    );
    for value in [FIRST, SECOND] {
        let found = told.occurrences(value);
        assert!(
            found.is_empty(),
            "{} times:\n{}",
            found.len(),
            found.join("\n")
        );
    }
    Ok(())
}

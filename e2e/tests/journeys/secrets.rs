//! A secret goes from the command line, or from a Secret of the cluster, to its destination. It is not printed or
//! stored on the way: not in an answer, an event or a log, not on the disk, not among the arguments of a program.

use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use e2e::stack::AUDIT_LOG;
use e2e::{Said, Stack};
use serde_json::{Value, json};

/// One that occurs in nothing else, and one that has other forms in URLs, in quotes and in YAML.
const FIRST: &str = "firstPa55phrase";
const SECOND: &str = "it's \"2nd\" & 100%: seKret";
/// One that its schema refuses, and one of another type.
const REFUSED: &str = "th1rd#Pa55phrase";
const NUMBER: u64 = 9_876_543_210_123;
/// What a caller shows, and what opens registries.
const TOKEN: &str = "b3arer-of-somebody";
const CREDENTIAL: &str = "t0ken-of-a-registry";
const USER: &str = "userPa55word";
/// In a Secret that is in the cluster before, and what somebody else puts in its place.
const FOUND: &str = "f0und-in-the-cluster";
const THEIRS: &str = "th31rs-and-not-0urs";

const SCHEMA: &str = "properties:
  password: {type: string, writeOnly: true, pattern: '^[^#]+$'}
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
    if breaks == 'template':
        raise ValueError('of no use: ' + password)
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

/// A template of a registry, whose later version puts the password elsewhere too.
const REGISTERED: &str = r#"def GenerateConfig(context):
    password = context.properties['password']
    data = {'url': 'postgres://app:' + password + '@db/app'MORE}
    return {'resources': [{'name': context.env['deployment'] + '-url', 'type': 'ConfigMap', 'properties': {'data': data}}]}
"#;

/// How often the running programs are looked at.
const GLANCE: Duration = Duration::from_millis(250);

/// All collected output, with its source.
#[derive(Default)]
struct Output {
    texts: Vec<(String, String)>,
    /// How each was called, when it was looked at last.
    programs: HashMap<String, String>,
}

impl Output {
    fn add(&mut self, source: impl Into<String>, text: impl Into<String>) {
        self.texts.push((source.into(), text.into()));
    }

    /// What `dm` says, and how the services' programs are called meanwhile.
    async fn dm(&mut self, stack: &Stack, args: &[&str]) -> Result<Said> {
        let mut run = std::pin::pin!(stack.dm.run(args));
        let said = loop {
            tokio::select! {
                said = &mut run => break said?,
                () = tokio::time::sleep(GLANCE) => self.programs(stack)?,
            }
        };
        self.add(args.join(" "), format!("{}{}", said.stdout, said.stderr));
        Ok(said)
    }

    fn programs(&mut self, stack: &Stack) -> Result<()> {
        for service in [&stack.manager, &stack.expandybird, &stack.resourcifier] {
            for (source, text) in service.called()? {
                // The same again says nothing new.
                let known = self.programs.entry(source.clone()).or_default();
                if *known != text {
                    known.clone_from(&text);
                    self.add(source, text);
                }
            }
        }
        Ok(())
    }

    /// All that is kept and logged.
    async fn kept(&mut self, stack: &Stack) -> Result<()> {
        self.dm(stack, &["admin", "backup", "store.backup"]).await?;
        self.file(&stack.folder().join("store.backup"))?;
        self.folder(&stack.disk())?;
        self.file(&stack.folder().join(AUDIT_LOG))?;
        for service in [&stack.manager, &stack.expandybird, &stack.resourcifier] {
            self.file(&service.log_path())?;
        }
        Ok(())
    }

    /// That there is nothing of these values in all of it.
    fn holds_none_of(&self, values: &[&str]) {
        let mut logs = self.texts.iter();
        assert!(
            logs.any(|(source, text)| source.ends_with(".log") && text.contains("TRACE")),
            "nothing was traced"
        );
        for value in values {
            let found = self.occurrences(value);
            assert!(
                found.is_empty(),
                "{} times:\n{}",
                found.len(),
                found.join("\n")
            );
        }
    }

    /// Each of these, as people and as programs read it.
    async fn read(&mut self, stack: &Stack, commands: &[&[&str]]) -> Result<()> {
        for command in commands {
            for form in [&[][..], &["-o", "json"], &["-o", "yaml"]] {
                let said = self.dm(stack, &[*command, form].concat()).await?;
                ensure!(said.code <= 3, "{command:?}: {said:?}");
            }
        }
        Ok(())
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "a stranger to the manager asks it"
    )]
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
                // What the store has done with meanwhile is gone, or empty.
                false => {
                    let bytes = std::fs::read(&entry).unwrap_or_default();
                    let text = String::from_utf8_lossy(&bytes);
                    self.add(entry.display().to_string(), text);
                }
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
    configuration(stack, &json!({"password": password, "breaks": breaks}))
}

fn configuration(stack: &Stack, properties: &Value) -> Result<()> {
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

async fn everything_is_read(output: &mut Output, stack: &Stack) -> Result<()> {
    output.read(stack, &READ).await?;
    let mut paths: Vec<_> = ["", "/resources", "/graph", "/manifests"]
        .iter()
        .map(|path| format!("/deployments/web{path}"))
        .collect();
    let manifests = output.get(stack, "/deployments/web/manifests").await?;
    for name in names(&manifests, "name")? {
        let manifest = format!("/deployments/web/manifests/{name}");
        paths.extend([format!("{manifest}/layout"), manifest]);
    }
    let operations = output.get(stack, "/operations").await?;
    for id in names(&operations, "id")? {
        let operation = format!("/operations/{id}");
        paths.extend([format!("{operation}/events"), operation]);
    }
    paths.extend(["/types/all/instances", "/types", "/metrics", "/deployments"].map(str::to_owned));
    for path in paths {
        output.get(stack, &path).await?;
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
    let (stack, mut output) = (Stack::telling_all().await?, Output::default());
    stack.write("app.py", TEMPLATE)?;
    stack.write("app.py.schema", SCHEMA)?;

    configured(&stack, FIRST, "")?;
    let deploy = ["deploy", "web.yaml", "--namespace", &stack.namespace];
    let said = output.dm(&stack, &deploy).await?;
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(in_cluster(&stack)?, FIRST);
    everything_is_read(&mut output, &stack).await?;

    configured(&stack, SECOND, "")?;
    for (code, args) in [
        (1, &["diff", "web.yaml"][..]),
        (0, &["preview", "web.yaml"]),
        (0, &["preview", "web"]),
        (0, &["update", "web", "--commit"]),
        (1, &["manifest", "diff", "web"]),
    ] {
        let said = output.dm(&stack, args).await?;
        assert_eq!(said.code, code, "{args:?}: {said:?}");
    }
    assert_eq!(in_cluster(&stack)?, SECOND);
    everything_is_read(&mut output, &stack).await?;

    for breaks in ["given", "referred"] {
        configured(&stack, SECOND, breaks)?;
        let said = output.dm(&stack, &["update", "web.yaml"]).await?;
        assert_eq!(said.code, 1, "{said:?}");
        assert!(said.stderr.contains("Unsupported value"), "{said:?}");
        let said = output.dm(&stack, &["diff", "web.yaml"]).await?;
        assert!(said.code > 0, "{said:?}");
        everything_is_read(&mut output, &stack).await?;
    }

    let first = output.get(&stack, "/deployments/web/manifests").await?;
    let first = names(&first, "name")?;
    let first = first.first().context("no manifest")?;
    let said = output.dm(&stack, &["rollback", "web", first]).await?;
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(in_cluster(&stack)?, FIRST);
    everything_is_read(&mut output, &stack).await?;

    output.kept(&stack).await?;
    let said = output.dm(&stack, &["delete", "web"]).await?;
    assert_eq!(said.code, 0, "{said:?}");
    output.get(&stack, "/operations").await?;
    output.kept(&stack).await?;
    output.holds_none_of(&[FIRST, SECOND]);
    Ok(())
}

#[tokio::test]
async fn a_secret_is_not_quoted_by_who_refuses_it() -> Result<()> {
    let (stack, mut output) = (Stack::telling_all().await?, Output::default());
    stack.write("app.py", TEMPLATE)?;
    stack.write("app.py.schema", SCHEMA)?;
    configured(&stack, FIRST, "")?;
    let deploy = ["deploy", "web.yaml", "--namespace", &stack.namespace];
    assert_eq!(output.dm(&stack, &deploy).await?.code, 0);
    for (password, breaks, reason) in [
        (json!(REFUSED), "", "password"),
        (json!(NUMBER), "", "password"),
        (json!(SECOND), "template", "ValueError"),
    ] {
        let properties = json!({"password": password, "breaks": breaks});
        configuration(&stack, &properties)?;
        for command in [
            &["expand", "web.yaml"][..],
            &["diff", "web.yaml"],
            &["preview", "web.yaml"],
            &["update", "web.yaml"],
            &["update", "web.yaml", "--rollback-on-failure"],
        ] {
            let said = output.dm(&stack, command).await?;
            assert!(said.code > 0 && said.stderr.contains(reason), "{said:?}");
        }
    }
    everything_is_read(&mut output, &stack).await?;
    output.kept(&stack).await?;
    output.holds_none_of(&[FIRST, SECOND, REFUSED, &NUMBER.to_string()]);
    Ok(())
}

#[tokio::test]
async fn versions_are_compared_and_rolled_out_without_telling_the_secrets_in_them() -> Result<()> {
    let (stack, mut output) = (Stack::telling_all().await?, Output::default());
    for (version, more) in [("v1.0.0", ""), ("v1.1.0", ", 'password': password")] {
        let folder = stack.folder().join("shop/app").join(version);
        std::fs::create_dir_all(&folder)?;
        std::fs::write(folder.join("app.py"), REGISTERED.replace("MORE", more))?;
        std::fs::write(folder.join("app.py.schema"), SCHEMA)?;
    }
    let shop = stack.folder().join("shop").display().to_string();
    let properties = json!({"password": FIRST}).to_string();
    stack.write("properties.json", &properties)?;
    stack.write("credential", CREDENTIAL)?;
    let opened = format!("https://somebody:{USER}@registry.invalid/templates");
    for (code, args) in [
        (
            0,
            &["createregistry", "shop", &shop, "--type", "directory"][..],
        ),
        (
            0,
            &[
                "deploy",
                "shop/app:v1.0",
                "--name",
                "web",
                "--properties-file",
                "properties.json",
                "--namespace",
                &stack.namespace,
            ],
        ),
        (0, &["whatif", "shop/app:v1.1", "--full"]),
        (0, &["upgrade", "--template", "shop/app:v1.1"]),
        (1, &["manifest", "diff", "web"]),
        (0, &["setcredential", "opener", "credential"]),
        (0, &["getcredential", "opener"]),
        (
            0,
            &[
                "createregistry",
                "away",
                "oci+http://127.0.0.1:1/templates",
                "--credential",
                "opener",
            ],
        ),
        (
            0,
            &[
                "createregistry",
                "gone",
                "http://127.0.0.1:1/r.git",
                "--type",
                "git",
                "--credential",
                "opener",
            ],
        ),
    ] {
        let said = output.dm(&stack, args).await?;
        assert_eq!(said.code, code, "{args:?}: {said:?}");
    }
    for args in [
        &["templates", "away"][..],
        &["templates", "gone"],
        &["describe", "away/app:v1"],
        &["describe", "gone/app:v1"],
        &["createregistry", "open", &opened, "--type", "git"],
    ] {
        let said = output.dm(&stack, args).await?;
        assert!(said.code > 0, "{args:?}: {said:?}");
    }
    let maps = stack.cluster.objects(&stack.namespace, "configmaps")?;
    assert!(maps.iter().any(|map| map["data"]["password"] == FIRST));
    let somebody = stack.dm.with_token(TOKEN.to_owned());
    for args in [&["list"][..], &["whoami"]] {
        let said = somebody.run(args).await?;
        output.add(args.join(" "), format!("{}{}", said.stdout, said.stderr));
    }
    for command in [
        &["registries"][..],
        &["status", "web"],
        &["manifest", "web"],
        &["whatif", "shop/app:v1.0", "--full"],
    ] {
        output.read(&stack, &[command]).await?;
    }
    for path in [
        "/registries",
        "/credentials",
        "/operations",
        "/deployments/web",
        "/metrics",
    ] {
        output.get(&stack, path).await?;
    }
    output.kept(&stack).await?;
    output.holds_none_of(&[FIRST, CREDENTIAL, USER, TOKEN]);
    Ok(())
}

/// What uses a Secret that somebody else has made.
fn using(stack: &Stack, protocol: &str) -> Result<()> {
    let value = "$(ref.existing.data.password)";
    let policies = json!({"createPolicy": "ACQUIRE", "deletePolicy": "ABANDON"});
    let ports = json!([{"port": 80, "protocol": protocol}]);
    let resources = json!([
        {"name": "existing", "type": "Secret", "metadata": policies},
        {"name": "copy", "type": "Secret", "properties": {"data": {"password": value}}},
        {"name": "settings", "type": "ConfigMap", "properties": {"data": {"coded": value}}},
        // By way of an object that is not a Secret.
        {"name": "further", "type": "ConfigMap", "properties": {"data": {"coded": "$(ref.settings.data.coded)"}}},
        {"name": "front", "type": "Service", "properties": {"spec": {"ports": ports, "selector": {"a": "b"}}}},
    ]);
    let outputs = json!([
        {"name": "direct", "value": value},
        {"name": "indirect", "value": "$(ref.settings.data.coded)"},
    ]);
    let configuration = json!({"resources": resources, "outputs": outputs});
    stack.write("web.yaml", &configuration.to_string())?;
    Ok(())
}

fn object(stack: &Stack, kind: &str, name: &str) -> Result<Value> {
    let objects = stack.cluster.objects(&stack.namespace, kind)?;
    let mut objects = objects.into_iter();
    let found = objects.find(|one| one["metadata"]["name"] == name);
    found.with_context(|| format!("there is no {name} among {kind}"))
}

#[tokio::test]
async fn a_secret_of_the_cluster_is_used_where_it_is_and_stays_as_it_was() -> Result<()> {
    let (stack, mut output) = (Stack::telling_all().await?, Output::default());
    let given = format!("--from-literal=password={FOUND}");
    let place = ["--namespace", &stack.namespace];
    let create = ["create", "secret", "generic", "existing", &given];
    stack.cluster.kubectl(&[&create[..], &place].concat())?;
    let before = object(&stack, "secrets", "existing")?;
    let coded = before["data"]["password"].clone();

    using(&stack, "TCP")?;
    let diff = [&["diff", "web.yaml"][..], &place].concat();
    assert_eq!(output.dm(&stack, &diff).await?.code, 1);
    let deploy = [&["deploy", "web.yaml"][..], &place].concat();
    let said = output.dm(&stack, &deploy).await?;
    assert_eq!(said.code, 0, "{said:?}");
    for (kind, name, key) in [
        ("secrets", "existing", "password"),
        ("secrets", "copy", "password"),
        ("configmaps", "settings", "coded"),
        ("configmaps", "further", "coded"),
    ] {
        assert_eq!(object(&stack, kind, name)?["data"][key], coded, "{name}");
    }
    let after = object(&stack, "secrets", "existing")?;
    let unchanged = |field: &str| before[field] == after[field];
    assert!(
        ["data", "type", "immutable"].into_iter().all(unchanged),
        "{after}"
    );
    everything_is_read(&mut output, &stack).await?;

    using(&stack, "$(ref.existing.data.password)")?;
    let said = output.dm(&stack, &["update", "web.yaml"]).await?;
    assert!(
        said.code == 1 && said.stderr.contains("Unsupported value: \"(redacted)\""),
        "{said:?}"
    );
    everything_is_read(&mut output, &stack).await?;

    using(&stack, "TCP")?;
    let theirs = json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"coded": THEIRS},
        "metadata": {"name": "settings", "namespace": stack.namespace}});
    let take = ["apply", "--server-side", "--force-conflicts"];
    stack.cluster.kubectl_with(&theirs.to_string(), &take)?;
    let said = output.dm(&stack, &["update", "web.yaml"]).await?;
    assert!(
        said.code == 1 && said.stderr.contains("data.coded is (redacted) by"),
        "{said:?}"
    );
    output
        .read(
            &stack,
            &[
                &["get", "web"],
                &["operations", "web"],
                &["manifest", "web"],
            ],
        )
        .await?;
    let take = ["update", "web.yaml", "--conflict-policy", "take"];
    let said = output.dm(&stack, &take).await?;
    assert_eq!(said.code, 0, "{said:?}");
    everything_is_read(&mut output, &stack).await?;

    let said = output.dm(&stack, &["delete", "web"]).await?;
    assert_eq!(said.code, 0, "{said:?}");
    let left = object(&stack, "secrets", "existing")?;
    assert_eq!(left["data"], before["data"]);
    assert_eq!(left["metadata"]["uid"], before["metadata"]["uid"]);
    assert_eq!(left["metadata"]["labels"], before["metadata"]["labels"]);
    assert!(!stack.names("configmaps")?.contains(&"settings".to_owned()));
    output.kept(&stack).await?;
    output.holds_none_of(&[FOUND, THEIRS]);
    Ok(())
}

//! What an author publishes, users deploy: from a folder, a git repository and an OCI registry.

use std::process::Command;

use anyhow::{Result, ensure};
use e2e::git_daemon::GitDaemon;
use e2e::github::Github;
use e2e::hub::Hub;
use e2e::{Said, Stack};
use serde_json::Value;

/// As an author has it, in the folder that `dm` runs in.
struct Author {
    stack: Stack,
}

impl Author {
    async fn new() -> Result<Self> {
        let stack = Stack::start().await?;
        let config = "[user]\nname = Ada\nemail = ada@example.com\n";
        stack.write(".gitconfig", config)?;
        Ok(Self { stack })
    }

    fn write(&self, path: &str, content: &str) -> Result<()> {
        let place = self.stack.folder().join(path);
        if let Some(folder) = place.parent() {
            std::fs::create_dir_all(folder)?;
        }
        Ok(std::fs::write(place, content)?)
    }

    /// A version of `web`: a map with a greeting, in Python with a helper, whose example brings a file along.
    fn version(&self, version: &str, schema: &str, outputs: &str) -> Result<()> {
        let at = |file: &str| format!("web/{version}/{file}");
        let template = format!(
            "import words\n\ndef generate_config(context):\n  data = {{'text': words.greeting(context.properties['name'])}}\n  \
             return {{'resources': [{{'name': context.env['name'], 'type': 'ConfigMap', 'properties': {{'data': data}}}}],\n    \
             'outputs': {outputs}}}\n"
        );
        self.write(&at("web.py"), &template)?;
        self.write(&at("web.py.schema"), schema)?;
        self.write(
            &at("words.py"),
            "def greeting(name): return 'Hello ' + name\n",
        )?;
        self.write(
            &at("readme.jinja"),
            "resources: [{name: readme, type: ConfigMap}]\n",
        )?;
        let reference = version.rsplit_once('.').map_or(version, |(minor, _)| minor);
        let example = format!(
            "imports: [{{path: readme.jinja}}]\nresources:\n- {{name: greeting, type: 'web:{reference}', properties: {{name: you}}}}\n\
             - {{name: readme, type: readme.jinja}}\n"
        );
        self.write(&at("example.yaml"), &example)
    }

    async fn publish(&self, version: &str, target: &str) -> Result<String> {
        let folder = format!("web/{version}");
        let published = self.stack.dm.ok(&["publish", &folder, target]).await?;
        Ok(published)
    }

    async fn refused(&self, version: &str, target: &str, more: &[&str]) -> Result<Said> {
        let folder = format!("web/{version}");
        let args = [&["publish", &folder, target], more].concat();
        self.stack.dm.run(&args).await
    }

    async fn register(&self, name: &str, url: &str, more: &[&str]) -> Result<()> {
        let args = [&["createregistry", name, url], more].concat();
        self.stack.dm.ok(&args).await?;
        Ok(())
    }

    async fn expanded(&self, reference: &str) -> Result<Value> {
        let args = [
            "expand",
            reference,
            "--name",
            "hi",
            "--properties",
            "name=you",
        ];
        let expansion = self.stack.dm.json(&args).await?;
        Ok(expansion["expandedConfig"]["resources"][0]["properties"]["data"]["text"].clone())
    }

    /// The check that compares with the version before, and whether all of the test went well.
    async fn tested(&self, what: &str) -> Result<(bool, Value)> {
        let namespace = &self.stack.namespace;
        let args = ["test", what, "--namespace", namespace, "-o", "json"];
        let said = self.stack.dm.run(&args).await?;
        ensure!(said.code < 2, "{what}: {}{}", said.stdout, said.stderr);
        let report: Value = serde_json::from_str(&said.stdout)?;
        Ok((said.code == 0, report))
    }
}

const SCHEMA: &str =
    "imports: [{path: words.py}]\nrequired: [name]\nproperties: {name: {type: string}}\n";
const OUTPUT: &str = "[{'name': 'text', 'value': data['text']}]";

#[tokio::test]
async fn what_is_published_anywhere_is_deployed_tested_and_kept_to_the_rules_there() -> Result<()> {
    let mut author = Author::new().await?;
    let folder = author.stack.folder().to_owned();
    let path = |name: &str| folder.join(name).display().to_string();
    let (git, hub) = (GitDaemon::serve(&folder).await?, Hub::start()?);
    std::fs::create_dir(path("shelf"))?;
    let bare = ["init", "--quiet", "--bare", "-b", "main", &path("r.git")];
    ensure!(
        Command::new("git").args(bare).status()?.success(),
        "git init"
    );
    author
        .stack
        .manager
        .again_with(&[
            "--registry-folder",
            &path(""),
            "--registry-cache",
            &path("cache"),
            "--registry-refresh",
            "0s",
        ])
        .await?;
    let (repository, artifacts) = (git.url("r.git"), hub.url("shop/t"));
    let targets = [
        ("folder", "shelf", "directory"),
        ("git", &repository, "git"),
        ("oci", &artifacts, "oci"),
    ];
    author.version("v1.0.0", SCHEMA, OUTPUT)?;
    author.version("v1.0.1", &format!("# fixed\n{SCHEMA}"), OUTPUT)?;
    author.version("v1.0.2", SCHEMA, "[]")?;
    for (name, target, kind) in targets {
        author.register(name, target, &["--type", kind]).await?;
        author.publish("v1.0.0", target).await?;
        let reference = format!("{name}/web:v1");
        assert_eq!(author.expanded(&reference).await?, "Hello you", "{name}");
        let said = author.publish("v1.0.1", target).await?;
        assert!(said.contains("compared with v1.0.0"), "{name}: {said}");
        let (is_ok, report) = author.tested(&reference).await?;
        assert!(is_ok, "{name}: {report}");
        assert_eq!(report["template"], format!("{name}/web:v1.0.1"));

        let refused = author.refused("v1.0.2", target, &[]).await?;
        assert_eq!(refused.code, 1, "{name}: {}", refused.stderr);
        for reason in ["output text is removed", "as web/v2.0.0", "--no-compare"] {
            assert!(
                refused.stderr.contains(reason),
                "{name}: {}",
                refused.stderr
            );
        }
        let forced = author.refused("v1.0.2", target, &["--no-compare"]).await?;
        assert_eq!(forced.code, 0, "{name}: {}", forced.stderr);
        assert!(forced.stderr.contains("warning: "), "{}", forced.stderr);
        let (is_ok, report) = author.tested(&reference).await?;
        assert!(!is_ok, "{name}: {report}");
        let said = report["checks"][0]["told"].to_string();
        assert!(said.contains("output text is removed"), "{name}: {report}");
    }
    Ok(())
}

#[tokio::test]
async fn a_version_on_github_and_a_package_in_a_folder_are_tested() -> Result<()> {
    let mut author = Author::new().await?;
    let folder = author.stack.folder().to_owned();
    author.version("v1.0.0", SCHEMA, OUTPUT)?;
    author.version("v1.1.0", SCHEMA, "[]")?;
    let github = Github::serve(&folder).await?;
    let cache = folder.join("cache").display().to_string();
    let flags = [
        "--github-api-url",
        &github.api_url,
        "--registry-cache",
        &cache,
        "--allow-private-registries",
    ];
    author.stack.manager.again_with(&flags).await?;
    let (is_ok, report) = author.tested("github.com/owner/repository/web:v1").await?;
    assert!(is_ok, "{report}");
    let (is_ok, report) = author
        .tested("github.com/owner/repository/web:v1.1")
        .await?;
    assert!(!is_ok, "{report}");
    let said = report["checks"][0]["told"].to_string();
    assert!(
        said.contains("since v1.0.0: output text is removed"),
        "{report}"
    );

    let object = "{apiVersion: v1, kind: Secret, metadata: {name: raw}}";
    author.write("raw/manifests/a.yaml", object)?;
    author.write("raw/Chart.yaml", "name: raw\nversion: 0.1.0\n")?;
    author.write(
        "raw/v0.2.0/manifests/a.yaml",
        &object.replace("Secret", "Bad Kind"),
    )?;
    author.write("raw/v0.2.0/Chart.yaml", "version: 0.2.0\n")?;
    for what in ["raw", "github.com/owner/repository/raw:v0.1"] {
        let (is_ok, report) = author.tested(what).await?;
        assert!(is_ok, "{what}: {report}");
    }
    let said = author.stack.dm.fails(1, &["test", "raw/v0.2.0"]).await?;
    assert!(said.contains("manifests/a.yaml"), "{said}");
    Ok(())
}

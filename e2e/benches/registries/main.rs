//! A registry of 1,000 templates with 5 versions each, in a git repository: beside `git` and `find` on the same repository.
//! And a what-if over 500 deployments of a template ([`whatif`]). Each is measured in turn with what stands beside it, in one
//! run.
//!
//! `make bench` builds in release mode and runs this, for the figures that the README quotes. The manager is asked over
//! HTTP, and its time for that counts. Times are medians over the runs, with the fastest and slowest.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use common::api::page::PageQuery;
use common::client::ManagerClient;
use common::model::{RegistryDefinition, RegistryName, RegistryType};
use e2e::Repository;
use e2e::program::Service;
use e2e::repository::git;

#[path = "../scale/stand_in.rs"]
mod stand_in;
mod times;
mod whatif;

use times::{Times, row};

const TEMPLATES: usize = 1_000;
const VERSIONS: [&str; 5] = ["v1", "v1.0.1", "v1.1", "v1.1.1", "v2"];
/// Listings from nothing, each of an empty cache.
const COLD: usize = 5;
/// References resolved one after the other before what one would use instead has its turn.
const IN_A_ROW: usize = 10;
const WARM: usize = 100;

#[tokio::main]
async fn main() -> Result<()> {
    // `cargo test --benches` asks for a list or a dry run; there is nothing to test here.
    if !std::env::args().any(|arg| arg == "--bench") {
        return Ok(());
    }
    let folder = tempfile::tempdir()?;
    let place = folder.path().join("r");
    fill(&place)?;
    let repository = Repository::serve(&place).await?;
    repository.git(&["gc", "--quiet"])?;
    let url = repository.url();
    println!("| what | ours | instead | ours / instead |\n|---|---|---|---|");
    let [mut ours, mut instead] = [Times::default(), Times::default()];
    let mut last = None;
    for run in 0..COLD {
        let (place, clone) = (
            folder.path().join(format!("m{run}")),
            folder.path().join("clone"),
        );
        std::fs::create_dir(&place)?;
        let manager = Asked::start(&place, url).await?;
        ours.of(manager.list()).await?;
        instead.of(async { cloned(url, &clone) }).await?;
        last = Some((manager, clone));
    }
    row(
        "list it from nothing, `git clone --depth 1` and `find`",
        &ours,
        &instead,
    );
    let (mut manager, clone) = last.context("there was no run")?;
    warm(&manager, &clone).await?;
    manager.service.stop().await?;
    whatif::measure(folder.path()).await
}

async fn warm(manager: &Asked, clone: &Path) -> Result<()> {
    let [mut ours, mut instead] = [Times::default(), Times::default()];
    for _ in 0..WARM {
        ours.of(manager.list()).await?;
        instead.of(async { found(clone) }).await?;
    }
    row("list it again, `find` in the clone", &ours, &instead);
    let [mut ours, mut instead] = [Times::default(), Times::default()];
    for _ in 0..WARM {
        // The first after a rest is mostly the processor's waking up.
        for _ in 0..IN_A_ROW {
            ours.of(manager.resolve()).await?;
        }
        instead.of(async { fetched(clone) }).await?;
    }
    row(
        "resolve a reference again, `git fetch` and `cat`",
        &ours,
        &instead,
    );
    Ok(())
}

struct Asked {
    client: ManagerClient,
    service: Service,
}

impl Asked {
    async fn start(folder: &Path, url: &str) -> Result<Self> {
        let cache = folder.join("cache").display().to_string();
        let args = [
            "--store",
            "memory",
            "--registry-refresh",
            "1h",
            "--registry-cache",
            &cache,
        ];
        let args = args.map(str::to_owned).to_vec();
        let service = Service::start("manager", folder, args).await?;
        let client = ManagerClient::new(&service.url())?;
        let definition = RegistryDefinition::new(RegistryType::Git, url);
        client
            .create_registry(&RegistryName::parse("large")?, &definition)
            .await?;
        Ok(Self { client, service })
    }

    async fn list(&self) -> Result<()> {
        let (mut page, mut count) = (
            PageQuery {
                limit: Some(1_000),
                page_token: None,
            },
            0,
        );
        loop {
            let given = self.client.templates("large", None, &page).await?;
            count += given.items.len();
            page.page_token = given.next_page_token;
            if page.page_token.is_none() {
                break;
            }
        }
        ensure!(count == TEMPLATES, "{count} templates are listed");
        Ok(())
    }

    async fn resolve(&self) -> Result<()> {
        let reported = self.client.describe("large/t500:v1").await?;
        ensure!(
            reported.resolved.version.as_deref() == Some("v1.0.1"),
            "another version"
        );
        Ok(())
    }
}

/// Each version has a template, a schema and an example.
fn fill(folder: &Path) -> Result<()> {
    for number in 0..TEMPLATES {
        for version in VERSIONS {
            let name = format!("t{number}");
            let place = folder.join(&name).join(version);
            std::fs::create_dir_all(&place)?;
            let write = |file: String, text: String| std::fs::write(place.join(file), text);
            write(
                format!("{name}.jinja"),
                format!("# {name} {version}\nresources: []\n"),
            )?;
            let schema =
                format!("info: {{title: {name}}}\nproperties: {{size: {{type: integer}}}}\n");
            write(format!("{name}.jinja.schema"), schema)?;
            write(
                "example.yaml".to_owned(),
                format!("# of {name}\nresources: []\n"),
            )?;
        }
    }
    Ok(())
}

fn run(command: &mut Command) -> Result<()> {
    let output = command.output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{command:?}: {said}");
    Ok(())
}

fn cloned(url: &str, clone: &Path) -> Result<()> {
    if clone.exists() {
        std::fs::remove_dir_all(clone)?;
    }
    run(Command::new("git")
        .args(["clone", "--quiet", "--depth", "1", url])
        .arg(clone))?;
    found(clone)
}

fn found(clone: &Path) -> Result<()> {
    let mut find = Command::new("find");
    run(find
        .arg(clone)
        .args(["-mindepth", "2", "-maxdepth", "2", "-type", "d"]))
}

fn fetched(clone: &Path) -> Result<()> {
    git(clone, &["fetch", "--quiet", "--depth", "1", "origin"])?;
    let version = clone.join("t500/v1.0.1");
    run(Command::new("cat")
        .args(["t500.jinja", "t500.jinja.schema"])
        .current_dir(version))
}

//! Clients that generators make of the manager's description: each deploys, pages, watches, updates and deletes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use anyhow::{Context as _, Result, ensure};
use e2e::program::{checkout, path_of};
use e2e::{Stack, go};

/// What the generator of Python clients says about each body that may be YAML as well as JSON.
const ALSO_YAML: &str = "Unsupported content type application/yaml";

fn done(command: &mut Command) -> Result<String> {
    let Output {
        status,
        stdout,
        stderr,
    } = command.output().with_context(|| format!("{command:?}"))?;
    let said = String::from_utf8_lossy(&stdout).into_owned() + &String::from_utf8_lossy(&stderr);
    ensure!(status.success(), "{command:?}: {said}");
    Ok(said)
}

/// The description, in a file.
fn description(folder: &Path) -> Result<PathBuf> {
    let printed = Command::new(path_of("manager")?)
        .arg("--print-openapi")
        .output()?;
    ensure!(printed.status.success(), "no description is printed");
    let file = folder.join("openapi.json");
    fs::write(&file, printed.stdout)?;
    Ok(file)
}

/// Runs Python with the generator, and with what it generated in the folder.
fn python(folder: &Path) -> Result<Command> {
    let generators = checkout().join("target/generators");
    ensure!(
        generators.exists(),
        "the generator of clients is not in target/generators: run `make setup`"
    );
    let path = std::env::join_paths([generators.as_path(), folder])?;
    let mut command = Command::new("python3");
    command.env("PYTHONPATH", path).env("PYTHONUTF8", "1");
    Ok(command)
}

/// The warnings of the generator that are about more than YAML: it leaves something out.
fn left_out(said: &str) -> Vec<&str> {
    let blocks = said.split("WARNING parsing ").skip(1);
    let mut found: Vec<&str> = blocks.filter(|block| !block.contains(ALSO_YAML)).collect();
    let others = ["ERROR", "Unable to process"];
    found.extend(
        others
            .iter()
            .filter_map(|word| said.find(word))
            .map(|at| &said[at..]),
    );
    found
}

async fn run(mut command: Command) -> Result<String> {
    tokio::task::spawn_blocking(move || done(&mut command)).await?
}

#[tokio::test]
async fn a_generated_python_client_deploys_pages_watches_and_deletes() -> Result<()> {
    let stack = Stack::start().await?;
    let (folder, sources) = (stack.folder(), checkout().join("e2e/clients/python"));
    let mut generate = python(folder)?;
    generate
        .args(["-m", "openapi_python_client", "generate", "--meta", "none"])
        .arg("--path")
        .arg(description(folder)?)
        .arg("--output-path")
        .arg(folder.join("deployment_manager"))
        .arg("--config")
        .arg(sources.join("config.yml"));
    let said = run(generate).await?;
    let left_out = left_out(&said);
    ensure!(left_out.is_empty(), "{left_out:?}");
    let mut journey = python(folder)?;
    let url = stack.manager.url();
    journey
        .arg(sources.join("journey.py"))
        .args([&url, &stack.namespace]);
    run(journey).await?;
    Ok(())
}

#[tokio::test]
async fn a_generated_go_client_deploys_pages_watches_and_deletes() -> Result<()> {
    let stack = Stack::start().await?;
    let module = stack.folder().join("clients");
    fs::create_dir_all(module.join("api"))?;
    for file in ["go.mod", "go.sum", "config.yaml", "main.go"] {
        let from = checkout().join("e2e/clients/go").join(file);
        fs::copy(&from, module.join(file)).with_context(|| from.display().to_string())?;
    }
    let mut generate = go::command(&module);
    generate
        .args(["tool", "oapi-codegen", "-config", "config.yaml"])
        .arg(description(stack.folder())?);
    run(generate).await?;
    let mut build = go::command(&module);
    build.args(["build", "-o", "journey", "."]);
    run(build).await?;
    let mut journey = Command::new(module.join("journey"));
    journey.args([&stack.manager.url(), &stack.namespace]);
    run(journey).await?;
    Ok(())
}

//! The first minutes of an author: `dm init`, `dm lint`, `dm test`, and a deployment, in each language.

use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use e2e::Stack;
use e2e::program::path_of;

const LANGUAGES: [(&str, &str); 3] = [("jinja", "jinja"), ("python", "py"), ("go", "gotmpl")];

/// The test that `dm init` wrote, as an author runs it, with `dm` on the path.
#[expect(
    clippy::disallowed_methods,
    reason = "PATH is how the system finds programs"
)]
fn own_test(stack: &Stack, name: &str) -> Result<()> {
    let programs = path_of("dm")?;
    let programs = programs.parent().context("no folder of programs")?;
    let path = format!("{}:{}", programs.display(), std::env::var("PATH")?);
    let test = stack.folder().join(name).join("test.sh");
    let output = Command::new(test).env("PATH", path).output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{name}/test.sh: {said}");
    Ok(())
}

#[tokio::test]
async fn what_dm_begins_in_each_language_passes_its_checks_and_can_be_deployed() -> Result<()> {
    let stack = Stack::start().await?;
    for (language, ending) in LANGUAGES {
        let name = format!("hello-{language}");
        stack
            .dm
            .ok(&["init", &name, "--language", language])
            .await?;
        let said = stack.dm.ok(&["lint", &name]).await?;
        assert!(said.contains("2 checked, no mistakes"), "{said}");
        own_test(&stack, &name)?;
        let version = format!("{name}/v1");
        let test = ["test", &version, "--live", "--namespace", &stack.namespace];
        stack.dm.ok(&test).await?;
        let template = format!("{version}/{name}.{ending}");
        stack
            .deploy(&[&template, "--name", &name, "--set", "replicas=2"])
            .await?;
        let outputs = stack.dm.ok(&["get", &name, "outputs"]).await?;
        assert!(
            outputs.contains(&format!("service = {name}-service")),
            "{outputs}"
        );
    }
    assert_eq!(stack.ready_pods()?, 2 * LANGUAGES.len());
    Ok(())
}

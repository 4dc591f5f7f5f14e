//! What a shell offers while a command is typed, asked of a real bash.

use anyhow::{Context, Result, ensure};
use e2e::Stack;
use e2e::program::path_of;
use tokio::process::Command;

/// What bash would offer behind this line.
#[expect(
    clippy::disallowed_methods,
    reason = "PATH is how the system finds programs"
)]
async fn offered(stack: &Stack, line: &str) -> Result<Vec<String>> {
    let script = r#"
        source <(dm completion bash)
        COMP_LINE=$1 COMP_POINT=${#1}
        _dm 2>/dev/null
        printf '%s\n' "${COMPREPLY[@]}"
    "#;
    let dm = path_of("dm")?;
    let folder = dm.parent().context("dm is in no folder")?;
    let path = std::env::join_paths([folder.to_owned()].into_iter().chain(std::env::split_paths(
        &std::env::var_os("PATH").unwrap_or_default(),
    )))?;
    let output = Command::new("bash")
        .args(["--norc", "-c", script, "bash", line])
        .env("PATH", path)
        .env("DM_SERVICE", stack.manager.url())
        .current_dir(stack.folder())
        .output()
        .await?;
    ensure!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout)?;
    Ok(text
        .lines()
        .filter(|line| !line.is_empty())
        .map(str::to_owned)
        .collect())
}

#[tokio::test]
async fn a_shell_is_offered_commands_templates_their_properties_and_deployments() -> Result<()> {
    let stack = Stack::start().await?;
    stack.write("readme.yaml", "resources: []")?;
    assert_eq!(offered(&stack, "dm rollb").await?, ["rollback"]);
    let both = offered(&stack, "dm deploy re").await?;
    assert!(both.contains(&"redis:v1".to_owned()), "{both:?}");
    assert!(
        both.contains(&"readme.yaml".to_owned()),
        "files, too: {both:?}"
    );
    assert_eq!(
        offered(&stack, "dm deploy redis:").await?,
        ["v1"],
        "what bash takes for a word of its own"
    );
    let line = "dm deploy replicatedservice:v1 --properties ";
    assert_eq!(
        offered(&stack, &format!("{line}repl")).await?,
        ["replicas="]
    );
    assert_eq!(
        offered(&stack, &format!("{line}replicas=3,ima")).await?,
        ["3,image="]
    );

    let configuration =
        "resources:\n- {name: quiet, type: ConfigMap, properties: {data: {a: b}}}\n";
    let file = stack.write("quiet.yaml", configuration)?;
    stack.deploy(&[&file.display().to_string()]).await?;
    assert_eq!(offered(&stack, "dm get q").await?, ["quiet"]);
    Ok(())
}

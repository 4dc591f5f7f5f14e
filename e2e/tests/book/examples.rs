//! Every example of the pages for users, authors and operators runs, on the real services and a real API server.

use anyhow::{Context as _, Result, ensure};
use e2e::Stack;
use e2e::program::path_of;
use tokio::process::Command;
use tokio::sync::Mutex;

use super::markdown::{Document, documents};
use super::page::{Example, Examples};
use super::script;

/// The folders of the book whose examples run.
const TESTED: [&str; 3] = ["docs/users", "docs/authors", "docs/operators"];

/// At most one command in so many does not run.
const NOT_RUN: usize = 4;

/// A user who publishes to a git repository has set their name in git.
const GIT_IDENTITY: [(&str, &str); 4] = [
    ("GIT_AUTHOR_NAME", "Ada"),
    ("GIT_AUTHOR_EMAIL", "ada@example.com"),
    ("GIT_COMMITTER_NAME", "Ada"),
    ("GIT_COMMITTER_EMAIL", "ada@example.com"),
];

/// Pages deploy to the namespace `default`, which all stacks of a cluster share.
pub static NAMESPACE: Mutex<()> = Mutex::const_new(());

fn pages() -> Result<Vec<Document>> {
    let pages: Result<Vec<_>> = TESTED.into_iter().map(documents).collect();
    Ok(pages?.into_iter().flatten().collect())
}

/// bash as a user of this stack has it: the programs and kubectl on the path, and the kubeconfig of the cluster.
#[expect(
    clippy::disallowed_methods,
    reason = "PATH is how the system finds programs"
)]
pub fn bash(stack: &Stack) -> Result<Command> {
    let programs = path_of("dm")?;
    let programs = programs.parent().context("no folder of programs")?;
    let tools = stack.cluster.kubectl_path().parent();
    let tools = tools.context("no folder of kubectl")?;
    let path = std::env::var("PATH")?;
    let path = format!("{}:{}:{path}", programs.display(), tools.display());
    // A parent may have it ignore Ctrl-C, which some examples need.
    let mut bash = Command::new("env");
    bash.args(["--default-signal=INT", "bash"])
        .env("PATH", path)
        .env("DM_SERVICE", stack.manager.url())
        .env("KUBECONFIG", stack.cluster.kubeconfig())
        .env("KUBECACHEDIR", stack.folder().join("kubectl-cache"))
        .env("HOME", stack.folder())
        .envs(GIT_IDENTITY)
        .env_remove("DM_TOKEN");
    Ok(bash)
}

/// Runs a page's examples. Gives what is not true, and what they leave.
pub async fn check(
    stack: &Stack,
    page: &Document,
    examples: &[Example],
    bash: Command,
) -> Result<Vec<String>> {
    let name = page.path.with_extension("").display().to_string();
    let folder = stack.folder().join("book").join(name.replace('/', "-"));
    std::fs::create_dir_all(&folder)?;
    let mut faults = script::run(examples, &folder, bash).await?;
    let left = stack.dm.json(&["list"]).await?;
    for deployment in left["items"].as_array().into_iter().flatten() {
        let name = deployment["name"].as_str().unwrap_or_default();
        faults.push(format!("the page leaves the deployment {name}: delete it"));
        stack.dm.ok(&["delete", name, "--allow-deletes"]).await?;
    }
    Ok(faults)
}

#[tokio::test]
async fn every_example_does_what_the_book_says() -> Result<()> {
    let _alone = NAMESPACE.lock().await;
    let stack = Stack::for_a_user().await?;
    let mut all = Vec::new();
    for page in pages()? {
        let path = page.path.display();
        let examples = Examples::read(&page)?;
        let faults = check(&stack, &page, &examples.run, bash(&stack)?)
            .await
            .with_context(|| path.to_string())?;
        all.extend(faults.iter().map(|fault| format!("{path}, {fault}")));
    }
    ensure!(all.is_empty(), "{}", all.join("\n\n"));
    Ok(())
}

#[test]
fn few_examples_do_not_run() -> Result<()> {
    let (mut run, mut not_run) = (0, 0);
    for page in pages()? {
        let examples = Examples::read(&page)?;
        run += examples.commands();
        not_run += examples.not_run;
    }
    let all = run + not_run;
    ensure!(
        not_run * NOT_RUN <= all,
        "{not_run} commands of {all} do not run"
    );
    Ok(())
}

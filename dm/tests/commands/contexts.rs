//! Contexts: which manager is asked, and with what.

use std::process::Output;

use serde_json::json;
use tempfile::TempDir;

use crate::stand_in::Manager;

struct User {
    folder: TempDir,
}

impl User {
    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    /// Runs dm as a process of its own, for its environment.
    async fn dm(&self, args: &[&str], environment: &[(&str, &str)]) -> Output {
        tokio::process::Command::new(env!("CARGO_BIN_EXE_dm"))
            .args(args)
            .env_remove("DM_SERVICE")
            .env_remove("DM_CONTEXT")
            .env_remove("KUBECONFIG")
            .env("HOME", self.folder.path())
            .env("XDG_CONFIG_HOME", self.folder.path().join("config"))
            .envs(environment.iter().copied())
            .output()
            .await
            .unwrap()
    }

    async fn ok(&self, args: &[&str], environment: &[(&str, &str)]) -> String {
        let output = self.dm(args, environment).await;
        assert!(output.status.success(), "{args:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }
}

fn lists() -> Manager {
    let list = json!({"items": []});
    Manager::start(&[
        ("GET /deployments?limit=1000", 200, list.clone()),
        ("GET /deployments?limit=1000&namespace=shop", 200, list),
    ])
}

fn asked(manager: &Manager) -> Vec<String> {
    let asked = manager.asked().into_iter().map(|request| request.asked);
    asked
        .filter(|asked| asked.contains("/deployments"))
        .collect()
}

#[actix_web::test]
async fn the_current_context_names_the_manager_and_the_namespace() {
    let (user, first, second) = (User::new(), lists(), lists());
    let add = [
        "context",
        "add",
        "one",
        "--url",
        &first.url,
        "--namespace",
        "shop",
    ];
    assert!(user.ok(&add, &[]).await.contains("is the current one"));
    let add = ["context", "add", "two", "--url", &second.url];
    assert!(user.ok(&add, &[]).await.contains("dm context use two"));
    user.ok(&["list"], &[]).await;
    user.ok(&["list", "-A"], &[]).await;
    user.ok(&["list"], &[("DM_CONTEXT", "two")]).await;
    assert_eq!(
        asked(&first),
        [
            "GET /deployments?limit=1000&namespace=shop",
            "GET /deployments?limit=1000"
        ]
    );
    assert_eq!(asked(&second), ["GET /deployments?limit=1000"]);
    user.ok(&["context", "use", "two"], &[]).await;
    let listed = user.ok(&["context"], &[]).await;
    assert!(listed.contains("*        two"), "{listed}");
    // A manager that is named has no context: neither its namespace nor its identity.
    user.ok(&["list"], &[("DM_SERVICE", &first.url)]).await;
    assert_eq!(asked(&first).len(), 3);
    assert_eq!(asked(&first)[2], "GET /deployments?limit=1000");
}

#[actix_web::test]
async fn a_context_that_is_not_there_is_an_error_that_names_it() {
    let user = User::new();
    for (args, environment) in [
        (&["list"][..], &[("DM_CONTEXT", "nowhere")][..]),
        (&["context", "use", "nowhere"], &[]),
        (&["context", "delete", "nowhere"], &[]),
    ] {
        let output = user.dm(args, environment).await;
        assert_eq!(output.status.code(), Some(3), "{output:?}");
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(text.contains("\"nowhere\""), "{text}");
    }
}

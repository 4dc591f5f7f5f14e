//! Deployment Manager installs itself, and then looks after its own installation.

use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use e2e::{Stack, until};

const PATIENCE: Duration = Duration::from_secs(60);
const IMAGE: &str = "deployment-manager:test";
const SERVICES: [&str; 3] = ["expandybird", "manager", "resourcifier"];

/// A kubectl that finds the tests' cluster by itself, as a user's does.
fn kubectl(stack: &Stack) -> Result<String> {
    let script = format!(
        "#!/bin/sh\nKUBECONFIG='{}' exec '{}' \"$@\"\n",
        stack.cluster.kubeconfig().display(),
        stack.cluster.kubectl_path().display()
    );
    let path = stack.write("kubectl", &script)?;
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755))?;
    Ok(path.display().to_string())
}

/// Waits for pods: the namespace admits only those that keep the restricted standard, so none would come otherwise.
async fn all_pods_run(stack: &Stack, namespace: &str) -> Result<()> {
    until("the pods of all three services", PATIENCE, || async {
        let pods = stack.cluster.objects(namespace, "deployments")?;
        let ready: Vec<_> = pods
            .iter()
            .map(|deployment| deployment["status"]["readyReplicas"].as_u64())
            .collect();
        ensure!(ready == [Some(2), Some(1), Some(2)], "{ready:?}");
        Ok(())
    })
    .await
}

#[tokio::test]
async fn an_installation_runs_is_repeated_without_harm_and_is_taken_over_by_the_system_itself()
-> Result<()> {
    let stack = Stack::start().await?;
    let namespace = format!("{}-own", stack.namespace);
    let kubectl = kubectl(&stack)?;
    let install = [
        "install",
        "--image",
        IMAGE,
        "--name",
        "own",
        "--namespace",
        &namespace,
        // The cluster's own roles are every test's.
        "--properties",
        "user_roles=false",
        "--apply",
        "--kubectl",
        &kubectl,
    ];
    stack.dm.ok(&install).await?;
    all_pods_run(&stack, &namespace).await?;
    let accounts = stack.cluster.names(&namespace, "serviceaccounts")?;
    for service in SERVICES {
        assert!(accounts.contains(&format!("own-{service}")), "{accounts:?}");
    }

    let key = [
        "get",
        "secret",
        "own-key",
        "--namespace",
        &namespace,
        "-o",
        "jsonpath={.data.key}",
    ];
    let before = stack.cluster.kubectl(&key)?;
    let said = stack.dm.ok(&install).await?;
    assert!(
        said.contains("secret/own-key is there and stays as it is"),
        "{said}"
    );
    assert_eq!(stack.cluster.kubectl(&key)?, before);

    let image = format!("image={IMAGE},user_roles=false,replicas=3");
    let deploy = [
        "deploy",
        "deployment-manager:v1",
        "--name",
        "own",
        "--namespace",
        &namespace,
        "--properties",
        &image,
    ];
    stack.dm.ok(&deploy).await?;
    let deployments = stack.cluster.objects(&namespace, "deployments")?;
    let replicas = deployments.first().context("no Deployment")?["spec"]["replicas"].as_u64();
    assert_eq!(
        replicas,
        Some(3),
        "what was installed was taken over, and changed"
    );

    stack.dm.ok(&["delete", "own"]).await?;
    assert_eq!(
        stack.cluster.names(&namespace, "persistentvolumeclaims")?,
        ["own-store"],
        "what is deployed is known from the store only"
    );
    stack
        .cluster
        .kubectl(&["delete", "namespace", &namespace, "--wait=false"])?;
    Ok(())
}

#[tokio::test]
async fn what_is_printed_is_what_kubectl_takes_and_holds_no_secret_if_that_is_asked() -> Result<()>
{
    let stack = Stack::start().await?;
    let namespace = format!("{}-printed", stack.namespace);
    let install = [
        "install",
        "--image",
        IMAGE,
        "--name",
        "printed",
        "--namespace",
        &namespace,
    ];
    let all = stack.dm.ok(&install).await?;
    for kind in [
        "Namespace",
        "Secret",
        "ConfigMap",
        "Deployment",
        "Service",
        "NetworkPolicy",
        "PodDisruptionBudget",
        "ClusterRole",
    ] {
        assert!(all.contains(&format!("\nkind: {kind}\n")), "{kind}");
    }
    let without = stack
        .dm
        .ok(&[&install[..], &["--without-secrets"]].concat())
        .await?;
    assert!(!without.contains("\nkind: Secret\n") && !without.contains("PRIVATE KEY"));

    let file = stack.write("all.yaml", &all)?;
    let file = file.display().to_string();
    stack
        .cluster
        .kubectl(&["create", "namespace", &namespace])?;
    // A dry run checks every object against its schema and the cluster's admission.
    let said =
        stack
            .cluster
            .kubectl(&["apply", "--server-side", "--dry-run=server", "-f", &file])?;
    assert!(
        said.contains("deployment.apps/printed-manager serverside-applied"),
        "{said}"
    );
    stack
        .cluster
        .kubectl(&["delete", "namespace", &namespace, "--wait=false"])?;
    Ok(())
}

//! Looking before the leap, and going back: previews, comparisons, rollbacks, stops, the guard, drift.

use anyhow::{Context, Result, ensure};
use e2e::{Stack, until};
use std::time::Duration;

use crate::configurations::{maps, pods};

const SOON: Duration = Duration::from_secs(30);

fn value(stack: &Stack, name: &str) -> Result<String> {
    let args = ["get", "configmap", name, "-o", "jsonpath={.data.value}"];
    let namespace = ["--namespace", &stack.namespace];
    stack.cluster.kubectl(&[&args[..], &namespace].concat())
}

/// Somebody else changes a value by hand.
fn set(stack: &Stack, name: &str, value: &str) -> Result<()> {
    let patch = format!("{{\"data\":{{\"value\":\"{value}\"}}}}");
    let args = ["patch", "configmap", name, "--type=merge", "-p", &patch];
    let namespace = ["--namespace", &stack.namespace];
    stack.cluster.kubectl(&[&args[..], &namespace].concat())?;
    Ok(())
}

async fn latest(stack: &Stack) -> Result<String> {
    let deployment = stack.dm.json(&["get", "own"]).await?;
    let manifest = deployment["latestManifest"].as_str();
    Ok(manifest.context("no manifest")?.to_owned())
}

/// A deployment `own` of two config maps with the value `first`.
async fn deployed() -> Result<Stack> {
    let stack = Stack::start().await?;
    stack.write("own.yaml", &maps(&["own-a", "own-b"], "first"))?;
    stack.deploy(&["own.yaml"]).await?;
    stack.write("own.yaml", &maps(&["own-a", "own-c"], "second"))?;
    Ok(stack)
}

#[tokio::test]
async fn a_preview_changes_nothing_and_its_commit_does_what_it_showed() -> Result<()> {
    let stack = deployed().await?;
    let shown = stack.dm.ok(&["preview", "own.yaml"]).await?;
    for part in [
        "update",
        "\"first\" → \"second\"",
        "create",
        "delete",
        "--commit",
    ] {
        assert!(shown.contains(part), "{part} is not in\n{shown}");
    }
    assert_eq!(value(&stack, "own-a")?, "first");
    stack.dm.ok(&["update", "own", "--commit"]).await?;
    assert_eq!(value(&stack, "own-a")?, "second");
    assert_eq!(
        stack.names("configmaps")?,
        ["kube-root-ca.crt", "own-a", "own-c"]
    );
    Ok(())
}

#[tokio::test]
async fn a_preview_of_something_new_is_committed_as_its_creation() -> Result<()> {
    let stack = Stack::start().await?;
    stack.write("own.yaml", &maps(&["own-a"], "first"))?;
    let preview = ["preview", "own.yaml", "--namespace", &stack.namespace];
    stack.dm.ok(&preview).await?;
    assert_eq!(stack.names("configmaps")?, ["kube-root-ca.crt"]);
    stack.dm.ok(&["update", "own", "--commit"]).await?;
    assert_eq!(value(&stack, "own-a")?, "first");
    Ok(())
}

#[tokio::test]
async fn a_commit_is_refused_if_somebody_changed_a_field_that_it_owns() -> Result<()> {
    let stack = deployed().await?;
    stack.dm.ok(&["preview", "own.yaml"]).await?;
    set(&stack, "own-a", "theirs")?;
    let error = stack.dm.fails(4, &["update", "own", "--commit"]).await?;
    for part in ["own-a", "data.value was \"first\" and is \"theirs\""] {
        assert!(error.contains(part), "{part} is not in\n{error}");
    }
    assert_eq!(value(&stack, "own-a")?, "theirs");
    assert_eq!(
        stack.names("configmaps")?,
        ["kube-root-ca.crt", "own-a", "own-b"]
    );
    Ok(())
}

#[tokio::test]
async fn diff_tells_by_its_exit_code_whether_there_is_a_difference() -> Result<()> {
    let stack = deployed().await?;
    let said = stack.dm.run(&["diff", "own.yaml"]).await?;
    assert_eq!(said.code, 1, "{said:?}");
    let said = stack.dm.run(&["diff", "own"]).await?;
    assert_eq!(said.code, 0, "{said:?}");
    stack.dm.ok(&["update", "own.yaml"]).await?;
    let said = stack.dm.run(&["diff", "own.yaml"]).await?;
    assert_eq!(said.code, 0, "{said:?}");
    Ok(())
}

#[tokio::test]
async fn rollback_brings_back_what_was_before() -> Result<()> {
    let stack = deployed().await?;
    let first = latest(&stack).await?;
    stack.dm.ok(&["update", "own.yaml"]).await?;
    stack.dm.ok(&["rollback", "own"]).await?;
    assert_eq!(value(&stack, "own-a")?, "first");
    assert_eq!(
        stack.names("configmaps")?,
        ["kube-root-ca.crt", "own-a", "own-b"]
    );
    assert_ne!(
        latest(&stack).await?,
        first,
        "a rollback is a manifest of its own"
    );
    stack.dm.ok(&["rollback", "own"]).await?;
    assert_eq!(value(&stack, "own-a")?, "second");
    stack.dm.ok(&["rollback", "own", &first]).await?;
    assert_eq!(value(&stack, "own-a")?, "first");
    Ok(())
}

#[tokio::test]
async fn a_failed_update_goes_back_by_itself_where_that_is_asked_for() -> Result<()> {
    let stack = deployed().await?;
    let broken = pods("own-broken", "no-image", 1);
    let both = format!(
        "{}{}",
        maps(&["own-a", "own-b"], "second"),
        broken.replace("resources:\n", "")
    );
    stack.write("own.yaml", &both)?;
    let update = [
        "update",
        "own.yaml",
        "--rollback-on-failure",
        "--timeout",
        "20s",
    ];
    let said = stack.dm.run(&update).await?;
    assert!(
        said.code != 0 && said.stderr.contains("went back to"),
        "{said:?}"
    );
    assert_eq!(value(&stack, "own-a")?, "first");
    assert_eq!(stack.names("deployments")?, Vec::<String>::new());
    let deployment = stack.dm.json(&["get", "own"]).await?;
    assert_eq!(deployment["state"]["status"], "Deployed");
    Ok(())
}

#[tokio::test]
async fn a_long_wait_is_stopped_and_an_update_goes_on_from_there() -> Result<()> {
    let stack = deployed().await?;
    stack.write("slow.yaml", &pods("own-slow", "unready", 1))?;
    let update = ["update", "slow.yaml", "--name", "own"];
    let mut running = stack.dm.start(&update)?;
    running.says("own-slow: waiting").await?;
    let stopped = stack.dm.ok(&["stop", "own", "--timeout", "1m"]).await?;
    assert!(stopped.contains("nothing was undone"), "{stopped}");
    let said = running.ends().await?;
    assert_eq!(said.code, 1, "{said:?}");
    stack.dm.ok(&["update", "own.yaml"]).await?;
    assert_eq!(stack.names("deployments")?, Vec::<String>::new());
    assert_eq!(
        stack.names("configmaps")?,
        ["kube-root-ca.crt", "own-a", "own-c"]
    );
    Ok(())
}

#[tokio::test]
async fn most_of_a_deployment_is_not_deleted_unasked() -> Result<()> {
    let stack = Stack::start().await?;
    let names = ["own-1", "own-2", "own-3", "own-4"];
    stack.write("own.yaml", &maps(&names, "first"))?;
    stack.deploy(&["own.yaml"]).await?;
    stack.write("own.yaml", &maps(&names[..1], "first"))?;
    let error = stack.dm.fails(1, &["update", "own.yaml"]).await?;
    assert!(error.contains("--allow-deletes"), "{error}");
    assert_eq!(stack.names("configmaps")?.len(), 5, "nothing was deleted");
    stack
        .dm
        .ok(&["update", "own.yaml", "--allow-deletes"])
        .await?;
    assert_eq!(stack.names("configmaps")?, ["kube-root-ca.crt", "own-1"]);
    Ok(())
}

#[tokio::test]
async fn drift_is_shown_with_both_values_and_put_right_by_taking_the_field_back() -> Result<()> {
    let stack = deployed().await?;
    set(&stack, "own-a", "theirs")?;
    let shown = stack.dm.ok(&["status", "own"]).await?;
    for part in [
        "own-a was changed by others",
        "data.value: \"theirs\" (asked for: \"first\")",
    ] {
        assert!(shown.contains(part), "{part} is not in\n{shown}");
    }
    stack.write("own.yaml", &maps(&["own-a", "own-b"], "first"))?;
    stack
        .dm
        .ok(&["update", "own.yaml", "--conflict-policy", "take"])
        .await?;
    assert_eq!(value(&stack, "own-a")?, "first");
    let shown = stack.dm.ok(&["status", "own"]).await?;
    assert!(!shown.contains("changed by others"), "{shown}");
    Ok(())
}

#[tokio::test]
async fn a_deployment_that_asks_for_it_is_put_right_on_a_schedule_and_others_are_told_of_only()
-> Result<()> {
    let mut stack = deployed().await?;
    stack
        .manager
        .again_with(&["--drift-interval", "1s"])
        .await?;
    stack.ready().await?;
    stack.write("corrected.yaml", &maps(&["corrected-a"], "first"))?;
    let asked = ["corrected.yaml", "--drift-policy", "correct"];
    stack.deploy(&asked).await?;
    set(&stack, "own-a", "theirs")?;
    set(&stack, "corrected-a", "theirs")?;
    until("the schedule to come to both", SOON, || async {
        let own = stack.dm.json(&["get", "own"]).await?;
        ensure!(own["drift"]["resources"] == 1, "{own}");
        let value = value(&stack, "corrected-a")?;
        ensure!(value == "first", "it is {value}");
        Ok(())
    })
    .await?;
    assert_eq!(value(&stack, "own-a")?, "theirs");
    let operations = stack.dm.json(&["operations", "corrected"]).await?;
    let last = &operations["items"][0];
    assert_eq!(last["type"], "CORRECT", "{operations}");
    assert_eq!(last["user"], "manager", "nobody else asked for it: {last}");
    let report = ["update", "corrected.yaml", "--drift-policy", "report"];
    stack.dm.ok(&report).await?;
    let reported = stack.dm.json(&["get", "corrected"]).await?;
    assert_eq!(reported["driftPolicy"], "REPORT");
    Ok(())
}

#[tokio::test]
async fn what_somebody_made_anew_under_the_same_name_is_left_alone_and_told_of() -> Result<()> {
    let stack = deployed().await?;
    let namespace = ["--namespace", &stack.namespace];
    for change in [
        &["delete", "configmap", "own-b"][..],
        &[
            "create",
            "configmap",
            "own-b",
            "--from-literal=value=theirs",
        ],
    ] {
        stack.cluster.kubectl(&[change, &namespace[..]].concat())?;
    }
    // Its configuration has it no longer.
    let reported = stack.dm.run(&["update", "own.yaml"]).await?;
    ensure!(reported.code == 0, "{reported:?}");
    let expected = "warning: own-b: another object has taken its name since; it is left alone";
    assert!(reported.stderr.contains(expected), "{reported:?}");
    assert_eq!(value(&stack, "own-b")?, "theirs");
    Ok(())
}

#[tokio::test]
async fn an_object_that_somebody_deleted_is_missing_and_comes_back() -> Result<()> {
    let stack = deployed().await?;
    let args = [
        "delete",
        "configmap",
        "own-a",
        "--namespace",
        &stack.namespace,
    ];
    stack.cluster.kubectl(&args)?;
    let shown = stack.dm.ok(&["status", "own"]).await?;
    assert!(shown.contains("missing"), "{shown}");
    stack.dm.ok(&["update", "own.yaml"]).await?;
    assert_eq!(value(&stack, "own-a")?, "second");
    Ok(())
}

#[tokio::test]
async fn what_a_failing_pod_fails_of_is_told_long_before_the_time_out() -> Result<()> {
    let stack = Stack::start().await?;
    stack.write("own.yaml", &pods("own", "no-image", 1))?;
    let deploy = ["deploy", "own.yaml", "--namespace", &stack.namespace];
    let error = stack.dm.fails(1, &deploy).await?;
    assert!(error.contains("image"), "{error}");
    until("the status to say so too", SOON, || async {
        let shown = stack.dm.ok(&["status", "own"]).await?;
        ensure!(shown.contains("image"), "{shown}");
        Ok(())
    })
    .await
}

#[tokio::test]
async fn the_graph_says_what_waits_for_what() -> Result<()> {
    let stack = Stack::start().await?;
    stack.write("own.yaml", "resources:\n- {name: late, type: ConfigMap, metadata: {dependsOn: [early]}}\n- {name: early, type: ConfigMap}\n")?;
    stack.deploy(&["own.yaml"]).await?;
    let tree = stack.dm.ok(&["status", "own", "--graph"]).await?;
    assert_eq!(
        tree,
        "late (ConfigMap)\n└─ early (ConfigMap): dependsOn early\n"
    );
    let dot = stack
        .dm
        .ok(&["status", "own", "--graph", "-o", "dot"])
        .await?;
    assert!(dot.contains("n0 -> n1"), "{dot}");
    Ok(())
}

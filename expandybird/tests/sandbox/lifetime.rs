//! Processes: their parents, and the order in which they end.

use expandybird::sandbox::{Sandbox, SandboxError};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::support::{self, sandbox};
use crate::{body, result_of};

#[tokio::test]
async fn a_dropped_session_leaves_no_process() {
    let sandbox = sandbox().await;
    let request = body("while True: pass");
    let mut session = request.open(&sandbox).await.unwrap();
    let waiting = tokio::time::timeout(
        std::time::Duration::from_millis(50),
        session.call(request.call()),
    );
    assert!(waiting.await.is_err());
    drop(session);
    support::no_session_is_left(&sandbox).await;
}

#[tokio::test]
async fn a_call_abandoned_half_way_ends_the_session() {
    let sandbox = sandbox().await;
    let request = body("while True: pass");
    let mut session = request.open(&sandbox).await.unwrap();
    let _ = tokio::time::timeout(
        std::time::Duration::from_millis(50),
        session.call(request.call()),
    )
    .await;
    let error = session.call(request.call()).await.unwrap_err();
    assert!(matches!(error, SandboxError::SessionOver), "{error:?}");
}

/// Linux copies the tables of anonymous pages in each fork, and those of a file not at all.
#[tokio::test]
async fn the_memory_that_forks_copy_is_small() {
    const LARGEST_KIB: u64 = 8 << 10;
    let sandbox = sandbox().await;
    for _ in 0..5 {
        result_of(&sandbox, "return 1").await;
    }
    let status = format!("/proc/{}/status", zygote(&sandbox).await);
    let status = std::fs::read_to_string(status).unwrap();
    let anonymous = status.lines().find_map(|line| {
        let size = line.strip_prefix("RssAnon:")?.strip_suffix("kB")?;
        size.trim().parse::<u64>().ok()
    });
    assert!(anonymous.unwrap() < LARGEST_KIB, "{status}");
}

#[tokio::test]
async fn a_zygote_that_died_is_replaced_unnoticed() {
    let sandbox = sandbox().await;
    let first = zygote(&sandbox).await;
    kill(first, Signal::SIGKILL).unwrap();
    // Until then the process that was forked ahead may still serve.
    support::process_is_gone(first).await;
    assert_eq!(result_of(&sandbox, "return 1").await, 1);
    assert_ne!(zygote(&sandbox).await, first);
}

#[tokio::test]
async fn the_zygote_and_its_children_end_with_the_sandbox() {
    let sandbox = sandbox().await;
    let zygote = zygote(&sandbox).await;
    let request = body("return 1");
    let mut session = request.open(&sandbox).await.unwrap();
    session.call(request.call()).await.unwrap();
    let children = support::children(zygote);
    assert!(!children.is_empty(), "the session has a process");
    drop((session, sandbox));
    for process in children.into_iter().chain([zygote]) {
        support::process_is_gone(process).await;
    }
}

#[tokio::test]
async fn a_childs_process_ends_when_the_zygote_is_killed() {
    let sandbox = sandbox().await;
    let zygote = zygote(&sandbox).await;
    let request = body("return 1");
    let mut session = request.open(&sandbox).await.unwrap();
    session.call(request.call()).await.unwrap();
    let children = support::children(zygote);
    assert!(!children.is_empty(), "the session has a process");
    kill(zygote, Signal::SIGKILL).unwrap();
    for child in children {
        support::process_is_gone(child).await;
    }
    let error = session.call(request.call()).await.unwrap_err();
    assert!(matches!(error, SandboxError::Lost), "{error:?}");
}

async fn zygote(sandbox: &Sandbox) -> Pid {
    let id = sandbox.health().await.unwrap().process_id;
    Pid::from_raw(id.try_into().unwrap())
}

#[tokio::test]
async fn sessions_over_the_bound_wait_for_their_turn() {
    let sandbox = support::sandbox_of(1).await;
    let request = body("return {}");
    let first = request.open(&sandbox).await.unwrap();
    let refused = body("return {}")
        .deadline_ms(50)
        .open(&sandbox)
        .await
        .unwrap_err();
    assert!(
        matches!(refused, SandboxError::Busy { sessions: 1 }),
        "{refused:?}"
    );
    drop(first);
    request.open(&sandbox).await.unwrap();
}

#[tokio::test]
async fn health_says_what_the_kernel_enforces() {
    let health = sandbox().await.health().await.unwrap();
    assert!(health.python_version.starts_with("3."), "{health:?}");
    assert_eq!(health.lockdown.missing(), Vec::<&str>::new());
}

#[tokio::test]
async fn a_worker_that_is_not_there_is_named() {
    let error = support::start_with("/nowhere/expandybird-worker")
        .await
        .unwrap_err();
    assert!(
        matches!(&error, SandboxError::NotAvailable { reason } if reason.contains("/nowhere/expandybird-worker")),
        "{error}"
    );
}

//! Processes: who starts, waits for and outlives whom.

use expandybird::sandbox::{SandboxError, TemplateResult};

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

#[tokio::test]
async fn a_zygote_that_died_is_replaced_unnoticed() {
    let sandbox = sandbox().await;
    let zygote = result_of(&sandbox, "import os\nreturn os.getppid()").await;
    let id = i32::try_from(zygote.as_i64().unwrap()).unwrap();
    nix::sys::signal::kill(
        nix::unistd::Pid::from_raw(id),
        nix::sys::signal::Signal::SIGKILL,
    )
    .unwrap();
    // Until then the process that was forked ahead may still serve.
    support::process_is_gone(id).await;
    let next = result_of(&sandbox, "import os\nreturn os.getppid()").await;
    assert_ne!(next, zygote);
}

#[tokio::test]
async fn the_zygote_and_its_children_end_with_the_sandbox() {
    let sandbox = sandbox().await;
    let ids = result_of(&sandbox, "import os\nreturn [os.getppid()]").await;
    let request = body("import os\nreturn os.getpid()");
    let mut session = request.open(&sandbox).await.unwrap();
    let TemplateResult::Data(child) = session.call(request.call()).await.unwrap().result else {
        panic!("expected a number");
    };
    drop((session, sandbox));
    for id in [&ids[0], &child] {
        support::process_is_gone(i32::try_from(id.as_i64().unwrap()).unwrap()).await;
    }
}

#[tokio::test]
async fn a_childs_process_ends_when_the_zygote_is_killed() {
    let sandbox = sandbox().await;
    let request = body("import os\nreturn [os.getpid(), os.getppid()]");
    let mut session = request.open(&sandbox).await.unwrap();
    let TemplateResult::Data(ids) = session.call(request.call()).await.unwrap().result else {
        panic!("expected two numbers");
    };
    let [child, zygote] = [0, 1].map(|n| i32::try_from(ids[n].as_i64().unwrap()).unwrap());
    nix::sys::signal::kill(
        nix::unistd::Pid::from_raw(zygote),
        nix::sys::signal::Signal::SIGKILL,
    )
    .unwrap();
    support::process_is_gone(child).await;
    let error = session.call(request.call()).await.unwrap_err();
    assert!(matches!(error, SandboxError::Lost), "{error:?}");
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

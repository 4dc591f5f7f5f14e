//! Processes that die for reasons of their own: nobody who asked for an expansion learns of it.

use std::time::Duration;

use expandybird::engine::jinja;
use expandybird::service::Expander;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tokio::time::Instant;

use crate::{expander, request};

const PATIENCE: Duration = Duration::from_secs(20);

/// What differs from zygote to zygote, as the kernel puts each elsewhere in memory: an address.
const ADDRESS: &str =
    "def GenerateConfig(context): return {'resources': [{'name': 'p%d' % id(len), 'type': 'T'}]}\n";

/// The result of the template.
async fn name(expander: &Expander, source: &str) -> String {
    let answer = expander.expand(request("t.py", source)).await;
    let answer = answer.unwrap_or_else(|error| panic!("{}", error.0));
    answer.config.resources[0].name.to_string()
}

/// The zygote's process id, as the check of readiness has it.
async fn zygote(expander: &Expander) -> i32 {
    let checks = expander.checks().await;
    let message = checks.iter().find_map(|check| {
        let (_, rest) = check.message.split_once("process ")?;
        rest.split_once(',')?.0.parse().ok()
    });
    message.unwrap_or_else(|| panic!("{checks:?}"))
}

/// Only a worker: by the time of the call its id may be nobody's, or a stranger's.
fn end(process: i32) {
    signal(process, Signal::SIGKILL);
}

fn signal(process: i32, signal: Signal) {
    let name = std::fs::read_to_string(format!("/proc/{process}/comm")).unwrap_or_default();
    if name.starts_with("expandybird-w") {
        // It may have ended since; only that is wanted.
        let _ = kill(Pid::from_raw(process), signal);
    }
}

fn patient() -> Expander {
    expander(PATIENCE, jinja::Limits::default())
}

/// Waits until a template runs.
async fn a_session_runs(expander: &Expander) {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let checks = expander.checks().await;
        if checks
            .iter()
            .any(|check| check.message.ends_with(", 1 sessions"))
        {
            return;
        }
        assert!(Instant::now() < deadline, "{checks:?}");
        tokio::task::yield_now().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_expansion_whose_process_is_lost_half_way_begins_again() {
    let expander = patient();
    let first = name(&expander, ADDRESS).await;
    let process = zygote(&expander).await;
    // Ends only under another zygote.
    let waits = ADDRESS.replace(
        "return",
        &format!("\n    while 'p%d' % id(len) == '{first}': pass\n    return"),
    );
    let asked = name(&expander, &waits);
    let (second, ()) = tokio::join!(asked, async {
        a_session_runs(&expander).await;
        end(process);
    });
    assert_ne!(first, second);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_right_behind_the_death_of_the_zygote_is_served() {
    let expander = patient();
    for _ in 0..20 {
        name(&expander, ADDRESS).await;
        end(zygote(&expander).await);
        // At once: the server may not have noticed, and the process that was forked ahead may or
        // may not be alive.
        name(&expander, ADDRESS).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_that_died_while_it_waited_for_a_request_is_replaced() {
    let expander = patient();
    let first = zygote(&expander).await;
    for _ in 0..20 {
        let children = format!("/proc/{first}/task/{first}/children");
        let waiting = std::fs::read_to_string(children).unwrap();
        for child in waiting.split_whitespace() {
            end(child.parse().unwrap());
        }
        name(&expander, ADDRESS).await;
        assert_eq!(zygote(&expander).await, first);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_zygote_that_stops_is_replaced_and_no_template_is_blamed() {
    let expander = patient();
    name(&expander, ADDRESS).await;
    let stopped = zygote(&expander).await;
    signal(stopped, Signal::SIGSTOP);
    // Two processes wait already. Nobody reaps them, or forks the next.
    for _ in 0..4 {
        name(&expander, ADDRESS).await;
    }
    assert_ne!(zygote(&expander).await, stopped);
}

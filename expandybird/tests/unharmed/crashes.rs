//! Processes that die: by their template's fault, by nobody's, and when nobody waits any more.

use std::cell::Cell;
use std::time::{Duration, Instant};

use common::api::error::ErrorCode;

use crate::requests::{HARMLESS, request, request_of};
use crate::server::{PATIENCE, Server, asked_by, end};

/// Takes all the memory that it may, in a way that no meter of the engine sees.
fn crash(seed: usize) -> String {
    // The lexer's and parser's own structures: no limit of the engine counts them.
    format!("{{# {seed} #}}{{{{ {}1 }}}}", "(".repeat(2_000_000))
}

#[tokio::test(flavor = "multi_thread")]
async fn what_killed_its_process_twice_is_refused_for_a_while_and_its_neighbour_is_not() {
    let server = Server::start(&["--expansion-memory=48"]);
    let bad = request("t.jinja", &crash(0));
    for _ in 0..2 {
        let error = server.refusal("a crash", &bad).await;
        assert!(
            matches!(
                error.code,
                ErrorCode::TemplateCrashed | ErrorCode::TemplateMemory
            ),
            "{error:?}"
        );
    }
    let error = server.refusal("the third time", &bad).await;
    assert_eq!(error.code, ErrorCode::TemplateBlocked, "{error:?}");
    assert!(error.message.contains("t.jinja"), "{error}");
    server
        .expanded("its neighbour", &request("t.jinja", HARMLESS))
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_caller_that_crashes_processes_with_a_good_template_blocks_it_for_nobody_else() {
    const GOOD: &str = "resources: [{name: b, type: T, properties: {zone: {{ properties.zone }}}}]";
    let server = Server::start(&["--expansion-memory=48"]);
    let of = |user: &str, zone: &str| {
        let configuration =
            format!("resources: [{{name: a, type: t.jinja, properties: {{zone: '{zone}'}}}}]");
        asked_by(user, request_of(&configuration, &[("t.jinja", GOOD)]))
    };
    let large = format!("[{}]", "{a: b},".repeat(250_000));
    for (time, code) in [
        ("first", ErrorCode::TemplateMemory),
        ("second", ErrorCode::TemplateMemory),
        ("third", ErrorCode::TemplateBlocked),
    ] {
        let error = server.refusal(time, &of("mallory", &large)).await;
        assert_eq!(error.code, code, "{time}: {error:?}");
    }
    let other = of("mallory", "us");
    let error = server.refusal("other properties", &other).await;
    assert_eq!(error.code, ErrorCode::TemplateBlocked, "{error:?}");
    server.expanded("another caller", &of("bob", "us")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn deaths_are_counted_by_process_and_cause() {
    let server = Server::start(&["--expansion-memory=48", "--expansion-timeout=10"]);
    let counts = async |process: &str, cause: &str| {
        let metrics = server.get("/metrics").await;
        let series = format!("dm_process_deaths_total{{cause=\"{cause}\",process=\"{process}\"}} ");
        let count = metrics.lines().find_map(|line| line.strip_prefix(&series));
        count.map(str::to_owned)
    };
    assert_eq!(counts("expansion", "memory").await.as_deref(), Some("0"));
    assert_eq!(counts("python", "exit").await.as_deref(), Some("0"));
    let left = "import os\ndef GenerateConfig(context): os._exit(7)\n";
    server.refusal("an exit", &request("t.py", left)).await;
    assert_eq!(counts("python", "exit").await.as_deref(), Some("1"));
    let error = server
        .refusal("a crash", &request("t.jinja", &crash(0)))
        .await;
    assert_eq!(error.code, ErrorCode::TemplateMemory, "{error:?}");
    assert_eq!(counts("expansion", "memory").await.as_deref(), Some("1"));
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_notices_processes_that_are_killed_from_outside() {
    let server = Server::start(&["--max-expansions=4"]);
    let good = request("t.jinja", HARMLESS);
    server.expanded("the first", &good).await;
    let answered = Cell::new(0);
    let busy = async {
        for number in 0..60 {
            server.expanded(&format!("number {number}"), &good).await;
            answered.set(number + 1);
        }
    };
    // A request is tried again once. So processes are killed again only after an answer: while they wait, while they
    // work, and while they start.
    let killer = async {
        while answered.get() < 60 {
            let before = answered.get();
            for process in server.expansion_processes() {
                end(process);
            }
            while answered.get() == before {
                tokio::task::yield_now().await;
            }
        }
    };
    tokio::join!(busy, killer);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_caller_that_goes_away_takes_its_process_along() {
    let server = Server::start(&["--max-expansions=2", "--max-sessions=2"]);
    let sleeps = request(
        "t.py",
        "def GenerateConfig(context):\n    while True: pass\n",
    );
    let gone = server
        .client
        .expand(sleeps, Duration::from_millis(500))
        .await;
    assert!(gone.is_err());
    server.becomes_idle("the caller has gone");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_processes_end_with_the_server() {
    let server = Server::start(&[]);
    server.expanded("one", &request("t.jinja", HARMLESS)).await;
    let processes = server.descendants();
    assert!(!processes.is_empty());
    drop(server);
    let deadline = Instant::now() + PATIENCE;
    for process in processes {
        while std::fs::exists(format!("/proc/{process}/exe")).is_ok_and(|exists| exists) {
            assert!(Instant::now() < deadline, "{process} is still there");
            std::thread::yield_now();
        }
    }
}

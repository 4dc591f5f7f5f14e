//! The server answers who asks for its health, whatever its processes are busy with.

use common::api::expander::ExpandRequest;
use serde_json::json;

use crate::requests::{request, request_of};
use crate::server::{PATIENCE, SERVER_BYTES, Server, asked_by};

/// Each goes on until the deadline.
fn worst() -> [(&'static str, ExpandRequest); 8] {
    let loops = "def GenerateConfig(context):\n    ";
    [
        (
            "a search in Jinja",
            request(
                "t.jinja",
                "{% set t = 'x' * 4000000 %}{% for i in range(100000) %}{% if 'y' in t %}{% endif %}{% endfor %}",
            ),
        ),
        (
            "sorting in Jinja",
            request(
                "t.jinja",
                "{% for a in range(99999) %}{% set x = range(99999)|map('string')|sort|list %}{% endfor %}",
            ),
        ),
        (
            "macros within themselves in Jinja",
            request(
                "t.jinja",
                "{% set t = 'x' * 4000000 %}{% macro m(n) %}{% if 'y' in t %}{% endif %}{% if n %}{% set _ = m(n - 1) %}\
                 {% set _ = m(n - 1) %}{% endif %}{% endmacro %}{% set _ = m(16) %}",
            ),
        ),
        (
            "a loop in Python",
            request("t.py", &format!("{loops}while True: pass")),
        ),
        (
            "a number in Python",
            request("t.py", &format!("{loops}return 7 ** 7 ** 99")),
        ),
        (
            "a regular expression in Python",
            request(
                "t.py",
                &format!("import re\n{loops}return re.match('(a+)+$', 'a' * 99 + '!')"),
            ),
        ),
        (
            "memory in Python",
            request(
                "t.py",
                &format!(
                    "{loops}\n        x = [0]\n        while True:\n            try: x = x + x\n            except MemoryError: x = [0]"
                ),
            ),
        ),
        (
            "a sum without end in Python",
            request("t.py", &format!("{loops}return sum(iter(int, 1))")),
        ),
    ]
}

/// Each is as large as an input may be, in a shape that grew with the square of its size before.
fn largest() -> [(&'static str, ExpandRequest); 3] {
    let values: Vec<String> = (0..300_000).map(|n| format!("v{n}")).collect();
    let schema = json!({"properties": {"size": {"enum": values}}}).to_string();
    let path = vec!["a"; 100_000].join(".");
    [
        (
            "an enum of 300,000 values",
            request_of(
                "resources: [{name: a, type: t.jinja, properties: {size: none of them}}]",
                &[("t.jinja", "resources: []"), ("t.jinja.schema", &schema)],
            ),
        ),
        (
            "100,000 outputs",
            request(
                "t.jinja",
                "resources: []\noutputs:\n{% for n in range(100000) %}- {name: o{{ n }}, value: {{ n }}}\n{% endfor %}",
            ),
        ),
        (
            "a reference of 100,000 parts",
            request(
                "t.jinja",
                &format!("resources: [{{name: b, type: T, properties: {{x: $(ref.c.{path})}}}}]"),
            ),
        ),
    ]
}

/// How often the server says that it is well before this request has its answer.
async fn answers_beside(server: &Server, what: &str, request: &ExpandRequest) -> usize {
    let bad = server.client.expand(request.clone(), PATIENCE);
    tokio::pin!(bad);
    let mut answers = 0;
    loop {
        tokio::select! {
            biased;
            answer = &mut bad => {
                println!("{what}: {answers} answers before {answer:?}");
                return answers;
            }
            _ = server.get("/healthz") => answers += 1,
        }
    }
}

/// A question that was asked before the bad request arrived does not count, nor the last.
const ENOUGH: usize = 2;

#[tokio::test(flavor = "multi_thread")]
async fn the_server_says_that_it_is_well_while_each_of_the_worst_requests_runs() {
    let server = Server::start(&["--expansion-timeout=2"]);
    for (what, request) in worst() {
        let answers = answers_beside(&server, what, &request).await;
        assert!(answers >= ENOUGH, "{what}: {answers} answers");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_server_says_that_it_is_well_beside_the_largest_inputs_and_is_idle_after_them() {
    let server = Server::start(&[]);
    for (what, request) in largest() {
        let answers = answers_beside(&server, what, &request).await;
        assert!(answers >= ENOUGH, "{what}: {answers} answers");
        server.becomes_idle(what);
    }
    let peak = server.peak_bytes();
    assert!(peak < SERVER_BYTES, "{peak}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_server_says_that_it_is_well_while_all_of_the_worst_requests_run() {
    let server = Server::start(&["--expansion-timeout=5", "--max-expansions=8"]);
    let worst = worst();
    let all = worst
        .iter()
        .enumerate()
        .map(|(number, (what, request))| (what, asked_by(&number.to_string(), request.clone())));
    let all: Vec<_> = all.collect();
    let beside = all
        .iter()
        .map(|(what, request)| answers_beside(&server, what, request));
    let answers = futures::future::join_all(beside).await;
    assert!(answers.iter().all(|&count| count >= ENOUGH), "{answers:?}");
}

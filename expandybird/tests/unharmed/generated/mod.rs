//! Requests that mean harm, put together of tables by chance: Jinja templates, schemas, and what Python templates
//! return.
//!
//! A sample of a fixed seed runs in every test run. `make hostile SECONDS=… SEED=…` runs as many as you like.

mod jinja;
mod python;
mod schemas;

use std::time::{Duration, Instant};

use common::api::expander::ExpandRequest;
use common::client::ClientError;
use common::model::limits::MESSAGE_CHARS;
use fastrand::Rng;
use tokio::task::JoinSet;

use crate::requests::{HARMLESS, request};
use crate::server::{PATIENCE, SERVER_BYTES, Server};

/// Requests at once: as many as one caller has places of four, so that none waits for its deadline.
const AT_ONCE: usize = 3;
/// Short and small, so that what does not end by itself costs little.
const FLAGS: [&str; 5] = [
    "--expansion-timeout=1",
    "--expansion-memory=128",
    "--template-memory=128",
    "--max-expansions=4",
    "--max-sessions=4",
];
/// What a message may be longer by than its limit: the mark that it was cut.
const CUT_CHARS: usize = 20;
/// Characters of a request that a failure shows.
const SHOWN_CHARS: usize = 2_000;

/// Sends all of them; each must end with an answer that is a result or a bad request's, in few words.
async fn send(server: &Server, requests: Vec<ExpandRequest>) {
    let mut running = JoinSet::new();
    for request in requests {
        if running.len() == AT_ONCE {
            running.join_next().await.unwrap().unwrap();
        }
        let client = server.client.clone();
        running.spawn(async move {
            let answer = client.expand(request.clone(), PATIENCE).await;
            match answer {
                Ok(_) => {}
                Err(ClientError::Answered(body)) => {
                    let shown = shown(&request);
                    assert_eq!(body.code.status(), 400, "{body:?}: {shown}");
                    let length = body.message.chars().count();
                    assert!(length <= MESSAGE_CHARS + CUT_CHARS, "{length}: {shown}");
                }
                Err(error) => panic!("{error}: {}", shown(&request)),
            }
        });
    }
    while let Some(done) = running.join_next().await {
        done.unwrap();
    }
}

fn shown(request: &ExpandRequest) -> String {
    let imports = request.imports.iter().map(|import| &import.content);
    let texts: Vec<String> = imports
        .chain([&request.content])
        .map(|text| text.chars().take(SHOWN_CHARS).collect())
        .collect();
    texts.join("\n---\n")
}

async fn unharmed(server: &mut Server, seed: u64) {
    server.becomes_idle(&format!("requests of seed {seed}"));
    let harmless = request("t.jinja", HARMLESS);
    server.expanded("afterwards", &harmless).await;
    assert!(server.is_alive(), "another process serves; seed {seed}");
    let peak = server.peak_bytes();
    assert!(
        peak < SERVER_BYTES,
        "the server took {peak} bytes; seed {seed}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_that_a_jinja_template_can_call_or_write_harms_the_server() {
    sample(jinja::requests).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_that_a_schema_can_say_harms_the_server() {
    sample(schemas::requests).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_that_a_python_template_can_return_harms_the_server() {
    sample(python::requests).await;
}

async fn sample(requests: fn(&mut Rng) -> Vec<ExpandRequest>) {
    const SEED: u64 = 1;
    println!("seed {SEED}");
    let mut server = Server::start(&FLAGS);
    send(&server, requests(&mut Rng::with_seed(SEED))).await;
    unharmed(&mut server, SEED).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "as long as DM_HOSTILE_SECONDS says: make hostile"]
#[expect(clippy::disallowed_methods, reason = "a test has no flags of its own")]
async fn nothing_harms_the_server_for_as_long_as_one_likes() {
    let number = |name: &str, default: u64| {
        let given = std::env::var(name).ok();
        given.map_or(default, |text| text.parse().unwrap())
    };
    let mut seed = number("DM_HOSTILE_SEED", 2);
    let length = Duration::from_secs(number("DM_HOSTILE_SECONDS", 600));
    let (started, mut server) = (Instant::now(), Server::start(&FLAGS));
    while started.elapsed() < length {
        println!("seed {seed}");
        let mut random = Rng::with_seed(seed);
        for requests in [jinja::requests, schemas::requests, python::requests] {
            send(&server, requests(&mut random)).await;
        }
        unharmed(&mut server, seed).await;
        seed += 1;
    }
}

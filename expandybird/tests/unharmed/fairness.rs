//! One caller with much to do does not keep the others waiting.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::requests::{HARMLESS, request};
use crate::server::{PATIENCE, Server, asked_by};

const SLEEPS: &str = "import time\ndef GenerateConfig(context):\n    while True: pass\n";

#[tokio::test(flavor = "multi_thread")]
async fn a_caller_with_200_expansions_that_do_not_end_delays_nobody_else() {
    let server = Server::start(&[
        "--expansion-timeout=30",
        "--max-expansions=2",
        "--max-sessions=2",
    ]);
    server
        .expanded(
            "a first",
            &request(
                "t.py",
                "def GenerateConfig(context): return {'resources': []}",
            ),
        )
        .await;
    let done = AtomicBool::new(false);
    let hogs = async {
        let hog = asked_by("hog", request("t.py", SLEEPS));
        let asking = (0..200).map(|_| server.client.expand(hog.clone(), PATIENCE));
        let all = futures_like(asking);
        tokio::select! {
            () = all => {}
            () = until(&done) => {}
        }
    };
    let others = async {
        // Until the other's expansions are there: its processes are at work.
        while server.expansion_processes().is_empty() {
            tokio::task::yield_now().await;
        }
        for user in ["b", "c", "d"] {
            let jinja = asked_by(user, request("t.jinja", HARMLESS));
            let python = asked_by(
                user,
                request(
                    "t.py",
                    "def GenerateConfig(context): return {'resources': []}",
                ),
            );
            // Far below the timeout that ends the others': a caller that waits for them fails.
            for request in [&jinja, &python] {
                let answer = server
                    .client
                    .expand(request.clone(), Duration::from_secs(20))
                    .await;
                assert!(answer.is_ok(), "{user}: {answer:?}");
            }
        }
        done.store(true, Ordering::SeqCst);
    };
    tokio::join!(hogs, others);
}

async fn until(done: &AtomicBool) {
    while !done.load(Ordering::SeqCst) {
        tokio::task::yield_now().await;
    }
}

/// All at once; what they come to does not matter.
async fn futures_like<F: Future>(all: impl Iterator<Item = F>) {
    let mut all: Vec<_> = all.map(Box::pin).collect();
    std::future::poll_fn(|context| {
        all.retain_mut(|one| one.as_mut().poll(context).is_pending());
        match all.is_empty() {
            true => std::task::Poll::Ready(()),
            false => std::task::Poll::Pending,
        }
    })
    .await;
}

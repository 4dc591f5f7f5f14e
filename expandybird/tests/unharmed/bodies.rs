//! Large bodies take no more memory than the service says at its start, and none when they are answered.

use common::api::error::ErrorCode;
use common::client::ClientError;
use common::model::Import;
use futures::future::join_all;

use crate::requests::request;
use crate::server::{PATIENCE, Server, asked_by};

const MIB: u64 = 1 << 20;
/// The bodies' part of the memory, as a flag and in bytes.
const BODIES: &str = "--max-body-memory=96";
const MOST_BYTES: u64 = (96 + 128) * MIB;
/// What is left of all of them. A server that has answered small requests takes 15 to 25 MiB.
const REST_BYTES: u64 = 64 * MIB;
/// In MiB: between what an allocator gives back by itself and what a request may have.
const SIZES: [usize; 6] = [2, 9, 4, 20, 3, 30];
/// Each is held until the deadline.
const SLOW: &str = "{% set t = 'x' * 4000000 %}{% for i in range(100000) %}{% if 'y' in t %}{% endif %}{% endfor %}";

#[tokio::test(flavor = "multi_thread")]
async fn large_bodies_take_what_they_may_and_give_it_back() {
    let server = Server::start(&[BODIES, "--expansion-timeout=1"]);
    for round in 0..3 {
        let asked = (0..18).map(async |number: usize| {
            let mut request = request("t.jinja", SLOW);
            request.imports.push(Import {
                name: "padding.txt".to_owned(),
                path: None,
                content: "#".repeat(SIZES[number % SIZES.len()] << 20),
            });
            let request = asked_by(&format!("user {}", number % 4), request);
            match server.client.expand(request, PATIENCE).await {
                Err(ClientError::Answered(body)) => body.code,
                other => panic!("round {round}: {other:?}"),
            }
        });
        let codes = join_all(asked).await;
        assert!(codes.contains(&ErrorCode::TemplateTimeout), "{codes:?}");
        server.becomes_idle("the bodies");
        let (now, peak) = (server.bytes(), server.peak_bytes());
        assert!(
            now < REST_BYTES,
            "round {round}: {} MiB are left",
            now / MIB
        );
        assert!(
            peak < MOST_BYTES,
            "round {round}: {} MiB at once",
            peak / MIB
        );
    }
}

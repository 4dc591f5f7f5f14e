//! Paths, headers and tokens that are not what they look like.

use anyhow::{Result, ensure};

use crate::services::{SERVICE_TOKEN, Services, raw, status};

/// A request for a path, and nothing that comes after it.
fn get(path: &str, headers: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{headers}\r\n")
}

#[tokio::test(flavor = "multi_thread")]
async fn paths_that_play_tricks_lead_nowhere() -> Result<()> {
    let services = Services::start().await?;
    let long = format!("/{}", "a".repeat(20_000));
    let tricks = [
        "/deployments/../credentials/x",
        "/deployments/%2e%2e%2fcredentials",
        "/deployments/..%2f..%2fetc%2fpasswd",
        "/deployments/%00",
        "/deployments/a%00b",
        "/deployments/%",
        "/deployments/%zz",
        "/deployments/%ff%fe",
        "/deployments/%d0%b0dmin",
        "/deployments/%EF%BC%8E%EF%BC%8E%EF%BC%8Fx",
        "//deployments//x",
        "/registries/x/download?file=../../etc/passwd",
        "/registries/x/download?file=%00",
        "/%2e%2e/%2e%2e/etc/passwd",
        "/HEALTHZ",
        &long,
    ];
    let attack = async {
        for (name, address) in services.all() {
            for path in tricks {
                let answer = raw(address, get(path, "").as_bytes()).await?;
                let status = status(&answer);
                ensure!(
                    (400..500).contains(&status),
                    "{name}, {:.60}: {answer}",
                    path
                );
                ensure!(!answer.contains("root:"), "{name}, {path}: {answer}");
            }
            // What is no path at all does not even get to be a request; nor does a byte that no path has.
            for head in [
                "GET /a\0b HTTP/1.1\r\nHost: localhost\r\n\r\n",
                "\0\0\0\0\r\n\r\n",
                "GET\r\n\r\n",
            ] {
                let answer = raw(address, head.as_bytes()).await?;
                ensure!(status(&answer) == 400, "{name}, {head:?}: {answer}");
            }
        }
        Ok(())
    };
    services.bear(attack).await
}

#[tokio::test(flavor = "multi_thread")]
async fn one_request_is_not_smuggled_in_another() -> Result<()> {
    let services = Services::start().await?;
    let hidden = "GET /hidden HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let size = hidden.len() + 5;
    let post = "POST /expand HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";
    let refused = [
        format!("{post}Content-Length: {size}\r\nContent-Length: 0\r\n\r\n{hidden}"),
        format!("{post}Content-Length: +5\r\n\r\nhello{hidden}"),
        format!("{post}Content-Length: 5, 5\r\n\r\nhello{hidden}"),
        format!(
            "{post}Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n{hidden}"
        ),
        format!("{post}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n{hidden}"),
        format!("{post}X-Folded: a\r\n b\r\nContent-Length: 0\r\n\r\n{hidden}"),
        format!("{post}Content-Length : 0\r\n\r\n{hidden}"),
        format!("{post}Host: y\r\nContent-Length: 0\r\n\r\n{hidden}"),
        format!("{post}X-Bare: a\rContent-Length: 0\r\n\r\n{hidden}"),
        format!("{post}X-Nothing: a\0b\r\nContent-Length: 0\r\n\r\n{hidden}"),
        format!("{post}Transfer-Encoding: \u{b}chunked\r\n\r\n0\r\n\r\n{hidden}"),
    ];
    // Where some see the end of a body and others do not: whatever counts, what follows is no other request.
    let chunked = format!("{post}Connection: close\r\nTransfer-Encoding: chunked\r\n");
    let in_doubt = [
        format!("{chunked}Content-Length: {size}\r\n\r\n0\r\n\r\n{hidden}"),
        format!("{chunked}\r\n0\n\n{hidden}"),
        format!("{chunked}\r\n5\nhello\n0\n\n{hidden}"),
        format!("{chunked}\r\n5;a=\"\nb\r\nhello\r\n0\r\n\r\n{hidden}"),
        format!("{chunked}\r\n10000000000000000\r\n{hidden}"),
        format!("{chunked}\r\n-1\r\n{hidden}"),
        // A line feed alone ends a line, as RFC 9112 (2.2) lets it: the same for all headers, so that it hides none.
        format!(
            "{post}Connection: close\r\nX-Hides: a\nContent-Length: {size}\r\n\r\n0\r\n\r\n{hidden}"
        ),
        format!("{post}Connection: close\nContent-Length: {size}\n\n0\r\n\r\n{hidden}"),
        format!(
            "{post}Content-Length: {size}\nTransfer-Encoding: chunked\nConnection: close\n\n0\r\n\r\n{hidden}"
        ),
    ];
    let attack = async {
        for (name, address) in services.all() {
            for request in &refused {
                let answer = raw(address, request.as_bytes()).await?;
                ensure!(status(&answer) == 400, "{name}, {request:?}: {answer}");
                ensure!(!answer.contains("hidden"), "{name}, {request:?}: {answer}");
            }
            for request in &in_doubt {
                let answer = raw(address, request.as_bytes()).await?;
                let answers = answer.matches("HTTP/1.1 ").count();
                ensure!(answers <= 1, "{name}, {request:?}: {answer}");
                ensure!(!answer.contains("hidden"), "{name}, {request:?}: {answer}");
            }
        }
        Ok(())
    };
    services.bear(attack).await
}

#[tokio::test(flavor = "multi_thread")]
async fn heads_are_bounded() -> Result<()> {
    let services = Services::start().await?;
    let many: String = (0..200).map(|n| format!("X-{n}: a\r\n")).collect();
    let attack = async {
        for (name, address) in services.all() {
            for (headers, expected) in [
                (format!("X-Large: {}\r\n", "a".repeat(40_000)), 431),
                (format!("X-Large: {}\r\n", "a".repeat(400_000)), 431),
                (many.clone(), 431),
            ] {
                let answer = raw(address, get("/readyz", &headers).as_bytes()).await?;
                // Whose head is cut off may not get to read why.
                let status = status(&answer);
                ensure!([expected, 0].contains(&status), "{name}: {answer:.300}");
            }
        }
        Ok(())
    };
    services.bear(attack).await
}

#[tokio::test(flavor = "multi_thread")]
async fn tokens_are_neither_logged_nor_repeated() -> Result<()> {
    let services = Services::start().await?;
    let guess = "guessed-token-0123456789";
    let attack = async {
        for (name, address) in services.all() {
            for path in ["/readyz", "/metrics", "/deployments", "/nowhere"] {
                for header in [
                    format!("Authorization: Bearer {guess}\r\n"),
                    format!("Authorization: {guess}\r\n"),
                    format!("Authorization: Bearer {guess}\r\nAuthorization: Bearer {guess}\r\n"),
                ] {
                    let answer = raw(address, get(path, &header).as_bytes()).await?;
                    ensure!(!answer.contains("guessed"), "{name}{path}: {answer}");
                }
            }
        }
        for (name, address) in &services.all()[1..] {
            let answer = raw(*address, get("/nowhere", "").as_bytes()).await?;
            ensure!(status(&answer) == 401, "{name}: {answer}");
        }
        Ok(())
    };
    services.bear(attack).await?;
    let logs = services.logs()?;
    ensure!(
        !logs.contains("guessed") && !logs.contains(SERVICE_TOKEN),
        "{logs}"
    );
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn names_that_are_markup_are_answered_as_json() -> Result<()> {
    let services = Services::start().await?;
    let path = "/deployments/%3Cimg%20src=x%20onerror=alert(1)%3E";
    let attack = async {
        for (name, address) in services.all() {
            let answer = raw(address, get(path, "").as_bytes()).await?;
            let head = answer.to_lowercase();
            ensure!(
                head.contains("content-type: application/json"),
                "{name}: {answer}"
            );
            ensure!(
                head.contains("x-content-type-options: nosniff"),
                "{name}: {answer}"
            );
            ensure!(head.contains("cache-control: no-store"), "{name}: {answer}");
            ensure!(!head.contains("\r\nserver:"), "{name}: {answer}");
        }
        Ok(())
    };
    services.bear(attack).await
}

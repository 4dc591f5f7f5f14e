//! A malicious web server: its answers have no effect, and use only limited resources.

use std::io::{BufRead as _, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use common::model::{Credential, Secret};
use manager_registry::transport::auth::Auth;
use manager_registry::transport::{Reach, Web, WebError};
use url::Url;

const LIMIT: usize = 1_000_000;

/// Gives the same answer to every request, and counts the requests.
fn server(
    answer: impl Fn(&mut TcpStream) -> std::io::Result<()> + Send + Sync + 'static,
) -> (Url, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (asked, answer) = (Arc::new(AtomicUsize::new(0)), Arc::new(answer));
    let counted = asked.clone();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map(Result::unwrap) {
            let (answer, counted) = (answer.clone(), counted.clone());
            std::thread::spawn(move || {
                let mut head = BufReader::new(stream.try_clone().unwrap()).lines();
                while head
                    .next()
                    .is_some_and(|line| line.is_ok_and(|line| !line.is_empty()))
                {}
                counted.fetch_add(1, Ordering::SeqCst);
                // The client has closed the connection.
                let _ = answer(&mut stream);
            });
        }
    });
    (format!("http://{address}/").parse().unwrap(), asked)
}

fn says(text: String) -> (Url, Arc<AtomicUsize>) {
    server(move |stream| stream.write_all(text.as_bytes()))
}

/// A client for a registered registry, with a credential.
async fn ask(url: &Url) -> Result<Vec<u8>, WebError> {
    let web = Web::new(Reach::NotLinkLocal).unwrap();
    let auth = Auth::new(&Credential::Token(Secret::new("0pen")), &web).unwrap();
    let answer = web.with_auth(auth).get(url, "*/*", LIMIT).await?;
    Ok(answer.body)
}

#[tokio::test]
async fn a_redirect_to_another_origin_is_not_followed_and_gets_no_credential() {
    let (elsewhere, asked) = says("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi".to_owned());
    let port = elsewhere.port().unwrap();
    for location in [
        elsewhere.to_string(),
        format!("//127.0.0.1:{port}/"),
        format!("http://localhost:{port}/"),
        format!("http://user:0pen@127.0.0.1:{port}/"),
        "https://127.0.0.1/".to_owned(),
        "http://169.254.169.254/latest/meta-data".to_owned(),
        "http://[::ffff:a9fe:a9fe]/latest/meta-data".to_owned(),
        "file:///etc/passwd".to_owned(),
        "gopher://127.0.0.1/".to_owned(),
    ] {
        for status in [301, 302, 303, 307, 308] {
            let (url, _) = says(format!(
                "HTTP/1.1 {status} Go\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n"
            ));
            let error = ask(&url).await.unwrap_err();
            assert!(
                matches!(error, WebError::Elsewhere { .. }),
                "{location}: {error}"
            );
            assert!(!error.to_string().contains("0pen"), "{error}");
        }
    }
    assert_eq!(asked.load(Ordering::SeqCst), 0);
}

/// The request asks for no compression, and the client unpacks nothing, so a compression bomb stays small.
#[tokio::test]
async fn a_compressed_answer_stays_as_it_is() {
    let (url, _) = says(
        "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\n\x1f\x0b\x08\x00"
            .to_owned(),
    );
    assert_eq!(ask(&url).await.unwrap(), b"\x1f\x0b\x08\x00");
}

#[tokio::test]
async fn answers_without_end_are_cut_wherever_they_have_none() {
    let endless = |begin: &'static str, part: &'static str| {
        server(move |stream| {
            stream.write_all(begin.as_bytes())?;
            // Long writes: a busy machine must reach the limit of bytes before the limit of time.
            let parts = part.repeat(4_096);
            loop {
                stream.write_all(parts.as_bytes())?;
            }
        })
    };
    let ok = "HTTP/1.1 200 OK\r\n";
    for (begin, part, is_body) in [
        (ok, "X-Header: a\r\n", false),
        ("HTTP/1.1 200 OK\r\nX-Long: ", "aaaaaaaaaaaaaaaa", false),
        ("HTTP/1.1 200 ", "OKOKOKOKOKOK", false),
        ("HTTP/1.1 200 OK\r\n\r\n", "aaaaaaaaaaaaaaaa", true),
        (
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
            "4\r\naaaa\r\n",
            true,
        ),
        (
            "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999\r\n\r\n",
            "aaaaaaaaaaaaaaaa",
            true,
        ),
    ] {
        let (url, _) = endless(begin, part);
        let error = ask(&url).await.unwrap_err();
        let is_told = match is_body {
            true => matches!(error, WebError::TooLarge { limit: LIMIT, .. }),
            false => matches!(error, WebError::Unreachable { .. }),
        };
        assert!(is_told, "{begin:?} {part:?}: {error}");
    }
}

/// The host then has a pause, so that later callers wait less.
#[tokio::test]
#[expect(
    clippy::disallowed_methods,
    reason = "a server that is slow on purpose, on a thread of its own"
)]
async fn a_body_that_drips_ends_with_the_time_of_a_request() {
    let (url, asked) = server(|stream| {
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")?;
        loop {
            stream.write_all(b"a")?;
            std::thread::sleep(Duration::from_millis(100));
        }
    });
    let web = Web::new(Reach::NotLinkLocal).unwrap();
    let error = web.get(&url, "*/*", LIMIT).await.unwrap_err();
    assert!(matches!(error, WebError::TimedOut { .. }), "{error}");
    let again = web.get(&url, "*/*", LIMIT).await.unwrap_err();
    assert!(matches!(again, WebError::Paused { .. }), "{again}");
    assert_eq!(asked.load(Ordering::SeqCst), 1);
}

//! When a host is asked again after its answers.

use super::*;

fn answer(status: u16, headers: &[(&'static str, &str)]) -> Answer {
    let header = |(name, value): &(&'static str, &str)| {
        let name = reqwest::header::HeaderName::from_static(name);
        (name, value.parse().unwrap())
    };
    Answer {
        status: StatusCode::from_u16(status).unwrap(),
        headers: headers.iter().map(header).collect(),
        body: Vec::new(),
    }
}

fn host() -> Host {
    Host::new("https://host".to_owned())
}

#[test]
fn a_host_says_how_long_it_wants_to_be_left_alone() {
    let reset = ("x-ratelimit-reset", "1893456000");
    let spent = ("x-ratelimit-remaining", "0");
    let at = Some(Timestamp::from_second(1_893_456_000).unwrap());
    for (status, headers, expected) in [
        (403, &[spent, reset][..], at),
        (429, &[spent, reset], at),
        (200, &[spent, reset], at),
        (503, &[("retry-after", "Tue, 01 Jan 2030 00:00:00 GMT")], at),
        (200, &[("x-ratelimit-remaining", "1"), reset], None),
        (403, &[], None),
        (503, &[], None),
        (404, &[spent, reset], None),
    ] {
        let limited = limit(&answer(status, headers));
        assert_eq!(limited, expected, "{status} {headers:?}");
    }
    for headers in [&[("retry-after", "3600")][..], &[]] {
        let limited = limit(&answer(429, headers)).unwrap();
        assert!(limited > Timestamp::now(), "{headers:?}");
    }
}

#[tokio::test]
async fn a_limited_host_is_not_asked_before_its_time() {
    let host = host();
    let headers = [("retry-after", "3600")];
    let refused = host.judge(Ok(answer(429, &headers))).unwrap_err();
    assert!(matches!(refused, WebError::RateLimited { .. }));
    let again = host.enter().await.unwrap_err();
    assert_eq!(again.to_string(), refused.to_string());
}

#[tokio::test]
async fn the_last_answer_of_a_limit_is_given_and_no_further_one_asked_for() {
    let host = host();
    let headers = [
        ("x-ratelimit-remaining", "0"),
        ("x-ratelimit-reset", "1893456000"),
    ];
    assert!(host.judge(Ok(answer(200, &headers))).is_ok());
    let error = host.enter().await.unwrap_err().to_string();
    assert!(error.contains("2030-01-01"), "{error}");
}

#[tokio::test]
async fn a_host_that_is_away_is_left_alone_and_then_looked_at_by_one() {
    let host = host();
    let _ = host.judge(Ok(answer(502, &[])));
    let error = host.enter().await.unwrap_err();
    assert!(matches!(error, WebError::Paused { .. }), "{error}");
    if let Some(pause) = &mut *lock(&host.pause) {
        pause.until = Instant::now();
    }
    let looking = host.enter().await.unwrap();
    assert!(host.enter().await.is_err(), "one is enough");
    let _ = host.judge(Ok(answer(200, &[])));
    assert!(host.enter().await.is_ok());
    drop(looking);
}

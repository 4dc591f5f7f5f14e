//! Which hosts may be asked.

use super::*;

/// git and ssh parse such hosts themselves, so the check uses the addresses of the system's resolver.
#[tokio::test]
async fn hosts_of_gits_own_schemes_are_checked_by_what_they_lead_to() {
    let web = Web::new(Reach::PublicOnly).unwrap();
    for url in [
        "ssh://git@127.1/r",
        "ssh://git@0x7f000001/r",
        "git://2130706433/r",
        "git://localhost/r",
        "ssh://git@[::ffff:10.0.0.1]/r",
        "git://0251.0376.0251.0376/r",
    ] {
        let error = web.addresses(&url.parse().unwrap()).await.unwrap_err();
        assert!(
            matches!(error, WebError::Private { .. }),
            "{url}: {error:?}"
        );
    }
}

#[tokio::test]
async fn private_addresses_are_refused_however_they_are_written() {
    let web = Web::new(Reach::PublicOnly).unwrap();
    for url in [
        "http://127.0.0.1:1/a.py",
        "http://[::1]:1/a.py",
        "http://localhost:1/a.py",
        "http://0x7f.1:1/a.py",
        "http://0177.0.0.1:1/a.py",
        "http://2130706433:1/a.py",
        "http://127.1:1/a.py",
        "http://127.0.0.1.:1/a.py",
        "http://１２７.０.０.１:1/a.py",
        "http://127。0。0。1:1/a.py",
        "http://%31%32%37.0.0.1:1/a.py",
        "http://[::ffff:127.0.0.1]:1/a.py",
        "http://[::ffff:7f00:1]:1/a.py",
        "http://[::ffff:169.254.169.254]/a.py",
        "http://[::]:1/a.py",
        "http://0:1/a.py",
        "http://user@127.0.0.1:1/a.py",
        "http://public.example@127.0.0.1:1/a.py",
        "http://0xa9fea9fe/latest/meta-data",
    ] {
        let error = web.get(&url.parse().unwrap(), "*/*", 10).await.unwrap_err();
        assert!(
            matches!(error, WebError::Private { .. }),
            "{url}: {error:?}"
        );
    }
}

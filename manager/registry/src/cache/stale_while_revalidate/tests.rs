//! When a kept value is returned, and when it is fetched again.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;

fn away() -> RegistryError {
    RegistryError::TimedOut {
        what: "x".to_owned(),
        seconds: 1,
    }
}

#[tokio::test]
async fn it_is_loaded_once_by_many_and_again_when_it_is_old() {
    let (fresh, loads) = (
        StaleWhileRevalidate::new(Duration::from_secs(3600)),
        Arc::new(AtomicUsize::new(0)),
    );
    let load = || {
        let loads = loads.clone();
        fresh.get(move |_| async move {
            tokio::task::yield_now().await;
            Ok(loads.fetch_add(1, Ordering::SeqCst).into())
        })
    };
    let both = tokio::join!(load(), load());
    assert_eq!((*both.0.unwrap(), *both.1.unwrap()), (0, 0));
    fresh.expire();
    assert_eq!(*load().await.unwrap(), 1);
}

#[tokio::test]
async fn what_is_held_bridges_an_absence_and_says_so() {
    let fresh = StaleWhileRevalidate::new(Duration::ZERO);
    fresh.get(async |_| Ok(1.into())).await.unwrap();
    assert_eq!(fresh.stale(), None);
    let held = fresh.get(async |_| Err(away())).await.unwrap();
    assert_eq!(*held, 1);
    let stale = fresh.stale().unwrap().to_string();
    assert!(
        stale.contains("too slow") && stale.contains("0 s ago"),
        "{stale}"
    );
    let left_alone = fresh.get(async |_| Ok(2.into())).await.unwrap();
    assert_eq!(*left_alone, 1, "it is not asked again at once");
}

#[tokio::test]
async fn those_who_come_together_share_one_failure_and_who_comes_after_learns_it_at_once() {
    let (fresh, tries) = (
        StaleWhileRevalidate::<u8>::new(Duration::ZERO),
        Arc::new(AtomicUsize::new(0)),
    );
    let load = || {
        let tries = tries.clone();
        fresh.get(move |_| async move {
            tries.fetch_add(1, Ordering::SeqCst);
            tokio::task::yield_now().await;
            Err(away())
        })
    };
    let (one, other) = tokio::join!(load(), load());
    let after = load().await;
    assert_eq!(tries.load(Ordering::SeqCst), 1);
    for error in [one, other, after] {
        assert_eq!(error.unwrap_err().to_string(), away().to_string());
    }
}

#[tokio::test]
async fn what_a_registry_says_is_not_bridged() {
    let fresh = StaleWhileRevalidate::new(Duration::ZERO);
    fresh.get(async |_| Ok(1.into())).await.unwrap();
    let gone = RegistryError::RegistryMissing {
        registry: "r".to_owned(),
    };
    assert!(fresh.get(async |_| Err(gone)).await.is_err());
}

#[tokio::test]
async fn what_was_begun_is_loaded_to_its_end_though_its_caller_left() {
    let fresh = StaleWhileRevalidate::new(Duration::from_secs(3600));
    let (go, gone) = tokio::sync::oneshot::channel::<()>();
    let first = fresh.get(move |_| async move {
        let _ = gone.await;
        Ok(1.into())
    });
    assert!(timeout(Duration::ZERO, first).await.is_err());
    go.send(()).unwrap();
    assert_eq!(*fresh.get(async |_| Ok(2.into())).await.unwrap(), 1);
}

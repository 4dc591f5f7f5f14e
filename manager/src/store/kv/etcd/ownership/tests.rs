use nix::sys::signal::Signal;

use super::super::testing::{LEASE, Members, open};
use super::*;

/// Waits until nobody else has the store before this time.
async fn kept_until(owner: &Ownership, time: Instant) -> Result<(), KvError> {
    let mut states = owner.state.subscribe();
    let kept = states.wait_for(|state| state.lost.is_some() || state.until > time);
    kept.await.unwrap().lost.clone().map_or(Ok(()), Err)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_manager_keeps_the_store_while_any_member_is_silent() {
    let members = Members::start(3);
    let kv = open(&members.address().parse().unwrap()).await;
    for number in 0..3 {
        members.signal(number, Signal::SIGSTOP);
        let later = Instant::now() + LEASE * 2;
        kept_until(&kv.0.owner, later).await.unwrap();
        members.signal(number, Signal::SIGCONT);
    }
    kv.release().await;
}

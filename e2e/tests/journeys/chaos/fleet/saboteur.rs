//! Does one fault after another to the managers, and at the same time to the members of etcd.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::Result;
use e2e::Way;
use fastrand::Rng;
use nix::sys::signal::Signal;

use super::clock;
use super::disturbances::Part;
use super::fault::{Fault, of_managers, of_members};
use super::parts::Fleet;

/// Between two faults: an operation takes about as long.
const PAUSE_MS: std::ops::Range<u64> = 50..3_000;

/// What was done when, for people.
type Log = Vec<(f32, String)>;

pub async fn disturb(fleet: &Fleet, faults: usize, seed: u64, longest: u64) -> Result<Vec<String>> {
    let (left, start) = (AtomicUsize::new(faults), Instant::now());
    let lane = |seed, choose| lane(fleet, &left, start, Rng::with_seed(seed), choose);
    let of_managers = |rng: &mut Rng| of_managers(rng, longest);
    let (managers, members) = tokio::try_join!(
        lane(seed, Box::new(of_managers)),
        lane(!seed, Box::new(of_members))
    )?;
    let mut log: Log = managers.into_iter().chain(members).collect();
    log.sort_by(|one, other| one.0.total_cmp(&other.0));
    let line = |(at, what): (f32, String)| format!("{at:7.2} s {what}");
    Ok(log.into_iter().map(line).collect())
}

type Choose<'c> = Box<dyn Fn(&mut Rng) -> (Fault, Duration) + 'c>;

async fn lane(
    fleet: &Fleet,
    left: &AtomicUsize,
    start: Instant,
    mut rng: Rng,
    choose: Choose<'_>,
) -> Result<Log> {
    let mut log = Vec::new();
    let order = Ordering::Relaxed;
    while left
        .fetch_update(order, order, |left| left.checked_sub(1))
        .is_ok()
    {
        tokio::time::sleep(Duration::from_millis(rng.u64(PAUSE_MS))).await;
        let (fault, time) = choose(&mut rng);
        let at = start.elapsed().as_secs_f32();
        log.push((at, format!("{fault:?} for {:.1} s", time.as_secs_f32())));
        do_it(fleet, fault, time).await?;
        let whole = start.elapsed().as_secs_f32();
        log.push((whole, format!("{fault:?} is over")));
    }
    Ok(log)
}

async fn do_it(fleet: &Fleet, fault: Fault, time: Duration) -> Result<()> {
    if fault.is_of_etcd() {
        fleet.disturbances.begin(Part::Etcd);
    }
    match fault {
        Fault::Kill(manager) | Fault::Pause(manager) | Fault::Isolate(manager, _) => {
            fleet.disturbances.begin(Part::Manager(manager));
            do_to_manager(fleet, fault, manager, time).await?;
            // A manager that was paused still has to find out that it lost the store, and then starts again.
            fleet.managers[manager].ready().await?;
            fleet.disturbances.end(Part::Manager(manager));
        }
        Fault::Block(place, way) => {
            fleet.gate(place).set(way);
            tokio::time::sleep(time).await;
            fleet.gate(place).open();
        }
        Fault::Turn(manager, seconds) => {
            if let Some(file) = &fleet.managers[manager].clock {
                clock::turn(file, seconds)?;
            }
        }
        Fault::KillMember(member) => {
            fleet.members.lock().await.kill(member);
            tokio::time::sleep(time).await;
            fleet.members.lock().await.restart(member);
        }
        Fault::PauseMember(member) => {
            fleet.members.lock().await.signal(member, Signal::SIGSTOP);
            tokio::time::sleep(time).await;
            fleet.members.lock().await.signal(member, Signal::SIGCONT);
        }
    }
    if fault.is_of_etcd() {
        fleet.disturbances.end(Part::Etcd);
    }
    Ok(())
}

async fn do_to_manager(fleet: &Fleet, fault: Fault, number: usize, time: Duration) -> Result<()> {
    let manager = &fleet.managers[number];
    if let Fault::Isolate(_, way) = fault {
        manager.isolate(way);
        tokio::time::sleep(time).await;
        manager.isolate(Way::Open);
        return Ok(());
    }
    let mut service = manager.service.lock().await;
    if service.has_ended()? {
        return Ok(());
    }
    match fault {
        Fault::Pause(_) => {
            service.signal(Signal::SIGSTOP)?;
            tokio::time::sleep(time).await;
            service.signal(Signal::SIGCONT)
        }
        _ => {
            service.crash()?;
            tokio::time::sleep(time).await;
            // One that cannot reach etcd ends: it is looked after, as any other that ends.
            let _ = service.again().await;
            Ok(())
        }
    }
}

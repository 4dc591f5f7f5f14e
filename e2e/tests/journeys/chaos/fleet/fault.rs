//! What can be done to a fleet.

use std::time::Duration;

use e2e::{Direction, Way};
use fastrand::Rng;

/// A way between two, by the gate on it.
#[derive(Debug, Clone, Copy)]
pub enum Place {
    /// From a manager to a member of etcd.
    Member(usize, usize),
    /// From the other managers to this one.
    Door(usize),
    Expandybird(usize),
    Resourcifier(usize),
    ApiServer,
    /// From the other members to this one.
    Peer(usize),
}

#[derive(Debug, Clone, Copy)]
pub enum Fault {
    Kill(usize),
    Pause(usize),
    /// From all members.
    Isolate(usize, Way),
    Block(Place, Way),
    /// By so many seconds.
    Turn(usize, i64),
    KillMember(usize),
    PauseMember(usize),
}

impl Fault {
    /// Whether it is of a member of etcd, or of a way to one.
    pub const fn is_of_etcd(&self) -> bool {
        matches!(
            self,
            Self::KillMember(_)
                | Self::PauseMember(_)
                | Self::Block(Place::Member(..) | Place::Peer(_), _)
        )
    }
}

pub const MANAGERS: usize = 3;
pub const MEMBERS: usize = 3;
/// Managers accept each other's requests as long as their clocks differ by less than five minutes.
const TURNED: std::ops::Range<i64> = -140..140;

/// A fault of managers and their ways, and how long it lasts.
pub fn of_managers(rng: &mut Rng, longest: u64) -> (Fault, Duration) {
    let manager = rng.usize(0..MANAGERS);
    let (fault, most) = match rng.u32(..20) {
        0..5 => (Fault::Kill(manager), 12_000),
        5..9 => (Fault::Pause(manager), longest * 1_000),
        9..11 => (Fault::Isolate(manager, way(rng)), 12_000),
        11..18 => (Fault::Block(place(rng, manager), way(rng)), 8_000),
        _ => (Fault::Turn(manager, rng.i64(TURNED)), 100),
    };
    (fault, time(rng, most))
}

/// A fault of members of etcd: two of three stay.
pub fn of_members(rng: &mut Rng) -> (Fault, Duration) {
    let member = rng.usize(0..MEMBERS);
    let fault = match rng.u32(..3) {
        0 => Fault::KillMember(member),
        1 => Fault::PauseMember(member),
        _ => Fault::Block(Place::Peer(member), way(rng)),
    };
    (fault, time(rng, 6_000))
}

fn place(rng: &mut Rng, manager: usize) -> Place {
    match rng.u32(..7) {
        0..3 => Place::Member(manager, rng.usize(0..MEMBERS)),
        3 => Place::Door(manager),
        4 => Place::Expandybird(manager),
        5 => Place::Resourcifier(manager),
        _ => Place::ApiServer,
    }
}

fn way(rng: &mut Rng) -> Way {
    match rng.u32(..5) {
        0..2 => Way::Shut,
        2 => Way::Held(Direction::Both),
        3 if rng.bool() => Way::Held(Direction::ToServer),
        3 => Way::Held(Direction::ToClient),
        _ => Way::Slow(Duration::from_millis(rng.u64(5..150))),
    }
}

/// Short ones are more frequent than long ones.
fn time(rng: &mut Rng, most: u64) -> Duration {
    let part = rng.f64();
    Duration::from_secs_f64(part * part * most as f64 / 1_000.0)
}

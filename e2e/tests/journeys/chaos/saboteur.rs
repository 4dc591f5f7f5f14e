//! Kills one process after another, at random times, and starts it again.

use std::time::{Duration, Instant};

use anyhow::Result;
use e2e::Stack;
use e2e::program::Service;
use fastrand::Rng;
use nix::sys::signal::{Signal, kill};

/// Between two kills: an operation takes about as long.
const PAUSE_MS: std::ops::Range<u64> = 50..3_000;
/// A service stays away so long.
const AWAY_MS: std::ops::Range<u64> = 0..700;

#[derive(Debug, Clone, Copy)]
enum Victim {
    Manager,
    Expandybird,
    Resourcifier,
    Kubectl,
}

pub struct Saboteur<'s> {
    manager: &'s mut Service,
    expandybird: &'s mut Service,
    resourcifier: &'s mut Service,
    rng: Rng,
    start: Instant,
    log: Vec<String>,
}

impl<'s> Saboteur<'s> {
    pub fn new(stack: &'s mut Stack, seed: u64) -> Self {
        Self {
            manager: &mut stack.manager,
            expandybird: &mut stack.expandybird,
            resourcifier: &mut stack.resourcifier,
            rng: Rng::with_seed(seed),
            start: Instant::now(),
            log: Vec::new(),
        }
    }

    pub async fn kill(&mut self, times: usize) -> Result<()> {
        const VICTIMS: [Victim; 4] = [
            Victim::Manager,
            Victim::Expandybird,
            Victim::Resourcifier,
            Victim::Kubectl,
        ];
        for _ in 0..times {
            self.pause(PAUSE_MS).await;
            let victim = VICTIMS[self.rng.usize(0..VICTIMS.len())];
            let at = self.start.elapsed().as_secs_f32();
            let killed = self.strike(victim).await?;
            self.log.push(format!("{at:7.2} s {victim:?}{killed}"));
        }
        Ok(())
    }

    async fn strike(&mut self, victim: Victim) -> Result<&'static str> {
        let away = Duration::from_millis(self.rng.u64(AWAY_MS));
        let service = match victim {
            Victim::Manager => &mut *self.manager,
            Victim::Expandybird => &mut *self.expandybird,
            Victim::Resourcifier => &mut *self.resourcifier,
            Victim::Kubectl => return Ok(self.kill_kubectl()),
        };
        service.crash()?;
        tokio::time::sleep(away).await;
        service.again().await?;
        Ok("")
    }

    /// All children of resourcifier are kubectl.
    fn kill_kubectl(&mut self) -> &'static str {
        let children = self.resourcifier.children();
        let Some(&child) = self.rng.choice(&children) else {
            return " (none ran)";
        };
        // It may have ended by itself just now.
        let _ = kill(child, Signal::SIGKILL);
        ""
    }

    async fn pause(&mut self, ms: std::ops::Range<u64>) {
        tokio::time::sleep(Duration::from_millis(self.rng.u64(ms))).await;
    }

    /// When what was killed.
    pub fn into_log(self) -> Vec<String> {
        self.log
    }
}

//! Measured times, and how they are printed.

use std::time::{Duration, Instant};

use anyhow::Result;

/// Times of one side.
#[derive(Default)]
pub struct Times(Vec<Duration>);

impl Times {
    pub async fn of(&mut self, work: impl Future<Output = Result<()>>) -> Result<()> {
        let started = Instant::now();
        work.await?;
        self.0.push(started.elapsed());
        Ok(())
    }

    fn sorted(&self) -> Vec<f64> {
        let mut times = self.0.clone();
        times.sort_unstable();
        times
            .iter()
            .map(|time| time.as_secs_f64() * 1000.0)
            .collect()
    }

    fn median(&self) -> f64 {
        let sorted = self.sorted();
        sorted.get(sorted.len() / 2).copied().unwrap_or_default()
    }

    fn show(&self) -> String {
        let sorted = self.sorted();
        let (least, most) = (sorted.first(), sorted.last());
        let (least, most) = (
            least.copied().unwrap_or_default(),
            most.copied().unwrap_or_default(),
        );
        format!("{:.2} ms ({least:.2}–{most:.2})", self.median())
    }
}

/// One row of the table that is printed.
pub fn row(what: &str, ours: &Times, instead: &Times) {
    let ratio = ours.median() / instead.median();
    println!(
        "| {what} | {} | {} | {ratio:.3} |",
        ours.show(),
        instead.show()
    );
}

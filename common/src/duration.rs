//! Durations for messages.

use std::time::Duration;

/// In the largest unit that keeps the value readable, with at most one decimal: `400 ms`, `1.5 s`, `90 s`, `5 min`.
pub fn render(duration: Duration) -> String {
    let (millis, seconds) = (duration.as_millis(), duration.as_secs());
    let minutes = seconds / 60;
    match (millis, seconds) {
        (0, _) => "less than 1 ms".to_owned(),
        (_, 0) => format!("{millis} ms"),
        _ if minutes >= 2 && duration == Duration::from_secs(60 * minutes) => {
            format!("{minutes} min")
        }
        _ => match (millis / 100) % 10 {
            0 => format!("{seconds} s"),
            tenth => format!("{seconds}.{tenth} s"),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_duration_is_rendered_as_zero() {
        let cases = [
            (0, "less than 1 ms"),
            (900, "less than 1 ms"),
            (1_000, "1 ms"),
            (999_999, "999 ms"),
            (1_000_000, "1 s"),
            (1_550_000, "1.5 s"),
            (90_000_000, "90 s"),
            (300_000_000, "5 min"),
            (301_000_000, "301 s"),
        ];
        for (micros, expected) in cases {
            assert_eq!(render(Duration::from_micros(micros)), expected);
        }
    }
}

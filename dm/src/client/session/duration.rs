//! Durations on the command line, like `--timeout 90s`.

use std::time::Duration;

use jiff::SignedDuration;

/// Longer than any operation may take. The bound keeps sums of durations in range.
const LONGEST: Duration = Duration::from_secs(7 * 24 * 3600);

/// Reads `90s`, `5m`, `1h30m`, `500ms`.
pub fn parse(text: &str) -> Result<Duration, String> {
    let refused = || "write a duration like 90s, 5m or 1h30m, up to 7 days".to_owned();
    let signed: SignedDuration = text.parse().map_err(|_| refused())?;
    let duration = Duration::try_from(signed).map_err(|_| refused())?;
    if duration.is_zero() || duration > LONGEST {
        return Err(refused());
    }
    Ok(duration)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_people_write_them() {
        for (text, seconds) in [("90s", 90), ("5m", 300), ("1h30m", 5400), ("2 hours", 7200)] {
            assert_eq!(parse(text), Ok(Duration::from_secs(seconds)), "{text}");
        }
        for bad in ["", "5", "-5s", "0s", "x", "8d", "9999999h"] {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }
}

//! Which of some versions a chart's reference means.

use super::{Constraint, ConstraintError, Version};

/// The version with exactly this text, or else the highest one in this range. Texts that are no versions are ignored.
///
/// # Errors
/// It is neither one of the versions nor a range.
pub fn choose<'a>(
    wanted: &str,
    versions: impl IntoIterator<Item = &'a str> + Clone,
) -> Result<Option<&'a str>, ConstraintError> {
    let exact = versions.clone().into_iter().find(|text| *text == wanted);
    if exact.is_some() {
        return Ok(exact);
    }
    let range: Constraint = wanted.parse()?;
    let parsed = versions.into_iter().filter_map(parsed);
    let within = parsed.filter(|(version, _)| range.allows(version));
    let highest = within.max_by(|(a, _), (b, _)| a.precedence(b));
    Ok(highest.map(|(_, text)| text))
}

/// The texts that are versions, the highest one first.
pub fn newest_first<'a>(versions: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let mut parsed: Vec<_> = versions.into_iter().filter_map(parsed).collect();
    parsed.sort_by(|(a, _), (b, _)| b.precedence(a));
    parsed.into_iter().map(|(_, text)| text).collect()
}

fn parsed(text: &str) -> Option<(Version, &str)> {
    Some((text.parse().ok()?, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    const VERSIONS: [&str; 7] = [
        "1.2.3",
        "1.10.0",
        "1.2.10",
        "v1.2.11",
        "2.0.0-rc.1",
        "latest",
        "0.1",
    ];

    #[test]
    fn a_text_that_is_there_wins_over_what_it_would_mean_as_a_range() {
        for (wanted, chosen) in [
            ("1.2.3", Some("1.2.3")),
            ("0.1", Some("0.1")),
            ("latest", Some("latest")),
            ("1.2", Some("v1.2.11")),
            ("1.2.11", Some("v1.2.11")),
            ("~1.2.3", Some("v1.2.11")),
            ("^1", Some("1.10.0")),
            ("*", Some("1.10.0")),
            (">0.0.0-0", Some("2.0.0-rc.1")),
            (">=1.2.4 <1.2.11 || 0.1", Some("1.2.10")),
            ("3", None),
        ] {
            assert_eq!(choose(wanted, VERSIONS).unwrap(), chosen, "{wanted}");
        }
    }

    #[test]
    fn what_is_neither_a_version_nor_a_range_is_refused() {
        for wanted in ["stable", "", "==1", "1.2.3.4"] {
            assert!(choose(wanted, VERSIONS).is_err(), "{wanted}");
        }
    }

    #[test]
    fn the_newest_version_comes_first() {
        let sorted = newest_first(VERSIONS);
        assert_eq!(
            sorted,
            ["2.0.0-rc.1", "1.10.0", "v1.2.11", "1.2.10", "1.2.3", "0.1"]
        );
    }
}

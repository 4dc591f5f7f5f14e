//! Smaller cases with a difference.

use crate::case::Case;
use crate::differs;
use crate::oracle::Oracle;

/// Removes parts of the templates for as long as a difference remains.
pub fn shrink(oracle: &mut Oracle, mut case: Case) -> Case {
    while case.templates.len() > 1 {
        let mut smaller = case.clone();
        smaller.templates.pop();
        if !differs(oracle, &smaller) {
            break;
        }
        case = smaller;
    }
    for index in 0..case.templates.len() {
        let mut size = case.templates[index].1.chars().count() / 2;
        while size > 0 {
            if !remove(oracle, &mut case, index, size) {
                size /= 2;
            }
        }
    }
    case
}

/// Removes so many characters anywhere. Returns whether it could.
fn remove(oracle: &mut Oracle, case: &mut Case, index: usize, size: usize) -> bool {
    let text: Vec<char> = case.templates[index].1.chars().collect();
    for start in 0..(text.len() + 1).saturating_sub(size) {
        let kept = text
            .iter()
            .take(start)
            .chain(text.iter().skip(start + size));
        let mut smaller = case.clone();
        smaller.templates[index].1 = kept.collect();
        if differs(oracle, &smaller) {
            *case = smaller;
            return true;
        }
    }
    false
}

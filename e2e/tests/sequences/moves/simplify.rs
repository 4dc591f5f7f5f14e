//! Smaller forms of a sequence, for shrinking: first without parts of it, then with simpler moves. Pure.

use super::{Move, Then, Write};
use crate::model::configuration::Template;
use crate::model::{Options, Pace, Policies};

/// The sequence without so many moves at a time, from half of it down to one. The last move, a quiet point, stays.
pub fn shorter(moves: &[Move], size: usize) -> Vec<Vec<Move>> {
    let body = moves.len().saturating_sub(1);
    let starts = (0..body).step_by(size.max(1));
    starts
        .map(|start| {
            let end = (start + size).min(body);
            [&moves[..start], &moves[end..]].concat()
        })
        .collect()
}

/// The sequence with one move in a simpler form, one form after the other.
pub fn simpler(moves: &[Move]) -> Vec<Vec<Move>> {
    let mut found = Vec::new();
    for (index, step) in moves.iter().enumerate() {
        let Move::Write(write) = step else {
            continue;
        };
        for form in simpler_writes(write) {
            let mut moves = moves.to_vec();
            moves[index] = Move::Write(form);
            found.push(moves);
        }
    }
    found
}

fn simpler_writes(write: &Write) -> Vec<Write> {
    let mut forms = Vec::new();
    if let Some(configuration) = write.configuration() {
        let count = configuration.items.len();
        for index in 0..count {
            if count > 1 {
                forms.push(changed(write, |items| {
                    items.remove(index);
                }));
            }
            forms.push(changed(write, |items| {
                items[index].policies = Policies::default();
                items[index].pace = Pace::Well;
                items[index].refers = false;
                items[index].after = false;
            }));
        }
        let mut flat = write.clone();
        if let Some(configuration) = flat.configuration_mut() {
            configuration.template = Template::None;
        }
        forms.push(flat);
    }
    let plain = Options {
        allow_deletes: true,
        ..Options::default()
    };
    forms.push(write.clone().with(plain));
    forms.push(write.clone().then(Then::Wait));
    forms.retain(|form| form != write);
    forms
}

fn changed(write: &Write, change: impl FnOnce(&mut Vec<crate::model::Item>)) -> Write {
    let mut write = write.clone();
    if let Some(configuration) = write.configuration_mut() {
        change(&mut configuration.items);
    }
    write
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::moves::generate::sequence;

    #[test]
    fn each_shorter_form_lacks_a_part_and_keeps_its_end() {
        let moves = sequence(3, 10);
        for form in shorter(&moves, 4) {
            assert!(form.len() < moves.len());
            assert_eq!(form.last(), Some(&Move::Quiet));
        }
    }

    #[test]
    fn simplifying_comes_to_an_end() {
        let mut moves = sequence(5, 10);
        let mut rounds = 0;
        while let Some(form) = simpler(&moves).pop() {
            moves = form;
            rounds += 1;
            assert!(rounds < 1000, "{moves:?}");
        }
    }
}

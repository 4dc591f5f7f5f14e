//! Finds primitives that wait for each other.

use std::collections::{BTreeSet, HashMap};

use super::scope::Tree;

/// The first cycle: one of its primitives, and the names of all of them, with the first one again at the end. Without
/// recursion, because ten thousand primitives may form one chain.
pub fn find(tree: &Tree<'_>, needs: &[(usize, BTreeSet<usize>)]) -> Option<(usize, String)> {
    let needed: HashMap<usize, Vec<usize>> = needs
        .iter()
        .map(|(id, needed)| (*id, needed.iter().copied().collect()))
        .collect();
    let mut done = BTreeSet::new();
    for &(start, _) in needs {
        // The path to the current primitive: each primitive, and how many of its dependencies are visited.
        let mut way: Vec<(usize, usize)> = Vec::new();
        let mut on_way = BTreeSet::new();
        enter(start, &mut way, &mut on_way, &done);
        while let Some((id, looked_at)) = way.last_mut() {
            let next = needed
                .get(id)
                .and_then(|needed| needed.get(*looked_at))
                .copied();
            *looked_at += 1;
            match next {
                None => {
                    done.insert(*id);
                    on_way.remove(id);
                    way.pop();
                }
                Some(next) if on_way.contains(&next) => {
                    return Some((next, named(tree, &way, next)));
                }
                Some(next) => enter(next, &mut way, &mut on_way, &done),
            }
        }
    }
    None
}

fn enter(
    id: usize,
    way: &mut Vec<(usize, usize)>,
    on_way: &mut BTreeSet<usize>,
    done: &BTreeSet<usize>,
) {
    if !done.contains(&id) {
        on_way.insert(id);
        way.push((id, 0));
    }
}

fn named(tree: &Tree<'_>, way: &[(usize, usize)], again: usize) -> String {
    let round = way
        .iter()
        .map(|&(id, _)| id)
        .skip_while(|&id| id != again)
        .chain([again]);
    let names: Vec<_> = round.map(|id| tree.node(id).name.as_str()).collect();
    names.join(" -> ")
}

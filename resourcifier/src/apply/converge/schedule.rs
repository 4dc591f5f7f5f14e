//! Which resources can go now. It knows the graph, and nothing of how a resource goes.

use std::collections::BTreeSet;

use common::api::deployer::ResourceState;

use super::work::Work;
use crate::plan;

pub struct Schedule {
    /// Who depends on each.
    dependants: Vec<Vec<usize>>,
    /// The rank decides who goes first where not all can go at once.
    ranks: Vec<usize>,
    possible: BTreeSet<(usize, usize)>,
    /// Those with a call of their own under way.
    under_way: Vec<bool>,
    /// Possible, but not now: they try again with the next look.
    later: BTreeSet<usize>,
}

impl Schedule {
    pub fn new(works: &[Work]) -> Self {
        let mut dependants = vec![Vec::new(); works.len()];
        for (index, work) in works.iter().enumerate() {
            for dependency in &work.node.dependencies {
                dependants[dependency.on].push(index);
            }
        }
        Self {
            dependants,
            ranks: works
                .iter()
                .map(|work| plan::rank(&work.node.object))
                .collect(),
            possible: BTreeSet::new(),
            under_way: vec![false; works.len()],
            later: BTreeSet::new(),
        }
    }

    pub fn dependants(&self, index: usize) -> &[usize] {
        &self.dependants[index]
    }

    /// Takes it in, if all that it depends on is there.
    pub fn offer(&mut self, index: usize, works: &[Work]) {
        if !self.under_way[index] && is_possible(index, works) {
            self.later.remove(&index);
            self.possible.insert((self.ranks[index], index));
        }
    }

    /// The next one; it counts as under way until it comes back.
    pub fn next(&mut self) -> Option<usize> {
        let (_, index) = self.possible.pop_first()?;
        self.under_way[index] = true;
        Some(index)
    }

    pub fn is_under_way(&self, index: usize) -> bool {
        self.under_way[index]
    }

    /// Another call of it begins.
    pub fn under_way(&mut self, index: usize) {
        self.under_way[index] = true;
    }

    /// Its call has ended.
    pub fn back(&mut self, index: usize) {
        self.under_way[index] = false;
    }

    /// Its call has ended, and the next try has to wait.
    pub fn put_off(&mut self, index: usize) {
        self.back(index);
        self.later.insert(index);
    }

    pub fn try_again(&mut self, works: &[Work]) {
        for index in std::mem::take(&mut self.later) {
            self.offer(index, works);
        }
    }
}

fn is_possible(index: usize, works: &[Work]) -> bool {
    let work = &works[index];
    work.state() == ResourceState::Pending
        && work.node.dependencies.iter().all(|dependency| {
            let other = &works[dependency.on];
            match dependency.ready {
                true => other.state() == ResourceState::Ready,
                false => other.is_in_cluster(),
            }
        })
}

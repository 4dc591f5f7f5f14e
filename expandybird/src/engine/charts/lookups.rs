//! What a chart looks up: answered by the request, or asked for.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use common::api::cluster::{LOOKUPS, Lookup, LookupAnswer};
use expandybird_chart::{Found, Lookups, Wanted};

/// The answers that a request has.
#[derive(Debug, Clone)]
pub struct Answers(Rc<HashMap<Lookup, LookupAnswer>>);

impl Answers {
    pub fn new(answers: &[LookupAnswer]) -> Self {
        let keyed = answers
            .iter()
            .map(|answer| (answer.lookup.clone(), answer.clone()));
        Self(Rc::new(keyed.collect()))
    }

    /// A source for one render, and what it was asked for without an answer.
    pub fn source(&self) -> (Lookups, Asked) {
        let (answers, asked) = (self.0.clone(), Asked::default());
        let unanswered = asked.clone();
        let find = move |wanted| {
            let lookup = lookup(wanted);
            match answers.get(&lookup) {
                Some(answer) => found(answer),
                None => unanswered.ask(lookup, answers.len()),
            }
        };
        (Lookups::new(find), asked)
    }
}

fn lookup(wanted: Wanted) -> Lookup {
    Lookup {
        api_version: wanted.api_version,
        kind: wanted.kind,
        namespace: wanted.namespace,
        name: wanted.name,
    }
}

fn found(answer: &LookupAnswer) -> Found {
    match (&answer.error, &answer.found) {
        (Some(error), _) => Found::Refused(error.clone()),
        (None, Some(object)) => Found::Object(object.clone()),
        (None, None) => Found::Nothing,
    }
}

/// What was asked for without an answer, in order. Clones share it.
#[derive(Debug, Clone, Default)]
pub struct Asked(Rc<RefCell<Vec<Lookup>>>);

impl Asked {
    /// For now, nothing is found.
    fn ask(&self, lookup: Lookup, answered: usize) -> Found {
        let mut asked = self.0.borrow_mut();
        if asked.contains(&lookup) {
            return Found::Nothing;
        }
        if asked.len() + answered >= LOOKUPS {
            return Found::Refused(format!("more than {LOOKUPS} lookups in one expansion"));
        }
        asked.push(lookup);
        Found::Nothing
    }

    pub fn into_lookups(self) -> Vec<Lookup> {
        self.0.take()
    }
}

//! The first rows of a page in the order of the last change. Only these are kept, however many there are.

use std::collections::BinaryHeap;
use std::fmt::Write as _;

use common::api::page::{Page, PageQuery};

use crate::service::pages;
use crate::store::StoreError;
use crate::store::deployments::index::DeploymentRow;
use crate::store::record::token;

pub struct LatestRows<'q> {
    page: &'q PageQuery,
    /// The key of the last row of the previous page.
    before: Vec<u8>,
    /// One more than the page has, the last one on top.
    first: BinaryHeap<Keyed>,
    /// Of the row at hand.
    key: String,
}

/// Ordered by the key.
struct Keyed {
    key: String,
    row: DeploymentRow,
}

impl<'q> LatestRows<'q> {
    /// # Errors
    /// If the token of the page is none of these lists.
    pub fn new(page: &'q PageQuery) -> Result<Self, StoreError> {
        let before = page.page_token.as_deref().filter(|text| !text.is_empty());
        Ok(Self {
            page,
            before: before.map(token::read).transpose()?.unwrap_or_default(),
            first: BinaryHeap::new(),
            key: String::new(),
        })
    }

    pub fn meet(&mut self, row: &DeploymentRow) {
        // What changed last comes first. The name makes it unique.
        let age = i64::MAX - row.changed_at().as_millisecond();
        self.key.clear();
        // Writing to a text does not fail.
        let _ = write!(self.key, "{age:020} {}", row.name);
        let is_full = self.first.len() > self.page.limit();
        let last = self.first.peek().filter(|_| is_full);
        if self.key.as_bytes() <= self.before.as_slice()
            || last.is_some_and(|last| last.key <= self.key)
        {
            return;
        }
        if is_full {
            self.first.pop();
        }
        self.first.push(Keyed {
            key: self.key.clone(),
            row: row.clone(),
        });
    }

    pub fn page(self) -> Result<Page<DeploymentRow>, StoreError> {
        let rows = self.first.into_sorted_vec();
        let page = pages::by_name(rows, |keyed| &keyed.key, self.page)?;
        Ok(Page {
            items: page.items.into_iter().map(|keyed| keyed.row).collect(),
            next_page_token: page.next_page_token,
        })
    }
}

impl Ord for Keyed {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key.cmp(&other.key)
    }
}

impl PartialOrd for Keyed {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Keyed {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl Eq for Keyed {}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn row(name: &str, minute: u32) -> DeploymentRow {
        let at = format!("2026-01-01T00:{minute:02}:00Z");
        serde_json::from_value(json!({
            "name": name, "namespace": "shop", "createdAt": at, "state": {"status": "Deployed"},
        }))
        .unwrap()
    }

    proptest! {
        #[test]
        fn all_pages_together_are_all_rows_latest_first(
            minutes in proptest::collection::vec(0_u32..5, 0..30),
            limit in 1_usize..8,
        ) {
            let rows = minutes.iter().enumerate();
            let rows: Vec<_> = rows.map(|(n, minute)| row(&format!("d{n:02}"), *minute)).collect();
            let mut query = PageQuery { limit: Some(limit), page_token: None };
            let mut found = Vec::new();
            loop {
                let mut latest = LatestRows::new(&query).unwrap();
                rows.iter().for_each(|row| latest.meet(row));
                let page = latest.page().unwrap();
                prop_assert!(page.items.len() <= limit);
                found.extend(page.items);
                query.page_token = page.next_page_token;
                if query.page_token.is_none() {
                    break;
                }
            }
            let mut expected = rows.clone();
            expected.sort_by(|one, other| {
                let latest = other.changed_at().cmp(&one.changed_at());
                latest.then_with(|| one.name.cmp(&other.name))
            });
            prop_assert_eq!(found, expected);
        }
    }
}

//! Lists come in pages.

use serde::{Deserialize, Serialize};

use crate::model::limits::{PAGE_ITEMS, PAGE_ITEMS_MAX};

/// The query of every list: `?limit=&pageToken=`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PageQuery {
    /// How many items. Default: 100. A limit above 1,000 counts as 1,000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub limit: Option<usize>,
    /// The `nextPageToken` of the previous page. Its contents are opaque.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page_token: Option<String>,
}

impl PageQuery {
    /// How many items the page may have: the requested number, within the limits.
    pub fn limit(&self) -> usize {
        items(self.limit, PAGE_ITEMS_MAX)
    }
}

/// The size of a page for a requested limit: [`PAGE_ITEMS`] by default, `most` at most.
pub fn items(limit: Option<usize>, most: usize) -> usize {
    limit.unwrap_or(PAGE_ITEMS).clamp(1, most)
}

/// A page of a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "{T}Page")]
pub struct Page<T> {
    /// At most as many as the `limit` of the query.
    pub items: Vec<T>,
    /// Absent on the last page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_page_token: Option<String>,
}

impl<T> Page<T> {
    /// A list that fits on one page.
    pub fn whole(items: Vec<T>) -> Self {
        Self {
            items,
            next_page_token: None,
        }
    }
}

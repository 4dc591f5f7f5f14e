//! Search by names. A name is in its record's key, so only the records that are found are parsed: that would be most of the
//! work of a search.

use common::api::page::{Page, PageQuery};
use common::model::Deployment;
use common::model::limits::PAGE_ITEMS_MAX;

use crate::store::kv::Order;
use crate::store::{Store, StoreError, keys, read, record};

/// How many names one page looks through. A page that ends before has a token, and the next one goes on.
const LOOKED_THROUGH: usize = 200_000;

/// A page of the deployments with the text in their names, by name.
pub async fn page(
    store: &Store,
    part: &str,
    query: &PageQuery,
) -> Result<Page<Deployment>, StoreError> {
    let prefix = keys::deployments();
    let mut found = Page {
        items: Vec::new(),
        next_page_token: None,
    };
    let mut next = PageQuery {
        limit: Some(PAGE_ITEMS_MAX),
        page_token: query.page_token.clone(),
    };
    for _ in 0..LOOKED_THROUGH / PAGE_ITEMS_MAX {
        let looked = store.page(prefix.clone(), &next, Order::Ascending).await?;
        for (key, bytes) in looked.items {
            let name = key.get(prefix.len()..).unwrap_or_default();
            if !contains(name, part.as_bytes()) {
                continue;
            }
            if found.items.len() == query.limit() {
                return Ok(found);
            }
            found.next_page_token = Some(record::token::write(name));
            found.items.push(read(&key, &bytes)?);
        }
        next.page_token = looked.next_page_token;
        if next.page_token.is_none() {
            break;
        }
    }
    found.next_page_token = next.page_token;
    Ok(found)
}

fn contains(name: &[u8], part: &[u8]) -> bool {
    part.is_empty() || name.windows(part.len()).any(|window| window == part)
}

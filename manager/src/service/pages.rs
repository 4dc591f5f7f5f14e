//! Pages of lists that are built in memory, because the store cannot read them page by page.

use common::api::page::{Page, PageQuery};

use crate::store::StoreError;
use crate::store::record::token;

/// A page of items sorted by unique names. The token is the last name of the previous page, so changes between two
/// requests shift nothing into or out of later pages.
pub fn by_name<T>(
    items: Vec<T>,
    name: impl Fn(&T) -> &str,
    query: &PageQuery,
) -> Result<Page<T>, StoreError> {
    if query.limit == Some(0) {
        return Err(StoreError::PageLimit);
    }
    // An empty token asks for the first page, like an absent one.
    let asked = query.page_token.as_deref();
    let before = asked.filter(|text| !text.is_empty());
    let before = before.map(token::read).transpose()?.unwrap_or_default();
    let rest = items
        .into_iter()
        .filter(|item| name(item).as_bytes() > before.as_slice());
    let mut items: Vec<T> = rest.collect();
    let more = items.len() > query.limit();
    items.truncate(query.limit());
    let last = items.last().filter(|_| more);
    let next_page_token = last.map(|item| token::write(name(item).as_bytes()));
    Ok(Page {
        items,
        next_page_token,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(items: &[&'static str], limit: usize, token: Option<String>) -> Page<&'static str> {
        let query = PageQuery {
            limit: Some(limit),
            page_token: token,
        };
        by_name(items.to_vec(), |item| item, &query).unwrap()
    }

    #[test]
    fn pages_meet_each_name_once_though_others_come_and_go() {
        let first = page(&["a", "b", "c", "d"], 2, None);
        assert_eq!(first.items, ["a", "b"]);
        let second = page(&["aa", "c", "d"], 1, first.next_page_token);
        assert_eq!(second.items, ["c"]);
        let last = page(&["aa", "c", "d"], 1, second.next_page_token);
        assert_eq!(
            (last.items.as_slice(), last.next_page_token),
            (&["d"][..], None)
        );
    }

    #[test]
    fn an_empty_page_and_a_token_of_nobody_are_refused() {
        let query = |limit, token: Option<&str>| PageQuery {
            limit,
            page_token: token.map(str::to_owned),
        };
        let ask = |query: PageQuery| by_name(vec!["a"], |item| item, &query);
        assert!(matches!(
            ask(query(Some(0), None)),
            Err(StoreError::PageLimit)
        ));
        assert!(matches!(
            ask(query(None, Some("x"))),
            Err(StoreError::PageToken)
        ));
        assert_eq!(ask(query(None, Some(""))).unwrap().items, ["a"]);
    }
}

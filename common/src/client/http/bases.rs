//! The addresses of a service that answers alike at each of them.

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};

use reqwest::Url;

use crate::client::error::ClientError;

/// One address at least, and which one is in use.
#[derive(Debug)]
pub(super) struct Bases {
    first: Url,
    others: Vec<Url>,
    /// How often an address was left.
    left: AtomicUsize,
}

impl Bases {
    pub fn new(texts: &[&str]) -> Result<Self, ClientError> {
        let (first, others) = texts.split_first().unwrap_or((&"", &[]));
        Ok(Self {
            first: parsed(first)?,
            others: others
                .iter()
                .map(|text| parsed(text))
                .collect::<Result<_, _>>()?,
            left: AtomicUsize::new(0),
        })
    }

    pub fn count(&self) -> usize {
        1 + self.others.len()
    }

    pub fn current(&self) -> &Url {
        match self.left.load(Ordering::Relaxed) % self.count() {
            0 => &self.first,
            number => self.others.get(number - 1).unwrap_or(&self.first),
        }
    }

    /// The next address is used from now on.
    pub fn leave(&self) {
        self.left.fetch_add(1, Ordering::Relaxed);
    }

    /// Makes the URL of a request one at the address in use.
    pub fn redirect(&self, url: &mut Url) {
        let prefix = |base: &Url| base.path().trim_end_matches('/').to_owned();
        let from = std::iter::once(&self.first).chain(&self.others);
        let path = from
            .filter(|base| base.origin() == url.origin())
            .find_map(|base| url.path().strip_prefix(&prefix(base)))
            .unwrap_or(url.path());
        let mut to = self.current().clone();
        to.set_path(&format!("{}{path}", prefix(&to)));
        to.set_query(url.query());
        *url = to;
    }
}

impl fmt::Display for Bases {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.first)?;
        self.others
            .iter()
            .try_for_each(|other| write!(f, ", {other}"))
    }
}

fn parsed(text: &str) -> Result<Url, ClientError> {
    let invalid = |reason: String| ClientError::InvalidUrl {
        url: text.to_owned(),
        reason,
    };
    let url = Url::parse(text).map_err(|error| invalid(error.to_string()))?;
    if url.cannot_be_a_base() || !matches!(url.scheme(), "http" | "https") {
        return Err(invalid("write it like http://127.0.0.1:8080".to_owned()));
    }
    Ok(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_goes_on_at_the_next_address_with_its_path_and_query() {
        let bases = Bases::new(&["http://a:1/dm/", "https://b/other"]).unwrap();
        assert_eq!(bases.current().as_str(), "http://a:1/dm/");
        let mut url = Url::parse("http://a:1/dm/deployments/x%2Fy?limit=1").unwrap();
        bases.leave();
        bases.redirect(&mut url);
        assert_eq!(url.as_str(), "https://b/other/deployments/x%2Fy?limit=1");
        bases.leave();
        bases.redirect(&mut url);
        assert_eq!(url.as_str(), "http://a:1/dm/deployments/x%2Fy?limit=1");
    }

    #[test]
    fn an_address_that_is_none_is_named() {
        let said = Bases::new(&["http://a", "b"]).unwrap_err().to_string();
        assert!(said.starts_with("\"b\" is not"), "{said}");
    }
}

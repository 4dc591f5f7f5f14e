//! The parsed templates of a chart, kept for its next render: reading them takes half of the time of a render.

use std::sync::{Arc, Mutex, PoisonError};

use expandybird_gotemplate::error::ParseError;
use expandybird_gotemplate::{MissingKey, Options, Set};

use crate::functions::{SET, functions};

/// The set of the last render. A clone has none.
#[derive(Debug, Default)]
pub struct Parsed(Mutex<Option<Kept>>);

#[derive(Debug)]
struct Kept {
    /// Which templates there are depends on the values: subcharts may be disabled, and have other names.
    templates: Vec<(String, Vec<u8>)>,
    set: Arc<Set>,
}

impl Clone for Parsed {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl Parsed {
    /// The set of these templates: names and texts in the order in which they replace each other.
    ///
    /// # Errors
    /// One of them cannot be parsed.
    pub fn set(&self, templates: &[(&str, &[u8])]) -> Result<Arc<Set>, ParseError> {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(kept) = held.as_ref().filter(|kept| kept.is_of(templates)) {
            return Ok(Arc::clone(&kept.set));
        }
        let options = Options {
            missing_key: MissingKey::Zero,
            ..Options::default()
        };
        let mut set = Set::new(SET, functions(), options);
        for &(name, text) in templates {
            set.parse(name, text)?;
        }
        let set = Arc::new(set);
        let owned = |(name, text): &(&str, &[u8])| ((*name).to_owned(), text.to_vec());
        *held = Some(Kept {
            templates: templates.iter().map(owned).collect(),
            set: Arc::clone(&set),
        });
        Ok(set)
    }
}

impl Kept {
    fn is_of(&self, templates: &[(&str, &[u8])]) -> bool {
        let own = self.templates.iter();
        let own = own.map(|(name, text)| (name.as_str(), text.as_slice()));
        own.eq(templates.iter().copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_templates_are_parsed_once_and_others_anew() {
        let parsed = Parsed::default();
        let one: [(&str, &[u8]); 2] = [("a", b"{{ 1 }}"), ("b", b"x")];
        let first = parsed.set(&one).unwrap();
        assert!(Arc::ptr_eq(&first, &parsed.set(&one).unwrap()));
        for other in [
            [("a", &b"{{ 2 }}"[..]), ("b", b"x")],
            [("b", b"x"), ("a", b"{{ 1 }}")],
        ] {
            assert!(!Arc::ptr_eq(&first, &parsed.set(&other).unwrap()));
        }
        assert!(parsed.set(&one[..1]).is_ok());
        assert!(parsed.set(&[("a", b"{{")]).is_err());
    }
}

//! Compares the scan with serde_json: a text within the limits is read the same, and nothing beyond them becomes a
//! value.

#![expect(clippy::expect_used, reason = "a test ends where it fails")]

use std::cell::Cell;
use std::fmt;

use common_json::{JsonError, Limits, Scan, TooLarge, from_slice};
use proptest::prelude::*;
use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

const WIDE: Limits = Limits {
    bytes: usize::MAX,
    depth: usize::MAX,
    values: usize::MAX,
};

/// Counts the values that serde_json makes, also of a text that it rejects in the end.
#[derive(Clone, Copy)]
struct Count<'c> {
    made: &'c Cell<usize>,
    deepest: &'c Cell<usize>,
    depth: usize,
}

impl Count<'_> {
    fn one(&self) {
        self.made.set(self.made.get() + 1);
    }

    fn inner(&self) -> Self {
        let depth = self.depth + 1;
        self.deepest.set(self.deepest.get().max(depth));
        Self { depth, ..*self }
    }
}

impl<'de> DeserializeSeed<'de> for Count<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<(), D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Count<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("anything")
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        self.one();
        Ok(())
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<(), E> {
        self.visit_unit()
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<(), E> {
        self.visit_unit()
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<(), E> {
        self.visit_unit()
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<(), E> {
        self.visit_unit()
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<(), E> {
        self.visit_unit()
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        self.one();
        let inner = self.inner();
        while items.next_element_seed(inner)?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<(), A::Error> {
        self.one();
        let inner = self.inner();
        while fields.next_key_seed(inner)?.is_some() {
            fields.next_value_seed(inner)?;
        }
        Ok(())
    }
}

/// How many values serde_json makes from a text, how deep they nest, and whether it accepts the text.
fn counted(text: &[u8]) -> (usize, usize, bool) {
    let (made, deepest) = (Cell::new(0), Cell::new(0));
    let count = Count {
        made: &made,
        deepest: &deepest,
        depth: 0,
    };
    let mut reader = serde_json::Deserializer::from_slice(text);
    let is_taken = count.deserialize(&mut reader).is_ok() && reader.end().is_ok();
    (made.get(), deepest.get(), is_taken)
}

fn scanned(text: &[u8]) -> usize {
    let mut scan = Scan::new(WIDE);
    scan.take(text).expect("nothing is too large for it");
    scan.values()
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        r#"[a-z"\\\[\]{},: \n\u{1}é😀]{0,8}"#.prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 60, 6, |inner| {
        let list = prop::collection::vec(inner.clone(), 0..6);
        let map = prop::collection::btree_map(r#"[a-c"\\]{0,3}"#, inner, 0..6);
        prop_oneof![
            list.prop_map(Value::from),
            map.prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

fn text() -> impl Strategy<Value = Vec<u8>> {
    (value(), any::<bool>()).prop_map(|(value, is_pretty)| match is_pretty {
        true => serde_json::to_vec_pretty(&value).expect("a value can be written"),
        false => serde_json::to_vec(&value).expect("a value can be written"),
    })
}

/// A text with some bytes replaced, removed or added: most are not JSON any more, some still are.
fn damaged() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![
        prop::sample::select(br#"[]{},:"\ 0-1.e"#.to_vec()),
        any::<u8>()
    ];
    let change = (any::<prop::sample::Index>(), byte, 0..3_u8);
    (text(), prop::collection::vec(change, 0..4)).prop_map(|(mut text, changes)| {
        for (place, byte, what) in changes {
            let at = place.index(text.len() + 1);
            match what {
                0 => text.insert(at, byte),
                1 if at < text.len() => text[at] = byte,
                _ => text.truncate(at),
            }
        }
        text
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    #[test]
    fn the_counts_are_those_of_the_values_that_serde_json_makes(text in text()) {
        let (made, deepest, is_taken) = counted(&text);
        prop_assert!(is_taken);
        prop_assert_eq!(scanned(&text), made);
        let exact = Limits { bytes: text.len(), depth: deepest, values: made };
        prop_assert_eq!(
            from_slice::<Value>(&text, &exact).expect("it is within its own size"),
            serde_json::from_slice::<Value>(&text).expect("it is JSON")
        );
        let refused = |limits: Limits| Scan::new(limits).take(&text).expect_err("it is too large");
        let values = Limits { values: made - 1, ..exact };
        prop_assert_eq!(refused(values), TooLarge::Values { limit: made - 1 });
        let bytes = Limits { bytes: text.len() - 1, ..exact };
        prop_assert_eq!(refused(bytes), TooLarge::Bytes { limit: text.len() - 1 });
        if deepest > 0 {
            let depth = Limits { depth: deepest - 1, ..exact };
            prop_assert_eq!(refused(depth), TooLarge::Depth { limit: deepest - 1 });
        }
    }

    #[test]
    fn no_bytes_make_more_values_than_the_scan_counts(text in damaged()) {
        let (made, _, is_taken) = counted(&text);
        prop_assert!(scanned(&text) >= made, "{}", String::from_utf8_lossy(&text));
        let read = from_slice::<Value>(&text, &WIDE);
        prop_assert_eq!(read.is_ok(), is_taken);
        prop_assert_eq!(read.ok(), serde_json::from_slice(&text).ok());
    }

    /// Single bytes give the same counts, so no byte is read twice and no work grows with the text.
    #[test]
    fn the_counts_do_not_depend_on_how_the_bytes_come(text in damaged(), values in 0..20_usize, depth in 0..6_usize) {
        let limits = Limits { bytes: usize::MAX, depth, values };
        let (mut whole, mut bytewise) = (Scan::new(limits), Scan::new(limits));
        let at_once = whole.take(&text);
        let one_by_one = text.chunks(1).try_for_each(|byte| bytewise.take(byte));
        prop_assert_eq!(at_once, one_by_one);
        prop_assert_eq!(whole.values(), bytewise.values());
    }
}

#[test]
fn a_large_list_costs_its_bytes_and_no_values() {
    let text = [
        b"[".as_slice(),
        &b"0,".repeat(Limits::TEMPLATE.bytes / 2 - 1),
    ]
    .concat();
    let error = from_slice::<Value>(&text, &Limits::TEMPLATE).expect_err("it is too large");
    assert!(
        error
            .to_string()
            .starts_with("it holds more than 1000000 values"),
        "{error}"
    );
    let mut scan = Scan::new(Limits::TEMPLATE);
    assert!(scan.take(&text).is_err());
    assert_eq!(scan.values(), Limits::TEMPLATE.values + 1);
}

#[test]
fn the_depth_is_the_one_that_serde_json_reads() {
    let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
    let depth = Limits::REQUEST.depth;
    assert!(from_slice::<Value>(nested(depth).as_bytes(), &Limits::REQUEST).is_ok());
    assert!(serde_json::from_str::<Value>(&nested(depth + 1)).is_err());
    let error = from_slice::<Value>(nested(depth + 1).as_bytes(), &Limits::REQUEST);
    assert!(matches!(
        error,
        Err(JsonError::TooLarge(TooLarge::Depth { .. }))
    ));
}

#[test]
fn every_bound_says_what_and_what_to_do() {
    for (error, expected) in [
        (TooLarge::Bytes { limit: 64 << 20 }, "64 MiB; split it"),
        (TooLarge::Depth { limit: 127 }, "127 levels; nest them less"),
        (TooLarge::Values { limit: 5 }, "5 values"),
    ] {
        assert!(error.to_string().contains(expected), "{error}");
    }
}

#[test]
fn typed_reading_is_bounded_like_values() {
    let limits = Limits {
        values: 3,
        ..Limits::REQUEST
    };
    fn read<T: for<'de> Deserialize<'de>>(text: &str, limits: &Limits) -> Option<T> {
        from_slice(text.as_bytes(), limits).ok()
    }
    assert_eq!(read::<Vec<u8>>("[1,2]", &limits), Some(vec![1, 2]));
    assert_eq!(read::<Vec<u8>>("[1,2,3]", &limits), None);
}

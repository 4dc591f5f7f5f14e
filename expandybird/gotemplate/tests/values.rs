//! What the value model promises to those who write functions.

use expandybird_gotemplate::value::{GoString, List, Map, Numbers, Type, Value};

fn nested(levels: usize) -> Value {
    let mut value = Value::Nil;
    for level in 0..levels {
        value = if level % 2 == 0 {
            List::any(vec![value]).into()
        } else {
            Map::from_iter([(GoString::from("a"), value)]).into()
        };
    }
    value
}

#[test]
fn a_value_of_many_levels_is_dropped_without_a_deep_stack() {
    drop(nested(200_000));
}

#[test]
fn a_map_that_contains_itself_can_be_freed() {
    let map = Map::default();
    map.insert("self", map.clone().into());
    map.insert("deep", nested(100_000));
    let weak = map.downgrade();
    weak.clear();
    assert!(map.is_empty());
}

#[test]
fn types_print_as_in_go() {
    let json = serde_json::json!({"a": [1, 2.5]});
    let value = Value::from_json(&json, Numbers::Integers);
    assert_eq!(value.type_text(), "map[string]interface {}");
    assert_eq!(Value::Bytes("x".into()).type_text(), "[]uint8");
    assert_eq!(List::strings([]).type_text(), "[]string");
    assert_eq!(Type::Slice(&Type::LIST).text(), "[][]interface {}");
    assert_eq!(Value::Nil.type_text(), "<nil>");
}

#[test]
fn numbers_of_json_are_floats_or_integers_as_asked() {
    let read = |numbers| Value::from_json(&serde_json::json!(3), numbers).type_text();
    assert_eq!(read(Numbers::Floats), "float64");
    assert_eq!(read(Numbers::Integers), "int64");
}

#[test]
fn a_change_of_a_map_shows_in_its_clones() {
    let map = Map::default();
    let clone = map.clone();
    map.insert("a", Value::int(1));
    assert!(clone.contains_key(b"a"));
    assert!(map.is_same(&clone));
}

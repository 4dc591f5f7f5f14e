//! Filters, tests and functions of Jinja 3.1 that minijinja lacks, does differently, or does without
//! bounds.

pub mod given;
mod html;
mod json;
mod lists;
mod numbers;
mod text;
mod wrap;

use minijinja::value::{Rest, ValueKind};
use minijinja::{Environment, Error, Value};

use super::cycler::Cycler;
use super::dict::Dict;
use super::{dict, meter, random, range, repr};
pub use text::{center, replace};

pub fn register(environment: &mut Environment<'_>) {
    register_text(environment);
    register_lists(environment);
    environment.add_filter("int", numbers::int);
    environment.add_filter("float", numbers::float);
    environment.add_filter("round", numbers::round);
    environment.add_filter("filesizeformat", numbers::filesizeformat);
    environment.add_function("range", range::range);
    environment.add_function("dict", Dict::construct);
    environment.add_function("namespace", dict::namespace);
    environment.add_function("cycler", |items: Rest<Value>| Cycler::of(items.0));
    environment.add_function("joiner", minijinja_contrib::globals::joiner);
    environment.add_function("lipsum", random::lipsum);
    environment.add_test("sequence", |value: &Value| {
        matches!(
            value.kind(),
            ValueKind::Seq | ValueKind::Iterable | ValueKind::String | ValueKind::Map
        )
    });
    environment.add_test("callable", |value: &Value| value.kind() == ValueKind::Plain);
    // Not in Jinja: names that a template would find undefined there.
    for filter in ["lines", "split", "chain", "zip", "bool"] {
        environment.remove_filter(filter);
    }
    environment.remove_global("debug");
}

fn register_text(environment: &mut Environment<'_>) {
    environment.add_filter("string", string);
    environment.add_filter("replace", replace);
    environment.add_filter("tojson", json::tojson);
    environment.add_filter("center", |text: &Value, width: Option<usize>| {
        center(text, width.unwrap_or(80), " ")
    });
    environment.add_filter("indent", text::indent);
    environment.add_filter("format", text::format);
    environment.add_filter("truncate", text::truncate);
    environment.add_filter("wordcount", text::wordcount);
    environment.add_filter("wordwrap", wrap::wordwrap);
    environment.add_filter("escape", html::escape);
    environment.add_filter("e", html::escape);
    environment.add_filter("forceescape", html::forceescape);
    environment.add_filter("striptags", html::striptags);
    environment.add_filter("xmlattr", html::xmlattr);
    environment.add_filter("urlencode", html::urlencode);
    environment.add_filter("pprint", |value: &Value| {
        meter::text(|out| repr::write_repr(out, value, 0))
    });
}

fn register_lists(environment: &mut Environment<'_>) {
    environment.add_filter("join", lists::join);
    environment.add_filter("sort", lists::sort);
    environment.add_filter("dictsort", lists::dictsort);
    environment.add_filter("items", lists::items);
    environment.add_filter("list", lists::list);
    environment.add_filter("length", lists::length);
    environment.add_filter("count", lists::length);
    environment.add_filter("first", lists::first);
    environment.add_filter("last", lists::last);
    environment.add_filter("default", lists::default);
    environment.add_filter("d", lists::default);
    environment.add_filter("random", random::random);
}

fn string(value: &Value) -> Result<String, Error> {
    meter::text(|out| repr::write_str(out, value))
}

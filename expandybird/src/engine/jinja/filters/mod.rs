//! The filters of Jinja 3.1, with its signatures.

mod choose;
mod entity;
mod groups;
mod html;
mod json;
mod lists;
mod numbers;
mod text;
mod wrap;

use minijinja::Environment;

use super::globals::random;
use super::signature::{Row, table};
pub use groups::Group;
pub use html::pair;
pub use lists::pairs;
pub use numbers::truncated;
pub use text::{center, replaced};

/// All filters except `urlize`, which makes links for web pages.
pub const ROWS: &[Row] = &[
    ("abs", "x, /", numbers::abs),
    ("attr", "obj, name", lists::attr),
    ("batch", "value, linecount, fill_with=None", groups::batch),
    ("capitalize", "s", text::capitalize),
    ("center", "value, width=80", text::centered),
    ("count", "obj, /", lists::length),
    (
        "d",
        "value, default_value='', boolean=False",
        lists::default,
    ),
    (
        "default",
        "value, default_value='', boolean=False",
        lists::default,
    ),
    (
        "dictsort",
        "value, case_sensitive=False, by='key', reverse=False",
        lists::dictsort,
    ),
    ("e", "s, /", html::escape),
    ("escape", "s, /", html::escape),
    (
        "filesizeformat",
        "value, binary=False",
        numbers::filesizeformat,
    ),
    ("first", "seq", lists::first),
    ("float", "value, default=0.0", numbers::float),
    ("forceescape", "value", html::forceescape),
    ("format", "value, *args, **kwargs", text::format),
    (
        "groupby",
        "value, attribute, default=None, case_sensitive=False",
        groups::groupby,
    ),
    (
        "indent",
        "s, width=4, first=False, blank=False",
        text::indent,
    ),
    ("int", "value, default=0, base=10", numbers::int),
    ("items", "value", lists::items),
    ("join", "value, d='', attribute=None", lists::join),
    ("last", "seq", lists::last),
    ("length", "obj, /", lists::length),
    ("list", "value", lists::list),
    ("lower", "s", text::lower),
    ("map", "value, *args, **kwargs", choose::map),
    (
        "max",
        "value, case_sensitive=False, attribute=None",
        lists::max,
    ),
    (
        "min",
        "value, case_sensitive=False, attribute=None",
        lists::min,
    ),
    ("pprint", "value", text::pprint),
    ("random", "seq", random::random),
    ("reject", "value, *args, **kwargs", choose::reject),
    ("rejectattr", "value, *args, **kwargs", choose::rejectattr),
    ("replace", "s, old, new, count=None", text::replace),
    ("reverse", "value", lists::reverse),
    (
        "round",
        "value, precision=0, method='common'",
        numbers::round,
    ),
    ("safe", "value", html::safe),
    ("select", "value, *args, **kwargs", choose::select),
    ("selectattr", "value, *args, **kwargs", choose::selectattr),
    ("slice", "value, slices, fill_with=None", groups::slice),
    (
        "sort",
        "value, reverse=False, case_sensitive=False, attribute=None",
        lists::sort,
    ),
    ("string", "s, /", text::string),
    ("striptags", "value", html::striptags),
    ("sum", "iterable, attribute=None, start=0", lists::sum),
    ("title", "s", text::title),
    ("tojson", "value, indent=None", json::tojson),
    ("trim", "value, chars=None", text::trim),
    (
        "truncate",
        "s, length=255, killwords=False, end='...', leeway=None",
        text::truncate,
    ),
    (
        "unique",
        "value, case_sensitive=False, attribute=None",
        groups::unique,
    ),
    ("upper", "s", text::upper),
    ("urlencode", "value", html::urlencode),
    ("wordcount", "s", text::wordcount),
    (
        "wordwrap",
        "s, width=79, break_long_words=True, wrapstring=None, break_on_hyphens=True",
        wrap::wordwrap,
    ),
    ("xmlattr", "d, autospace=True", html::xmlattr),
];

pub fn register(environment: &mut Environment<'_>) {
    for (name, function) in table(ROWS) {
        environment.add_filter(name, function.into_callable());
    }
}

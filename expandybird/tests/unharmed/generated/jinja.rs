//! Everything that a Jinja template can call, with arguments that mean harm, and every form of the language, nested and
//! repeated. The names come from the engine's own table ([`jinja::callables`]): a new filter is tested by being there.

use common::api::expander::ExpandRequest;
use expandybird::engine::jinja;
use fastrand::Rng;

use crate::requests::request;

/// Names that the arguments use: a value that holds itself, one that is deep, one that is large.
const PRELUDE: &str = "{% set me = namespace(x=1) %}{% set me.x = me %}\
    {% set deep = namespace(x=[]) %}{% for i in range(1000) %}{% set deep.x = [deep.x] %}{% endfor %}\
    {% set wide = range(100000)|list %}";

const VALUES: [&str; 34] = [
    "0",
    "1",
    "-1",
    "7",
    "10**9",
    "-10**9",
    "99999999999999999",
    "-99999999999999999",
    "2**62",
    "10**30",
    "0.5",
    "-0.0",
    "1e308*10",
    "-1e308*10",
    "(1e308*10)-(1e308*10)",
    "''",
    "'a'",
    "'%s%d{0}{a.b}'",
    "'é😀\\u0000'",
    "'a b'*50000",
    "'(a|a)*$'",
    "[]",
    "[[]]",
    "[3, 'a', none]",
    "wide",
    "deep.x",
    "me",
    "{}",
    "{'a': {'b': 1}, 1: 2}",
    "none",
    "true",
    "nothing_there",
    "env",
    "cycler(1, 2)",
];

/// Operators between two values, and forms with a hole for a value.
const OPERATORS: [&str; 18] = [
    "+", "-", "*", "/", "//", "%", "**", "~", "==", "!=", "<", "<=", ">", ">=", "and", "or", "in",
    "not in",
];
const ACCESSES: [&str; 8] = [
    "[{}]",
    "[{}:]",
    "[:{}]",
    "[::{}]",
    "[{}:{}:{}]",
    ".x",
    "({})",
    " if {} else {}",
];

/// What is repeated: before all, each time, between, each time at the end, after all.
const FORMS: [(&str, &str, &str, &str, &str); 32] = [
    ("{{ ", "-", "1", "", " }}"),
    ("{{ ", "not ", "1", "", " }}"),
    ("{{ 1", " and 1", "", "", " }}"),
    ("{{ 0", " or 0", "", "", " }}"),
    ("{{ ", "1**", "1", "", " }}"),
    ("{{ 1", "+1", "", "", " }}"),
    ("{{ 1", "~1", "", "", " }}"),
    ("{{ 1", " < 1", "", "", " }}"),
    ("{{ 1", " in [1]", "", "", " }}"),
    ("{{ a", ".b", "", "", " }}"),
    ("{{ a", "[0]", "", "", " }}"),
    ("{{ a", "[::]", "", "", " }}"),
    ("{{ a", "()", "", "", " }}"),
    ("{{ a", "|e", "", "", " }}"),
    ("{{ a", "|default(a", "", ")", " }}"),
    ("{{ a", " is defined", "", "", " }}"),
    ("{{ ", "1 if 1 else ", "1", "", " }}"),
    ("{{ ", "[", "", "]", " }}"),
    ("{{ ", "(", "1", ")", " }}"),
    ("{{ ", "{'a':", "1", "}", " }}"),
    ("{{ [", "1,", "", "", "] }}"),
    ("{{ f(", "1,", "", "", ") }}"),
    ("{{ 'a'", " 'a'", "", "", " }}"),
    ("", "{% if 1 %}", "x", "{% endif %}", ""),
    ("{% if 0 %}", "{% elif 0 %}x", "", "", "{% endif %}"),
    ("", "{% for i in [1] %}", "x", "{% endfor %}", ""),
    ("", "{% with a = 1 %}", "x", "{% endwith %}", ""),
    ("", "{% set a %}", "x", "{% endset %}", ""),
    ("", "{% filter upper %}", "x", "{% endfilter %}", ""),
    ("", "{% macro m() %}", "x", "{% endmacro %}", ""),
    ("", "{# #}{{ 1 }}", "", "", ""),
    ("", "{% raw %}{{{% endraw %}", "", "", ""),
];
const TIMES: [usize; 4] = [10, 1_000, 10_000, 100_000];

/// Up to four by position, then some by the names that the signature has.
fn arguments(random: &mut Rng, parameters: &str) -> String {
    let mut all: Vec<String> = (0..random.usize(..5)).map(|_| value(random)).collect();
    let names = parameters.split(',').map(|name| {
        let name = name.split(['=', ':']).next().unwrap_or_default();
        name.trim().trim_start_matches('*')
    });
    for name in names.filter(|name| is_name(name)) {
        if random.u8(..3) == 0 {
            all.push(format!("{name}={}", value(random)));
        }
    }
    all.join(", ")
}

fn value(random: &mut Rng) -> String {
    VALUES[random.usize(..VALUES.len())].to_owned()
}

fn is_name(text: &str) -> bool {
    !text.is_empty()
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// One expression a callable, operator and access, and one template a form.
pub fn requests(random: &mut Rng) -> Vec<ExpandRequest> {
    let mut expressions = calls(random);
    for operator in OPERATORS {
        let (left, right) = (value(random), value(random));
        expressions.push(format!("({left}) {operator} ({right})"));
    }
    for access in ACCESSES {
        let mut filled = access.to_owned();
        while filled.contains("{}") {
            filled = filled.replacen("{}", &value(random), 1);
        }
        expressions.push(format!("({}){filled}", value(random)));
    }
    let printed = expressions
        .into_iter()
        .map(|expression| format!("{PRELUDE}{{{{ {expression} }}}}"));
    let all = printed.chain(forms(random));
    all.map(|template| request("t.jinja", &template)).collect()
}

fn calls(random: &mut Rng) -> Vec<String> {
    let all = jinja::callables().into_iter().flat_map(|(group, rows)| {
        let rows = rows.into_iter();
        rows.map(move |(name, parameters)| (group, name, parameters))
    });
    all.map(|(group, name, parameters)| {
        let (subject, arguments) = (value(random), arguments(random, parameters));
        match group {
            "filters" => format!("({subject})|{name}({arguments})"),
            "tests" => format!("({subject}) is {name}({arguments})"),
            "globals" => format!("{name}({arguments})"),
            _ => format!("({subject}).{name}({arguments})"),
        }
    })
    .collect()
}

fn forms(random: &mut Rng) -> Vec<String> {
    let repeated = FORMS.map(|(before, each, middle, end, after)| {
        let times = TIMES[random.usize(..TIMES.len())];
        let (each, end) = (each.repeat(times), end.repeat(times));
        format!("{before}{each}{middle}{end}{after}")
    });
    repeated.into()
}

//! Everything that a template can call, with arguments that mean harm, and every form of the language, nested and
//! repeated.
//!
//! The names come from the engine's own table ([`jinja::callables`]): a new filter is tested by being there. A sample of
//! a fixed seed runs in every test run; `SEED` and `SECONDS` choose another and how long (see the ignored test).

use std::time::{Duration, Instant};

use common::client::ClientError;
use common::model::limits::MESSAGE_CHARS;
use expandybird::engine::jinja;
use tokio::task::JoinSet;

use crate::server::{HARMLESS, PATIENCE, Server, request};

/// What the server itself may ever take: it holds bodies, and nothing that is made of them.
const SERVER_BYTES: u64 = 200 << 20;
/// Requests at once.
const AT_ONCE: usize = 4;
/// Short and small, so that what does not end by itself costs little.
const FLAGS: [&str; 6] = [
    "--expansion-timeout",
    "1",
    "--expansion-memory",
    "128",
    "--max-expansions",
    "4",
];

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

/// A stream of numbers of a seed (SplitMix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }

    fn one_of<'v>(&mut self, values: &[&'v str]) -> &'v str {
        values[self.below(values.len())]
    }

    fn value(&mut self) -> &'static str {
        self.one_of(&VALUES)
    }

    /// Up to four by position, then some by the names that the signature has.
    fn arguments(&mut self, parameters: &str) -> String {
        let mut all: Vec<String> = (0..self.below(5))
            .map(|_| self.value().to_owned())
            .collect();
        let names = parameters.split(',').map(|name| {
            let name = name.split(['=', ':']).next().unwrap_or_default();
            name.trim().trim_start_matches('*')
        });
        for name in names.filter(|name| is_name(name)) {
            if self.below(3) == 0 {
                all.push(format!("{name}={}", self.value()));
            }
        }
        all.join(", ")
    }
}

fn is_name(text: &str) -> bool {
    !text.is_empty()
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// One expression a callable, operator and access, and one template a form.
fn templates(random: &mut Random) -> Vec<String> {
    let mut expressions = Vec::new();
    for (group, callables) in jinja::callables() {
        for (name, parameters) in callables {
            let (subject, arguments) = (random.value(), random.arguments(parameters));
            expressions.push(match group {
                "filters" => format!("({subject})|{name}({arguments})"),
                "tests" => format!("({subject}) is {name}({arguments})"),
                "globals" => format!("{name}({arguments})"),
                _ => format!("({subject}).{name}({arguments})"),
            });
        }
    }
    for operator in OPERATORS {
        expressions.push(format!(
            "({}) {operator} ({})",
            random.value(),
            random.value()
        ));
    }
    for access in ACCESSES {
        let mut filled = access.to_owned();
        while filled.contains("{}") {
            filled = filled.replacen("{}", random.value(), 1);
        }
        expressions.push(format!("({}){filled}", random.value()));
    }
    let printed = expressions
        .into_iter()
        .map(|expression| format!("{PRELUDE}{{{{ {expression} }}}}"));
    let mut all: Vec<String> = printed.collect();
    for (before, each, middle, end, after) in FORMS {
        let times = TIMES[random.below(TIMES.len())];
        let (each, end) = (each.repeat(times), end.repeat(times));
        all.push(format!("{before}{each}{middle}{end}{after}"));
    }
    all
}

/// Sends all of them; each must end with an answer that is a result or a bad request's, in few words.
async fn send(server: &Server, templates: Vec<String>) {
    let mut running = JoinSet::new();
    for template in templates {
        if running.len() == AT_ONCE {
            running.join_next().await.unwrap().unwrap();
        }
        let client = server.client.clone();
        running.spawn(async move {
            let answer = client
                .expand(&request("t.jinja", &template), PATIENCE)
                .await;
            let shown: String = template.chars().take(2_000).collect();
            match answer {
                Ok(_) => {}
                Err(ClientError::Answered(body)) => {
                    assert_eq!(body.code.status(), 400, "{}: {shown}", body.message);
                    let length = body.message.chars().count();
                    assert!(length <= MESSAGE_CHARS + 20, "{length} characters: {shown}");
                }
                Err(error) => panic!("{error}: {shown}"),
            }
        });
    }
    while let Some(done) = running.join_next().await {
        done.unwrap();
    }
}

async fn unharmed(server: &mut Server, seed: u64) {
    let harmless = request("t.jinja", HARMLESS);
    server.expanded("afterwards", &harmless).await;
    server.becomes_idle(&format!("templates of seed {seed}"));
    assert!(server.is_alive(), "another process serves; seed {seed}");
    let peak = server.peak_bytes();
    assert!(
        peak < SERVER_BYTES,
        "the server took {peak} bytes; seed {seed}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_that_a_template_can_call_or_write_harms_the_server() {
    let mut server = Server::start(&FLAGS);
    send(&server, templates(&mut Random(1))).await;
    unharmed(&mut server, 1).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "as long as SECONDS says"]
async fn nothing_for_as_long_as_one_likes() {
    let number = |name: &str, default: u64| {
        let given = std::env::var(name).ok();
        given.map_or(default, |text| text.parse().unwrap())
    };
    let (mut seed, seconds) = (number("SEED", 2), number("SECONDS", 600));
    let (started, mut server) = (Instant::now(), Server::start(&FLAGS));
    while started.elapsed() < Duration::from_secs(seconds) {
        println!("SEED={seed}");
        send(&server, templates(&mut Random(seed))).await;
        unharmed(&mut server, seed).await;
        seed += 1;
    }
}

//! The same input gives the same bytes, wherever a template looks for something else.
//!
//! What it may look at is found, not listed: `everything.py` calls all that it can reach.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

use expandybird::sandbox::TemplateResult;
use serde_json::{Value, json};

use crate::support::{Request, sandbox};
use crate::{body, result};

const EVERYTHING: &str = include_str!("everything.py");

/// As many sessions; a result has to stay under its bound.
const PARTS: usize = 6;

/// What differs all the same, and why nobody minds.
const DIFFERENT: &[(&str, &str)] = &[(
    "sys.getallocatedblocks",
    "counts the interpreter's own memory, to which the length of a process id adds",
)];

/// What everything gave, in a sandbox of its own.
async fn everything() -> BTreeMap<String, Value> {
    let sandbox = sandbox().await;
    let mut results = BTreeMap::new();
    for part in 0..PARTS {
        let request = Request::template(EVERYTHING)
            .properties(json!({"part": part, "parts": PARTS}))
            .output_mib(8);
        let output = request.run(&sandbox).await;
        match output
            .unwrap_or_else(|error| panic!("part {part}: {error:?}"))
            .result
        {
            TemplateResult::Data(Value::Object(part)) => results.extend(part),
            other => panic!("part {part}: {other:?}"),
        }
    }
    results
}

#[tokio::test]
async fn whatever_a_template_calls_gives_the_same_in_another_process_at_another_time() {
    let started = SystemTime::now();
    let first = everything().await;
    assert!(
        started.elapsed().unwrap() > Duration::from_secs(1),
        "too fast for the clock to have moved on"
    );
    let second = everything().await;
    for known in [
        "os.urandom",
        "time.time",
        "datetime.datetime.now",
        "random.Random.random of one",
        "secrets.token_hex",
        "uuid.uuid1",
    ] {
        assert!(first.contains_key(known), "{known} was not called");
    }
    let is_known = |name: &str| DIFFERENT.iter().any(|(known, _)| *known == name);
    let different: Vec<_> = first
        .keys()
        .chain(second.keys())
        .filter(|name| first.get(*name) != second.get(*name) && !is_known(name))
        .map(|name| (name, first.get(name), second.get(name)))
        .collect();
    assert!(different.is_empty(), "{different:#?}");
}

#[tokio::test]
async fn every_way_to_a_clock_leads_to_the_requests_own() {
    let ways = [
        ("time.time()", "1450000000.0"),
        ("time.time_ns()", "1450000000000000000"),
        ("time.clock_gettime(time.CLOCK_REALTIME)", "1450000000.0"),
        (
            "(time.monotonic(), time.perf_counter(), time.process_time())",
            "(0.0, 0.0, 0.0)",
        ),
        ("time.strftime('%F %T')", "2015-12-13 09:46:40"),
        ("time.ctime()", "Sun Dec 13 09:46:40 2015"),
        ("datetime.datetime.now()", "2015-12-13 09:46:40"),
        ("datetime.datetime.__mro__[0].now()", "2015-12-13 09:46:40"),
        ("datetime.datetime.__mro__[1].today()", "2015-12-13"),
        (
            "type('D', (datetime.datetime,), {}).now()",
            "2015-12-13 09:46:40",
        ),
        (
            "copy.copy(datetime.datetime).utcnow()",
            "2015-12-13 09:46:40",
        ),
        (
            "pickle.loads(b'cdatetime\\ndatetime\\n.').now()",
            "2015-12-13 09:46:40",
        ),
        (
            "[c for c in datetime.date.__subclasses__() if c.__name__ == 'datetime'][0].now()",
            "2015-12-13 09:46:40",
        ),
        ("tuple(os.times())", "(0.0, 0.0, 0.0, 0.0, 0.0)"),
        ("logging.makeLogRecord({}).created", "1450000000.0"),
    ];
    for (way, shown) in ways {
        let code = format!("import copy, datetime, logging, os, pickle, time\nreturn str({way})");
        assert_eq!(result(body(&code)).await.unwrap(), shown, "{way}");
    }
}

#[tokio::test]
async fn a_template_learns_nothing_of_the_host() {
    let code = "import os, platform, sys\nreturn [list(os.uname()), platform.node(), os.getpid(), os.getppid(), os.getuid(), os.path.exists('/proc/self'), os.path.islink('/proc/self/exe')]";
    let answer = result(body(code)).await.unwrap();
    let uname = json!(["Linux", "localhost", "5.13", "#1", std::env::consts::ARCH]);
    assert_eq!(
        answer,
        json!([uname, "localhost", 2, 1, 65534, false, false])
    );
}

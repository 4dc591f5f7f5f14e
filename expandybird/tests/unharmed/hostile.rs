//! Small inputs that once brought the server down, kept it busy or filled its memory.
//!
//! What matters is not that each is refused: a later engine may serve some. It ends, with a code of a bad
//! request if it fails, and it harms nobody.

use common::api::error::ErrorCode;
use common::api::expander::ExpandRequest;
use common::client::ClientError;

use crate::requests::{HARMLESS, request, request_of};
use crate::server::{PATIENCE, SERVER_BYTES, Server};

/// Expressions that are long and flat in the text, and nested for a parser.
fn flat() -> Vec<(String, String)> {
    let repeated = |name: &str, before: &str, part: &str, times: usize, after: &str| {
        (
            format!("{times} times {name}"),
            format!("{{{{ {before}{}{after} }}}}", part.repeat(times)),
        )
    };
    vec![
        (
            "4000 times elif".to_owned(),
            format!("{{% if 0 %}}{}{{% endif %}}", "{% elif 0 %}x".repeat(4_000)),
        ),
        repeated("-", "", "-", 16_000, "1"),
        repeated("not", "", "not ", 16_000, "1"),
        repeated("and", "1", " and 1", 16_000, ""),
        repeated("or", "0", " or 0", 16_000, ""),
        repeated("1**", "", "1**", 16_000, "1"),
        repeated(".b", "a", ".b", 32_000, ""),
        repeated("|e", "a", "|e", 32_000, ""),
        repeated("[0]", "a", "[0]", 32_000, ""),
        repeated("is defined", "a", " is defined", 32_000, ""),
        repeated("1 if 1 else", "", "1 if 1 else ", 32_000, "1"),
        repeated("()", "a", "()", 64_000, ""),
        repeated("~", "1", "~1", 32_000, ""),
        repeated("[", "", "[", 32_000, ""),
        repeated("(", "", "(", 32_000, ""),
    ]
}

/// Values that are nested without being written so.
fn nested() -> Vec<(String, String)> {
    let loops = |what: &str, statement: &str| {
        (
            format!("16,000 nested {what}"),
            format!(
                "{{% set n = namespace(x=1) %}}{{% for i in range(16) %}}{{% for j in range(1000) %}}{statement}{{% endfor %}}{{% endfor %}}resources: []"
            ),
        )
    };
    vec![
        loops("namespaces", "{% set n.x = namespace(y=n.x) %}"),
        loops("cyclers", "{% set n.x = cycler(n.x) %}"),
        loops("joiners", "{% set n.x = joiner(n.x) %}"),
    ]
}

/// Much work or memory of little text.
fn greedy() -> Vec<(String, String)> {
    [
        "{{ [1]|batch(10**9,'x')|list }}",
        "{{ [1]|slice(10**9)|list|length }}",
        "{{ 'a'|slice(30000000)|list }}",
        "{{ [1,2]|batch(60000000,0)|list }}",
        "{{ ('a ' * 100000)|wordwrap(1, wrapstring='x' * 1000000) }}",
        "{{ [] * 99999999999999999 }}",
        "{{ properties[properties] }}",
        "{{ env[env] }}",
        "{{ [][::-1] }}",
        "{{ ''[::-1] }}",
    ]
    .map(|text| (text.to_owned(), text.to_owned()))
    .into()
}

fn others() -> Vec<(String, ExpandRequest)> {
    let numbers: Vec<String> = (0..300_000).map(|number| number.to_string()).collect();
    let outputs: String = (0..100_000)
        .map(|number| format!("- {{name: o{number}, value: 1}}\n"))
        .collect();
    let path = format!("$(ref.b{})", ".a".repeat(100_000));
    let of_itself = |what: &str| {
        let configuration = "resources: [{name: a, type: t.jinja, properties: {a: {b: 1}}}]";
        (
            format!("{what}, with properties"),
            request_of(configuration, &[("t.jinja", what)]),
        )
    };
    vec![
        of_itself("{{ properties[properties] }}"),
        of_itself("{{ properties.a[properties] }}"),
        of_itself("{{ env[env] }}"),
        (
            "an enum of 300,000".to_owned(),
            request_of(
                "resources: [{name: a, type: t.jinja, properties: {x: 1}}]",
                &[
                    ("t.jinja", HARMLESS),
                    (
                        "t.jinja.schema",
                        &format!("properties: {{x: {{enum: [{}]}}}}", numbers.join(",")),
                    ),
                ],
            ),
        ),
        (
            "100,000 outputs".to_owned(),
            request_of(&format!("resources: []\noutputs:\n{outputs}"), &[]),
        ),
        (
            "a reference path of 100,000 parts".to_owned(),
            request_of(
                &format!(
                    "resources: [{{name: b, type: T}}, {{name: c, type: T, properties: {{x: {path}}}}}]"
                ),
                &[],
            ),
        ),
        (
            "a frame of 64 MiB, forged".to_owned(),
            request(
                "t.py",
                "import os\n\
                 def GenerateConfig(context):\n    \
                   head = b'{\"returned\":{\"result\":{\"data\":['\n    \
                   body = head + b'0,' * ((60 << 20) // 2) + b'0]},\"printed\":\"\"}}'\n    \
                   frame = len(body).to_bytes(4, 'little') + body\n    \
                   for fd in range(3, 32):\n        \
                     try:\n            \
                       while frame: frame = frame[os.write(fd, frame):]\n        \
                     except OSError: pass\n    \
                   return {}\n",
            ),
        ),
    ]
}

fn all() -> Vec<(String, ExpandRequest)> {
    let templates = flat().into_iter().chain(nested()).chain(greedy());
    templates
        .map(|(what, text)| (what, request("t.jinja", &text)))
        .chain(others())
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn no_small_input_harms_the_server() {
    let mut server = Server::start(&[
        "--expansion-timeout=5",
        "--expansion-memory=192",
        "--template-memory=256",
        "--max-expansions=2",
        "--max-sessions=2",
    ]);
    let mut answers = Vec::new();
    for (what, attack) in all() {
        match server.client.expand(attack.clone(), PATIENCE).await {
            Ok(_) => answers.push(format!("{what}: served")),
            Err(ClientError::Answered(error)) => {
                assert_eq!(error.code.status(), 400, "{what}: {error:?}");
                answers.push(format!("{what}: {}", error.code));
            }
            Err(error) => panic!("{what}: {error}"),
        }
        server.becomes_idle(&what);
        let peak = server.peak_bytes();
        assert!(peak < SERVER_BYTES, "{what}: the server took {peak} bytes");
        let next = server
            .expanded(&format!("after {what}"), &request("t.jinja", HARMLESS))
            .await;
        assert_eq!(next.config.resources[0].name.as_str(), "a-b", "{what}");
    }
    assert!(server.is_alive());
    println!("{}", answers.join("\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_death_names_the_template_the_resource_and_the_path() {
    let server = Server::start(&["--expansion-timeout=2", "--expansion-memory=128"]);
    let endless =
        "{% for a in range(99999) %}{% set x = range(99999)|map('string')|sort|list %}{% endfor %}";
    let inner = "resources: [{name: inner, type: t.jinja}]";
    let error = server
        .refusal(
            "an endless template",
            &request_of(
                "resources: [{name: ok, type: T}, {name: outer, type: o.jinja}]",
                &[("o.jinja", inner), ("t.jinja", endless)],
            ),
        )
        .await;
    assert_eq!(error.code, ErrorCode::TemplateTimeout, "{error:?}");
    let location = error.location.clone().unwrap();
    assert_eq!(
        (
            location.file.as_deref(),
            location.resource.as_deref(),
            location.path.as_deref()
        ),
        (
            Some("t.jinja"),
            Some("inner"),
            Some("$.resources[1].resources[0]")
        ),
        "{error:?}"
    );
    assert!(error.message.contains("template 't.jinja'"), "{error}");
    assert!(!error.request_id.is_empty());
}

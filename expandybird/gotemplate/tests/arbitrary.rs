//! Templates of strangers: whatever the bytes, parsing and running them ends, without a panic and on a small stack.
//!
//! The fuzz target of `expandybird/fuzz` feeds the same entry for longer, and learns from what the bytes reach.

#![expect(clippy::unwrap_used, reason = "a test ends where it fails")]

#[path = "../../fuzz/template.rs"]
mod template;

use fastrand::Rng;

/// The stack of the thread that runs a template here, built without optimisation.
const STACK: usize = 16 << 20;

/// What the parser looks for; chance alone would not spell it.
const WORDS: &[&str] = &[
    "{{",
    "}}",
    "{{-",
    "-}}",
    "{{/*",
    "*/}}",
    "{{if ",
    "{{else}}",
    "{{else if ",
    "{{end}}",
    "{{range ",
    "{{with ",
    "{{define \"a\"}}",
    "{{template \"a\" .}}",
    "{{block \"a\" .}}",
    "{{break}}",
    "{{continue}}",
    "$x",
    ":=",
    "=",
    "|",
    "(",
    ")",
    ".",
    ".a",
    ".l",
    "$",
    "\"",
    "`",
    "'",
    "1",
    "0x",
    "1e9",
    "-",
    "nil",
    "true",
    "printf ",
    "\"%*.*v\"",
    "index ",
    "slice ",
    "set . \"a\" .",
    "include \"a\" .",
    "tpl \"{{.}}\" .",
    " ",
    "\n",
    "é",
    "\u{0}",
];

fn on_small_stack(run: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(STACK).spawn(run);
    thread.unwrap().join().unwrap();
}

#[test]
fn random_words_and_bytes_end_without_a_panic() {
    on_small_stack(|| {
        let seed = 20_261_122;
        println!("seed {seed}");
        let mut random = Rng::with_seed(seed);
        for _ in 0..4_000 {
            let mut text = Vec::new();
            for _ in 0..random.usize(1..40) {
                text.extend(WORDS[random.usize(..WORDS.len())].bytes());
                if random.u8(..10) == 0 {
                    text.push(random.u8(..));
                }
            }
            let _either_way = template::run(&text);
        }
    });
}

#[test]
fn deep_nesting_of_each_kind_needs_a_bounded_stack() {
    const TEXTS: &[(&str, &str, &str)] = &[
        ("{{", "(", "1"),
        ("", "{{if 1}}", ""),
        ("", "{{range .l}}{{with .}}", ""),
        ("{{if 0}}", "{{else if 0}}", "{{end}}"),
        ("", "{{block \"a\" .}}", ""),
        ("{{", "print (", "1"),
        ("{{.", "a.", "a}}"),
        ("{{1", "|print", "}}"),
        ("{{print ", "1 ", "}}"),
        ("", "{{define \"a\"}}{{end}}", ""),
        (
            "{{define \"a\"}}{{template \"a\" .}}{{end}}{{template \"a\" .}}",
            "",
            "",
        ),
        (
            "{{define \"a\"}}{{include \"a\" .}}{{end}}{{include \"a\" .}}",
            "",
            "",
        ),
        (
            "{{define \"a\"}}{{if 1}}{{with (print (include \"a\" .))}}{{.}}{{end}}{{end}}{{end}}{{include \"a\" .}}",
            "",
            "",
        ),
        ("{{set . \"a\" \"{{tpl .a .}}\" | len}}{{tpl .a .}}", "", ""),
        (
            "{{set . \"a\" . | len}}{{.}}{{print .}}{{printf \"%#v\" .}}",
            "",
            "",
        ),
        (
            "{{$d := .}}{{range 100000}}{{$d = list $d}}{{end}}{{$d}}",
            "",
            "",
        ),
    ];
    on_small_stack(|| {
        for (before, repeated, after) in TEXTS {
            for count in [1, 150, 199, 250, 20_000] {
                let text = format!("{before}{}{after}", repeated.repeat(count));
                let _either_way = template::run(text.as_bytes());
                let text = text + &"}}{{end}}".repeat(2 * count);
                let _either_way = template::run(text.as_bytes());
            }
        }
    });
}

#[test]
fn what_never_ends_meets_a_limit() {
    const TEXTS: &[(&str, &str)] = &[
        ("{{range 9223372036854775807}}{{end}}", "steps"),
        (
            "{{$s := printf `%1000d` 1}}{{range 9223372036854775807}}{{$s}}{{end}}",
            "larger than",
        ),
        (
            "{{define \"a\"}}{{template \"a\"}}{{end}}{{template \"a\"}}",
            "maximum template depth",
        ),
        (
            "{{$x := \"x\"}}{{range 100}}{{$x = print $x $x}}{{end}}",
            "larger than",
        ),
        (
            "{{printf \"%1000000d%1000000d%1000000d%1000000d%1000000d%1000000d%1000000d%1000000d%1000000d\" 1 1 1 1 1 1 1 1 1}}",
            "larger than",
        ),
        (
            "{{$l := .}}{{range 60}}{{$l = list $l $l}}{{end}}{{$l}}",
            "larger than",
        ),
    ];
    on_small_stack(|| {
        for (text, expected) in TEXTS {
            let error = template::run(text.as_bytes()).unwrap_err();
            assert!(error.contains(expected), "{text}: {error}");
        }
    });
}

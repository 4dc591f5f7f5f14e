//! Templates with their output or error, as Go's documentation of `text/template` and `fmt` describes them.

use std::sync::Arc;

use expandybird_gotemplate::budget::Limits;
use expandybird_gotemplate::function_table::FunctionTable;
use expandybird_gotemplate::value::{Function, Numbers, Type, Value};
use expandybird_gotemplate::{MissingKey, Options, Session, Set, execute};

const INCLUDE: Function = Function::new("include", &[Type::String, Type::Any], |call| {
    let name = call.string(0)?.to_str().into_owned();
    let data = call.argument(1)?.clone();
    Ok(call.runtime().execute(&name, &data)?.into())
});

const SET: Function = Function::new("set", &[Type::MAP, Type::String, Type::Any], |call| {
    let (map, key, value) = (call.map(0)?, call.string(1)?, call.argument(2)?.clone());
    call.set(map, key, value)?;
    Ok(map.clone().into())
});

const UPPER: Function = Function::new("upper", &[Type::String], |call| {
    Ok(call.string(0)?.to_str().to_uppercase().into())
});

fn data() -> Value {
    let json = serde_json::json!({
        "s": "hello", "n": 3, "f": 2.5, "big": 1e6, "t": true, "nul": null,
        "l": ["a", "b", "c"], "m": {"b": 2, "a": {"x": "y"}}, "e": [], "html": "<a href='x'>&",
    });
    Value::from_json(&json, Numbers::Integers)
}

fn run(missing_key: MissingKey, template: &str) -> String {
    let options = Options {
        missing_key,
        ..Options::default()
    };
    let functions = FunctionTable::default().with(&[INCLUDE, SET, UPPER]);
    let mut set = Set::new("set", Arc::new(functions), options);
    if let Err(error) = set.parse("t", template) {
        return error.to_string();
    }
    let mut session = Session::new(Limits::default(), ());
    match execute(&set, &mut session, "t", &data()) {
        Ok(out) => String::from_utf8_lossy(&out).into_owned(),
        Err(error) => error.to_string(),
    }
}

fn check(cases: &[(&str, &str)]) {
    for (template, expected) in cases {
        assert_eq!(run(MissingKey::NoValue, template), *expected, "{template}");
    }
}

#[test]
fn actions_do_what_the_documentation_says() {
    check(&[
        ("x {{- 3 -}} y", "x3y"),
        ("a{{/* no */}}b", "ab"),
        (
            "{{.s}} {{.n}} {{.f}} {{.big}} {{.l}} {{.m}}",
            "hello 3 2.5 1e+06 [a b c] map[a:map[x:y] b:2]",
        ),
        ("{{if .e}}a{{else if .s}}b{{else}}c{{end}}", "b"),
        ("{{with .nope}}a{{else with .s}}{{.}}{{end}}", "hello"),
        ("{{range .l}}{{.}},{{else}}none{{end}}", "a,b,c,"),
        ("{{range $i, $e := .l}}{{$i}}{{$e}}{{end}}", "0a1b2c"),
        ("{{range $k, $v := .m}}{{$k}};{{end}}", "a;b;"),
        (
            "{{range 3}}{{.}}{{end}}{{range .e}}{{else}}none{{end}}",
            "012none",
        ),
        (
            "{{range .l}}{{if eq . \"b\"}}{{break}}{{end}}{{.}}{{end}}",
            "a",
        ),
        (
            "{{range .l}}{{if eq . \"b\"}}{{continue}}{{end}}{{.}}{{end}}",
            "ac",
        ),
        ("{{$x := 1}}{{range .l}}{{$x = .}}{{end}}{{$x}}", "c"),
        (
            "{{define \"d\"}}[{{.}}]{{end}}{{template \"d\" .s}}{{template \"d\"}}",
            "[hello][<no value>]",
        ),
        ("{{block \"b\" .n}}<{{.}}>{{end}}", "<3>"),
        (
            "{{include \"d\" 1 | upper}}{{define \"d\"}}x{{.}}{{end}}",
            "X1",
        ),
        ("{{$m := .m}}{{$_ := set $m \"c\" 1}}{{.m.c}}", "1"),
    ]);
}

#[test]
fn fields_of_nothing_fail_where_go_fails() {
    check(&[
        ("{{.nope}}", "<no value>"),
        ("{{.nope.x}}", "<no value>"),
        ("{{(.nul).x}}", "<no value>"),
        (
            "{{.nul.x}}",
            "template: t:1:6: executing \"t\" at <.nul.x>: nil pointer evaluating interface {}.x",
        ),
        (
            "{{.s.x}}",
            "template: t:1:4: executing \"t\" at <.s.x>: can't evaluate field x in type interface {}",
        ),
        (
            "{{(.s).x}}",
            "template: t:1:3: executing \"t\" at <.s>: can't evaluate field x in type string",
        ),
        (
            "{{.s 1}}",
            "template: t:1:2: executing \"t\" at <.s>: s is not a method but has arguments",
        ),
        (
            "{{nil}}",
            "template: t:1:2: executing \"t\" at <nil>: nil is not a command",
        ),
    ]);
    let zero = |template| run(MissingKey::Zero, template);
    assert_eq!(zero("{{.nope}}"), "<no value>");
    assert_eq!(
        zero("{{.nope.x}}"),
        "template: t:1:7: executing \"t\" at <.nope.x>: nil pointer evaluating interface {}.x"
    );
    assert_eq!(
        run(MissingKey::Error, "{{.nope}}"),
        "template: t:1:2: executing \"t\" at <.nope>: map has no entry for key \"nope\""
    );
}

#[test]
fn parsing_fails_with_the_words_of_go() {
    check(&[
        ("{{if}}{{end}}", "template: t:1: missing value for if"),
        ("{{nope}}", "template: t:1: function \"nope\" not defined"),
        ("{{$x}}", "template: t:1: undefined variable \"$x\""),
        ("{{.a-b}}", "template: t:1: bad character U+002D '-'"),
        ("{{print(1)}}", "template: t:1: unexpected \"(\" in operand"),
        ("\n{{\"x\n", "template: t:2: unterminated quoted string"),
        ("{{\n\n", "template: t:3: unclosed action started at t:1"),
        ("{{end}}", "template: t:1: unexpected {{end}}"),
        ("{{range .l}}", "template: t:1: unexpected EOF"),
        (
            "{{if 1}}{{else}}{{else}}{{end}}",
            "template: t:1: expected end; found {{else}}",
        ),
        ("{{break}}", "template: t:1: {{break}} outside {{range}}"),
        (
            "{{1|2}}",
            "template: t:1: non executable command in pipeline stage 2",
        ),
        (
            "{{true.x}}",
            "template: t:1: unexpected . after term \"true\"",
        ),
        (
            "{{99999999999999999999}}",
            "template: t:1: integer overflow: \"99999999999999999999\"",
        ),
        (
            "{{1+2i}}",
            "template: t:1: complex numbers are not supported, use a float: \"1+2i\"",
        ),
        (
            "{{define \"a\"}}1{{end}}{{define \"a\"}}2{{end}}",
            "template: t:1: template: multiple definition of template \"a\"",
        ),
    ]);
}

#[test]
fn built_in_functions_do_what_the_documentation_says() {
    check(&[
        ("{{and 1 0 .nope.x}} {{or 0 \"\"}} {{not 0}}", "0  true"),
        (
            "{{index .l 1}} {{index .m \"a\" \"x\"}} {{len .s}}",
            "b y 5",
        ),
        ("{{slice .s 1 3}} {{slice .l 2}}", "el [c]"),
        (
            "{{eq .n 1 2 3}} {{ne .s \"x\"}} {{lt 1 2}} {{ge 2.5 .f}}",
            "true true true true",
        ),
        (
            "{{eq .n 3.0}}",
            "template: t:1:2: executing \"t\" at <eq .n 3.0>: error calling eq: incompatible types for comparison: int64 and float64",
        ),
        (
            "{{html .html}} {{js \"it's <b>\"}} {{urlquery \"a b/c\"}}",
            "&lt;a href=&#39;x&#39;&gt;&amp; it\\'s \\u003Cb\\u003E a+b%2Fc",
        ),
        (
            "{{print 1 2 \"a\" \"b\" 3 nil}}|{{println 1 \"a\"}}",
            "1 2ab3 <nil>|1 a\n",
        ),
        (
            "{{upper 3}}",
            "template: t:1:8: executing \"t\" at <3>: expected string; found 3",
        ),
        (
            "{{upper .n}}",
            "template: t:1:8: executing \"t\" at <.n>: wrong type for value; expected string; got int64",
        ),
        (
            "{{upper}}",
            "template: t:1:2: executing \"t\" at <upper>: wrong number of args for upper: want 1 got 0",
        ),
    ]);
}

#[test]
fn printf_prints_and_complains_as_go() {
    check(&[
        (
            "{{printf \"%d %5d|%-5d|%05d %x %#X %o %b %c %q %U\" 1 2 3 -4 255 255 8 5 65 65 65}}",
            "1     2|3    |-0004 ff 0XFF 10 101 A 'A' U+0041",
        ),
        (
            "{{printf \"%v %s %q %x %10s|%-10s|%.2s\" .s .s .s .s .s .s .s}}",
            "hello hello \"hello\" 68656c6c6f      hello|hello     |he",
        ),
        (
            "{{printf \"%f %.2f %e %g %8.3f %+d\" 1.5 2.555 1500.0 1e21 3.14159 7}}",
            "1.500000 2.56 1.500000e+03 1e+21    3.142 +7",
        ),
        (
            "{{printf \"%v %g\" 600479950316064.25 600479950316064.75}} {{0.1}} {{-2.5e-7}}",
            "6.004799503160642e+14 6.004799503160648e+14 0.1 -2.5e-07",
        ),
        (
            "{{printf \"%d\" \"a\"}} {{printf \"%s\" 3}} {{printf \"%z\" 1}}",
            "%!d(string=a) %!s(int=3) %!z(int=1)",
        ),
        (
            "{{printf \"%d\"}} {{printf \"x\" 1 \"b\"}} {{printf \"%!\"}} {{printf \"100%\"}}",
            "%!d(MISSING) x%!(EXTRA int=1, string=b) %!!(MISSING) 100%!(NOVERB)",
        ),
        (
            "{{printf \"%[2]d %[1]d\" 1 2}} {{printf \"%*d\" 5 1}} {{printf \"%[5]d\" 1}}",
            "2 1     1 %!d(BADINDEX)",
        ),
        (
            "{{printf \"%v %+v %#v %T\" .m .l .l .m}}",
            "map[a:map[x:y] b:2] [a b c] []interface {}{\"a\", \"b\", \"c\"} map[string]interface {}",
        ),
        (
            "{{printf \"%s %d\" .l .l}}",
            "[a b c] [%!d(string=a) %!d(string=b) %!d(string=c)]",
        ),
    ]);
}

//! Random calls of Sprig's functions, with arguments of the types that their table declares, and now and then of others.

use expandybird_gotemplate::value::{Function, Type};
use fastrand::Rng;

/// Templates that every run begins with.
pub const FIXED: &[&str] = &[
    r#"{{ dict "a" (list 1 2.5 "x") "b" nil "yes" "no" "n" "1" | toYaml }}"#,
    r#"{{ regexReplaceAll "a(x*)b" "-ab-axxb-" "${1}W" }}"#,
    r#"{{ semverCompare ">=1.21.0-0 <1.25" "1.24.9-eks-1" }}"#,
];

/// The data of all templates.
pub fn data() -> serde_json::Value {
    serde_json::json!({
        "s": "hello world", "n": 3, "f": 2.5, "t": true, "nul": null, "e": "", "zero": 0,
        "l": ["a", "b", 1, null, {"x": "y"}], "m": {"b": 2, "a": {"x": "y", "l": [1]}, "n": null}, "el": [], "em": {},
        "deep": {"a": {"b": {"c": "d"}}}, "words": ["b", "a", "c", "a"],
    })
}

const STRINGS: &[&str] = &[
    "",
    "a",
    "abc",
    "hello world",
    "HTTPServer",
    "some_thing-else x",
    "HTTP2xx",
    "Bld4Floor",
    "é",
    "日本語",
    "\\n",
    "a,b,,c",
    "1",
    "0x10",
    "010",
    "1.0",
    "1.9",
    "-5",
    " pad ",
    "true",
    "null",
    "~",
    "yes",
    "12:30",
    "2020-01-02",
    "1e3",
    ".5",
    "+1",
    "- x",
    "# c",
    "a: b",
    "a #b",
    "x:",
    "'q'",
    "\\\"dq\\\"",
    "a.b/c",
    "/a//b/../c/",
    "../x",
    "YWJj",
    "YWJ",
    "MFRGG===",
    "line1\\nline2",
    "line\\n",
    " lead\\nx",
    "tab\\there",
    "trail \\nx",
    "*",
    "&a",
    "!t",
    "%p",
    "@x",
    "`b`",
    "{a}",
    "[a]",
    "a\\\\b",
    "1.2.3",
    "v1.2",
    "^1.2",
    "~1.0.0",
    ">=1.2, <3",
    "1.2.3-beta.1",
    "=1.2.x",
    "a+",
    "[a-c]+",
    "(x",
    "\\\\d+",
    "(a)(b)?",
    "$1-$2",
    "x*",
    "<b>&</b>",
    "0",
    "00",
    "a1b22",
    "_x_y",
    "x\\n\\n",
    "\\n\\n",
    "a10",
    "a2",
    "a02",
    "10a",
    "1a",
    "\\u00a0",
    "\\U0001F600",
    "\\u2028x",
    "<<",
    "=",
    "0o17",
    "0b11",
    "1_000",
    "12e03",
    "...",
    "---",
    "--- x",
    "-",
    "?",
    "? x",
    "a  b",
    "a long text with  two spaces and of many words that goes beyond the eightieth column of a line: yes it does",
    "a long text of many words that goes beyond the eightieth column of a line so that it has to be folded somewhere in here",
];

const VALUES: &[&str] = &[
    ".s",
    ".n",
    ".f",
    ".t",
    ".nul",
    ".e",
    ".zero",
    ".l",
    ".m",
    ".el",
    ".em",
    ".deep",
    ".words",
    "nil",
    ".missing",
    "(list)",
    "(dict)",
    "(list 1 2 3)",
    "(list 1 1.0 \"1\" 1)",
    "(dict \"a\" 1)",
    "(until 3)",
    "(dict \"10\" 1 \"2\" 2 \"a b\" 3 \"a.b\" 4 \"a2\" 5 \"a10\" 6 \"A\" 7 \"_x\" 8 \"\" 9 \"yes\" 0)",
    "1000000.0",
    "12345678901234567890.0",
    "0.00001",
    "1234567.5",
    "-0.0",
    "(splitList \",\" \"a,b\")",
    "1",
    "-7",
    "2.5",
    "1e3",
    "true",
    "false",
    "(int64 5)",
];

/// What makes calls.
pub struct Generator {
    rng: Rng,
    functions: Vec<Function>,
}

impl Generator {
    /// The same seed gives the same calls.
    pub fn new(seed: u64) -> Self {
        Self {
            rng: Rng::with_seed(seed),
            functions: expandybird_sprig::functions(),
        }
    }

    /// A template of one call, whose result is printed in several ways.
    pub fn template(&mut self) -> String {
        let call = self.call(2);
        match self.rng.u8(0..6) {
            0 => format!("{{{{ {call} }}}}"),
            1 => format!("{{{{ {call} | typeOf }}}}"),
            2 => format!("{{{{ $x := {call} }}}}{{{{ printf \"%T %v\" $x $x }}}}"),
            3 => format!("{{{{ dict \"k\" ({call}) | toYaml }}}}"),
            4 => format!("{{{{ list ({call}) (list ({call})) | toYaml }}}}"),
            _ => format!("{{{{ {call} | toJson }}}}"),
        }
    }

    fn call(&mut self, depth: u8) -> String {
        let index = self.rng.usize(..self.functions.len());
        let Some(function) = self.functions.get(index).copied() else {
            return String::new();
        };
        let mut words = vec![function.name.to_owned()];
        let further = if function.rest.is_some() {
            self.rng.usize(..4)
        } else {
            0
        };
        for index in 0..function.params.len() + further {
            let wanted = function.param(index).unwrap_or(Type::Any);
            words.push(self.argument(wanted, depth));
        }
        let call = words.join(" ");
        // Go gives keys in a random order.
        match function.name {
            "keys" => format!("{call} | sortAlpha"),
            "values" => format!("{call} | toStrings | sortAlpha"),
            _ => call,
        }
    }

    fn argument(&mut self, wanted: Type, depth: u8) -> String {
        if depth > 0 && wanted == Type::Any && self.rng.u8(0..4) == 0 {
            return format!("({})", self.call(depth - 1));
        }
        if self.rng.u8(0..40) == 0 {
            return self.one_of(VALUES);
        }
        match wanted {
            Type::Bool => self.one_of(&["true", "false", ".t"]),
            Type::Int(_) => self.one_of(&["0", "1", "2", "3", "5", "-1", "-2", "7", "12", "100"]),
            Type::Float => self.one_of(&["0.5", "0.6", "2.0", ".f"]),
            Type::Map(_) => self.one_of(&[
                ".m",
                ".em",
                ".deep",
                "(dict \"a\" 1 \"b\" (dict \"x\" 0))",
                "(dict \"b\" (dict \"y\" 2) \"n\" 0)",
                "nil",
            ]),
            Type::String => format!("\"{}\"", self.one_of(STRINGS)),
            _ if self.rng.u8(0..3) == 0 => format!("\"{}\"", self.one_of(STRINGS)),
            _ => self.one_of(VALUES),
        }
    }

    fn one_of(&mut self, pool: &[&str]) -> String {
        let index = self.rng.usize(..pool.len());
        pool.get(index)
            .map_or_else(String::new, |found| (*found).to_owned())
    }
}

//! Random calls of Sprig's functions, with arguments of the types that their table declares, and now and then of others.

use expandybird_gotemplate::value::{Function, Type};
use fastrand::Rng;

/// Templates that every run begins with.
pub const FIXED: &[&str] = &[
    r#"{{ dict "a" (list 1 2.5 "x") "b" nil "yes" "no" "n" "1" | toYaml }}"#,
    r#"{{ fromToml "a = 1\nb = 2.5\n[c]\nd = [1, \"x\"]\ne = {f = true}\n[[g]]\nh = 'x'\n[[g]]\n" | toJson }}"#,
    r#"{{ fromToml "[[g]]\nh = 2024-02-29T12:30:45Z\ni = 7" | toToml }} {{ (fromToml "[[g]]\nh=1").g | typeOf }}"#,
    r#"{{ toToml (dict "a b" (dict "x" 1 "t" (dict "y" (list (dict "z" 1) (dict "n" nil)))) "e" (list) "f" (list 1 (dict "q" 2 "r" (dict)))) }}"#,
    r#"{{ dict "k" (round "1.2.3-beta.1" 1e3 0.5) | toToml }}"#,
    r#"{{ derivePassword 1 "long" "password" "user" "example.com" }}"#,
    r#"{{ derivePassword 2 "x" "password" "user" "example.com" }}"#,
    r#"{{ decryptAES "k" "MDEyMzQ1Njc4OWFiY2RlZlxv2pCu2CBLhLAfbxVFfIQ=" | len }}"#,
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

const LAYOUTS: &[&str] = &[
    "2006",
    "06",
    "January",
    "Jan",
    "Janx",
    "01",
    "1",
    "Monday",
    "Mon",
    "02",
    "_2",
    "2",
    "002",
    "__2",
    "15",
    "03",
    "3",
    "04",
    "4",
    "05",
    "5",
    "PM",
    "pm",
    "MST",
    "-0700",
    "-07:00",
    "-07",
    "-07:00:00",
    "Z0700",
    "Z07:00",
    "Z07",
    ".000",
    ",000",
    ".999",
    ".00",
    " ",
    ":",
    "T",
    "x",
    "_2006",
    "é",
    "30",
];

const ZONES: &[&str] = &[
    "UTC",
    "",
    "Europe/Berlin",
    "America/New_York",
    "Asia/Kolkata",
    "Nowhere",
];

const READ: &[&str] = &[
    "2006-01-02",
    "2006-01-02T15:04:05Z07:00",
    "Jan 2, 2006 at 3:04pm (MST)",
    "02/01/06 15h4",
    "2006 002",
    "2006-01-02 15:04:05.000 -0700",
];

const TIMES: &[&str] = &[
    "2024-02-29",
    "2023-02-29",
    "2024-13-01",
    "2024-1-1",
    "24-01-01",
    "2024-02-29T12:30:45Z",
    "2024-02-29T12:30:45+01:30",
    "2024-02-29T25:00:00Z",
    "Feb 3, 2013 at 7:54pm (PST)",
    "February 3, 2013 at 7:54pm (PST)",
    "Feb 30, 2013 at 7:54pm (UTC)",
    "29/02/24 9h7",
    "2024 366",
    "2023 366",
    "2024 060",
    "2024-02-29 12:30:45.123 +0000",
    "2024-02-29 12:30:45.1 -0330",
    "",
    "2024-02-29x",
    " 2024-02-29",
    "2024-00-10",
];

const DURATIONS: &[&str] = &[
    "1h",
    "-1.5h",
    "1h30m",
    "2400h",
    "90s",
    "1ms",
    "5us",
    "0",
    "+5s",
    "",
    "1",
    "x",
    "1x",
    ".5s",
    "1.s",
    "-",
    "10000000h",
    "2h10m5s",
    "26h",
    "800h",
    "9000h",
    "1h-1m",
    "3ns",
];

const OF_ADDRESSES: &[&str] = &[
    "http:",
    "https:",
    "mailto:",
    "//",
    "/",
    "user",
    ":",
    "pass",
    "@",
    "example.com",
    ":8080",
    ":x",
    "[::1]",
    "[::1",
    "?",
    "a=b&c=d",
    "#",
    "frag",
    "%20",
    "%zz",
    "%",
    " ",
    "a b",
    "é",
    "*",
    "+",
    ";",
    "..",
    "<",
    "[",
    "a:b",
    "1http:",
    "%41",
    "%5B",
];

/// Functions whose results are of now, or random, or slow.
const CHANGING: &[&str] = &[
    "now",
    "ago",
    "date",
    "dateInZone",
    "date_in_zone",
    "htmlDate",
    "htmlDateInZone",
    "durationRound",
    "bcrypt",
    "htpasswd",
    "encryptAES",
    "derivePassword",
    "fromToml",
    "shuffle",
    "uuidv4",
];

/// The functions whose results are always the same, and that Sprig itself has.
fn comparable() -> Vec<Function> {
    let of_helm =
        |name: &str| name == "mustToDuration" || name.starts_with("duration") && name != "duration";
    let is_other = |name: &str| {
        CHANGING.contains(&name)
            || name.starts_with("rand")
            || name.starts_with("gen")
            || of_helm(name)
    };
    let all = expandybird_sprig::functions().into_iter();
    all.filter(|function| !is_other(function.name)).collect()
}

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
            functions: comparable(),
        }
    }

    /// A template of one call, whose result is printed in several ways.
    pub fn template(&mut self) -> String {
        match self.rng.u8(0..12) {
            0 => return self.time(),
            1 => return self.address(),
            _ => {}
        }
        let call = self.call(2);
        match self.rng.u8(0..8) {
            0 => format!("{{{{ {call} }}}}"),
            6 => format!("{{{{ dict \"k\" ({call}) \"l\" (list ({call})) | toYamlPretty }}}}"),
            5 => {
                format!("{{{{ dict \"k\" ({call}) \"l\" (list (dict \"m\" ({call}))) | toToml }}}}")
            }
            1 => format!("{{{{ {call} | typeOf }}}}"),
            2 => format!("{{{{ $x := {call} }}}}{{{{ printf \"%T %v\" $x $x }}}}"),
            3 => format!("{{{{ dict \"k\" ({call}) | toYaml }}}}"),
            4 => format!("{{{{ list ({call}) (list ({call})) | toYaml }}}}"),
            _ => format!("{{{{ {call} | toJson }}}}"),
        }
    }

    /// A template about a time or a duration that is not now.
    fn time(&mut self) -> String {
        let layout: String = (0..self.rng.usize(1..6))
            .map(|_| self.one_of(LAYOUTS))
            .collect();
        let seconds = self.rng.i64(-9_000_000_000..9_000_000_000);
        let (days, months, years) = (
            self.rng.i8(-99..99),
            self.rng.i8(-30..30),
            self.rng.i8(-9..9),
        );
        let (zone, text) = (self.one_of(ZONES), self.one_of(TIMES));
        let (duration, read) = (self.one_of(DURATIONS), self.one_of(READ));
        let day = "toDate \"2006-01-02\" \"2024-02-29\"";
        let calls = match self.rng.u8(0..11) {
            0 => format!("date \"{layout}\" {seconds}"),
            1 => format!("dateInZone \"{layout}\" {seconds} \"{zone}\""),
            2 => format!("htmlDateInZone {seconds} \"{zone}\""),
            3 => format!("toDate \"{read}\" \"{text}\""),
            4 => format!("mustToDate \"{read}\" \"{text}\""),
            5 => format!("({day}).AddDate {years} {months} {days}"),
            6 => format!("{day} | dateModify \"{duration}\" | date \"{layout}\""),
            7 => format!("{day} | mustDateModify \"{duration}\" | unixEpoch"),
            8 => format!("durationRound \"{duration}\""),
            9 => format!(
                "durationRound (int64 {seconds}000000) }}}} {{{{ duration (int64 {seconds})"
            ),
            _ => {
                let methods = [".Unix", ".Month", ".Weekday", ".YearDay", ".IsZero"];
                let methods = methods.map(|name| format!("{{{{ $t{name} }}}}")).join(" ");
                return format!(
                    "{{{{ $t := toDate \"{read}\" \"{text}\" }}}}{methods}{{{{ $t.Format \"{layout}\" }}}}"
                );
            }
        };
        format!("{{{{ {calls} }}}}")
    }

    /// A template that reads an address or writes one.
    fn address(&mut self) -> String {
        let text: String = (0..self.rng.usize(1..7))
            .map(|_| self.one_of(OF_ADDRESSES))
            .collect();
        match self.rng.u8(0..3) {
            0 => format!("{{{{ urlJoin (urlParse \"{text}\") }}}}"),
            1 => {
                let parts = ["scheme", "host", "path", "query", "fragment", "userinfo"];
                let parts =
                    parts.map(|name| format!("\"{name}\" \"{}\"", self.one_of(OF_ADDRESSES)));
                format!("{{{{ urlJoin (dict {}) }}}}", parts.join(" "))
            }
            _ => format!("{{{{ urlParse \"{text}\" | toJson }}}}"),
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

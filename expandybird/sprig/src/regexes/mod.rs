//! Regular expressions, in Go's syntax.
//!
//! The crate `regex` shares Go's semantics; [`syntax`] translates what is written otherwise.

mod syntax;

use expandybird_gotemplate::error::Failure;
use expandybird_gotemplate::value::{Call, Function, GoString, List, Type, Value};
use regex::bytes::{Match, Regex, RegexBuilder};

use syntax::SyntaxError;

const TWO_TEXTS: &[Type] = &[Type::String, Type::String];
const THREE_TEXTS: &[Type] = &[Type::String, Type::String, Type::String];
const LISTING: &[Type] = &[Type::String, Type::String, Type::INT];

/// Bytes of a compiled expression.
const PROGRAM_BYTES: usize = 1 << 20;
/// Bytes of an expression.
const PATTERN_BYTES: usize = 4096;

/// Functions of regular expressions.
pub const FUNCTIONS: &[Function] = &[
    Function::new("regexMatch", TWO_TEXTS, |call| {
        let found = compiled(call).map(|pattern| is_match(call, &pattern));
        found.unwrap_or_else(|_| Ok(false.into()))
    }),
    Function::new("mustRegexMatch", TWO_TEXTS, |call| {
        let pattern = compiled(call)?;
        is_match(call, &pattern)
    }),
    Function::new("regexFind", TWO_TEXTS, |call| find(call, PANIC)),
    Function::new("mustRegexFind", TWO_TEXTS, |call| find(call, "")),
    Function::new("regexFindAll", LISTING, |call| find_all(call, PANIC)),
    Function::new("mustRegexFindAll", LISTING, |call| find_all(call, "")),
    Function::new("regexSplit", LISTING, |call| split(call, PANIC)),
    Function::new("mustRegexSplit", LISTING, |call| split(call, "")),
    Function::new("regexReplaceAll", THREE_TEXTS, |call| {
        replace(call, PANIC, Replacement::Template)
    }),
    Function::new("mustRegexReplaceAll", THREE_TEXTS, |call| {
        replace(call, "", Replacement::Template)
    }),
    Function::new("regexReplaceAllLiteral", THREE_TEXTS, |call| {
        replace(call, PANIC, Replacement::Literal)
    }),
    Function::new("mustRegexReplaceAllLiteral", THREE_TEXTS, |call| {
        replace(call, "", Replacement::Literal)
    }),
    Function::new("regexQuoteMeta", &[Type::String], |call| {
        let text = call.string(0)?;
        call.budget().spend_string(text.len().saturating_mul(2))?;
        let quoted = text.iter().flat_map(|byte| match byte {
            byte if br"\.+*?()|[]{}^$".contains(byte) => vec![b'\\', *byte],
            byte => vec![*byte],
        });
        Ok(Value::string(quoted.collect::<Vec<u8>>()))
    }),
];

/// What Go's `MustCompile` puts before an error, with the expression.
const PANIC: &str = "regexp: Compile";

#[derive(Clone, Copy, PartialEq, Eq)]
enum Replacement {
    /// `$1` and `${name}` stand for groups.
    Template,
    /// The text as it is.
    Literal,
}

/// The first argument as an expression.
fn compiled(call: &mut Call<'_>) -> Result<Regex, Failure> {
    compile(call).map_err(|error| Failure::new(error.to_string()))
}

/// As [`compiled`]; with `panic`, an error reads like Go's panic.
fn compiled_or(call: &mut Call<'_>, panic: &str) -> Result<Regex, Failure> {
    let shown = call.string(0)?.to_str();
    compile(call).map_err(|error| {
        if panic.is_empty() {
            return Failure::new(error.to_string());
        }
        let quote = if shown.contains('`') {
            format!("{shown:?}")
        } else {
            format!("`{shown}`")
        };
        Failure::new(format!("{panic}({quote}): {error}"))
    })
}

fn compile(call: &mut Call<'_>) -> Result<Regex, SyntaxError> {
    let pattern = call
        .string(0)
        .map_err(|_| SyntaxError::new("internal error", ""))?
        .to_str();
    if pattern.len() > PATTERN_BYTES || call.budget().spend(pattern.len()).is_err() {
        return Err(SyntaxError::new("expression too large", ""));
    }
    let translated = syntax::translate(&pattern)?;
    let built = RegexBuilder::new(&translated)
        .size_limit(PROGRAM_BYTES)
        .octal(true)
        .build();
    built.map_err(|_| syntax::explain(&pattern, &translated))
}

fn is_match(call: &mut Call<'_>, pattern: &Regex) -> Result<Value, Failure> {
    let text = call.string(1)?;
    call.budget().spend(text.len())?;
    Ok(pattern.is_match(text).into())
}

fn find(call: &mut Call<'_>, panic: &str) -> Result<Value, Failure> {
    let pattern = compiled_or(call, panic)?;
    let text = call.string(1)?;
    call.budget().spend(text.len())?;
    let found = pattern
        .find(text)
        .map(|found| GoString::from(found.as_bytes()));
    Ok(found.unwrap_or_default().into())
}

fn find_all(call: &mut Call<'_>, panic: &str) -> Result<Value, Failure> {
    let pattern = compiled_or(call, panic)?;
    let (text, limit) = (call.string(1)?, call.int(2)?);
    let mut all = Vec::new();
    for found in matches(&pattern, text).take(bound(limit)) {
        call.budget().spend_list(all.len() + 1)?;
        all.push(GoString::from(found.as_bytes()));
    }
    if all.is_empty() {
        return Ok(List::nil(Type::String).into());
    }
    Ok(List::strings(all).into())
}

/// All matches. An empty one does not stand within a character.
fn matches<'a>(pattern: &'a Regex, text: &'a [u8]) -> impl Iterator<Item = Match<'a>> {
    let all = pattern.find_iter(text);
    all.filter(|found| !found.is_empty() || is_boundary(text, found.start()))
}

/// Whether a character starts or the text ends here.
fn is_boundary(text: &[u8], at: usize) -> bool {
    let is_continuation = |byte: &u8| (0x80..0xc0).contains(byte);
    !text.get(at).is_some_and(is_continuation)
}

/// How many results are wanted: all of them for a negative limit.
fn bound(limit: i64) -> usize {
    usize::try_from(limit).unwrap_or(usize::MAX)
}

fn split(call: &mut Call<'_>, panic: &str) -> Result<Value, Failure> {
    let pattern = compiled_or(call, panic)?;
    let (text, limit) = (call.string(1)?, bound(call.int(2)?));
    if limit == 0 {
        return Ok(List::nil(Type::String).into());
    }
    if text.is_empty() && !call.string(0)?.is_empty() {
        return Ok(List::strings([text.clone()]).into());
    }
    let mut parts: Vec<GoString> = Vec::new();
    let (mut start, mut end) = (0, 0);
    for found in matches(&pattern, text).take(limit) {
        if parts.len() + 1 == limit {
            break;
        }
        call.budget().spend_list(parts.len() + 1)?;
        end = found.start();
        if found.end() > 0 {
            parts.push(text.get(start..end).unwrap_or_default().into());
        }
        start = found.end();
    }
    if end != text.len() {
        parts.push(text.get(start..).unwrap_or_default().into());
    }
    Ok(List::strings(parts).into())
}

fn replace(call: &mut Call<'_>, panic: &str, kind: Replacement) -> Result<Value, Failure> {
    let pattern = compiled_or(call, panic)?;
    let (text, replacement) = (call.string(1)?, call.string(2)?);
    let mut out = Vec::with_capacity(text.len());
    let mut start = 0;
    for groups in pattern.captures_iter(text) {
        let Some(whole) = groups.get(0) else { continue };
        if whole.is_empty() && !is_boundary(text, whole.start()) {
            continue;
        }
        out.extend_from_slice(text.get(start..whole.start()).unwrap_or_default());
        match kind {
            Replacement::Template => groups.expand(replacement, &mut out),
            Replacement::Literal => out.extend_from_slice(replacement),
        }
        start = whole.end();
        crate::json::check(call.budget(), out.len())?;
    }
    out.extend_from_slice(text.get(start..).unwrap_or_default());
    Ok(Value::string(out))
}

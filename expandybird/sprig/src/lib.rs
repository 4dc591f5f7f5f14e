//! Sprig's functions for Go templates, as Sprig 3.3 has them.
//!
//! Responsible for what each function returns, and for its error texts. A family is a file, and ends in its table. Nothing
//! here reads files, the network, the environment or the clock: times and random values come from the host of a run
//! ([`made`]).
//!
//! A caller registers [`functions`] with a template set.

mod convert;
mod encoding;
mod equal;
pub mod json;
mod keys;
mod lists;
pub mod made;
mod maps;
mod numbers;
mod random;
mod regexes;
pub mod semver;
mod strings;
mod time;
mod toml;
mod types;
mod urls;
pub mod yaml;

use expandybird_gotemplate::value::Function;

pub use time::parse_duration;

/// Base 64 with padding, by Go's rules. The error is the position of the first wrong byte.
///
/// # Errors
/// It is no base 64.
pub fn decode_base64(text: &[u8]) -> Result<Vec<u8>, usize> {
    encoding::decode::base64(text)
}

/// The sum of `adler32sum`.
#[must_use]
pub fn adler32(text: &[u8]) -> u32 {
    adler2::adler32_slice(text)
}

/// All functions.
#[must_use]
pub fn functions() -> Vec<Function> {
    [
        encoding::FUNCTIONS,
        json::FUNCTIONS,
        keys::CERTIFICATES,
        keys::KEYS,
        keys::PASSWORDS,
        lists::FUNCTIONS,
        lists::LISTS_OF_STRINGS,
        maps::FUNCTIONS,
        numbers::INTEGERS,
        numbers::FLOATS,
        random::FUNCTIONS,
        regexes::FUNCTIONS,
        semver::FUNCTIONS,
        strings::FUNCTIONS,
        strings::CASES,
        strings::PARTS,
        strings::PATHS,
        time::FUNCTIONS,
        time::OF_HELM,
        toml::FUNCTIONS,
        types::FUNCTIONS,
        urls::FUNCTIONS,
    ]
    .concat()
}

//! Sprig's functions for Go templates, as Sprig 3.3 has them.
//!
//! Responsible for what each function returns, and for its error texts. A family is a file, and ends in its table. Nothing
//! here reads files, the network, the environment, the clock or random numbers.
//!
//! A caller registers [`functions`] with a template set.

mod convert;
mod encoding;
mod equal;
pub mod json;
mod lists;
mod maps;
mod numbers;
mod regexes;
pub mod semver;
mod strings;
mod types;
pub mod yaml;

use expandybird_gotemplate::value::Function;

/// All functions.
#[must_use]
pub fn functions() -> Vec<Function> {
    [
        encoding::FUNCTIONS,
        json::FUNCTIONS,
        lists::FUNCTIONS,
        lists::LISTS_OF_STRINGS,
        maps::FUNCTIONS,
        numbers::INTEGERS,
        numbers::FLOATS,
        regexes::FUNCTIONS,
        semver::FUNCTIONS,
        strings::FUNCTIONS,
        strings::CASES,
        strings::PARTS,
        strings::PATHS,
        types::FUNCTIONS,
    ]
    .concat()
}

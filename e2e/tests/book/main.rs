//! The book is true: its links lead somewhere, and its reference pages show what the programs have.

mod links;
mod markdown;
mod reference;
mod words;

//! The book is true: its examples run, its links lead somewhere, and its reference pages show what the programs have.

mod alerts;
mod equivalents;
mod examples;
mod help;
mod links;
mod markdown;
mod page;
mod reference;
mod rooms;
mod script;
mod words;

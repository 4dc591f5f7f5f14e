//! What is particular to the kinds of catalogs.

mod configuration;
mod template;

use super::*;

//! The functions of dynamic attributes, beside those of Go's `text/template`.

mod certificate;
mod key;
mod password;
mod pem;
mod pet_name;
mod registry;
mod snippet;
mod text;

use std::sync::{Arc, LazyLock};

use expandybird_gotemplate::function_table::FunctionTable;

pub use text::JSON;

/// The functions whose first argument names a snippet.
pub const SNIPPETS: [&str; 2] = ["snippet", "snippetArray"];

static FUNCTIONS: LazyLock<Arc<FunctionTable>> = LazyLock::new(|| {
    let table = FunctionTable::default().with(text::FUNCTIONS);
    let table = table.with(registry::FUNCTIONS).with(snippet::FUNCTIONS);
    let table = table.with(password::FUNCTIONS).with(pet_name::FUNCTIONS);
    Arc::new(table.with(key::FUNCTIONS).with(certificate::FUNCTIONS))
});

/// The table that all configurations share.
pub fn functions() -> Arc<FunctionTable> {
    Arc::clone(&FUNCTIONS)
}

//! `error-codes.md`: the table of codes in `common`.

use std::fmt::Write as _;

use common::api::error::ErrorCode;

use super::{cell, compare};

#[test]
fn the_page_of_error_codes_has_every_code() {
    let mut page = "# Error codes\n\n\
        Every error answer has a `code`, a `message`, and `causes` of the same form. The code is for programs. It never changes its \
        name.\n\n| code | status | meaning |\n|---|---|---|\n"
        .to_owned();
    for code in ErrorCode::ALL {
        let meaning = cell(code.meaning());
        let _ = writeln!(page, "| `{code}` | {} | {meaning} |", code.status());
    }
    compare("error-codes.md", &page);
}

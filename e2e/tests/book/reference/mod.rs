//! The pages of `docs/reference` that the programs write themselves. `make docs-reference` writes them anew.

mod api;
mod error_codes;
pub mod help;
mod metrics;
mod named;

use anyhow::Result;
use e2e::program::{Service, checkout};
use snapbox::data::DataFormat;
use snapbox::{Assert, Data, IntoData as _};

/// Compares a page of the reference with the checkout, or writes it there if `SNAPSHOTS=overwrite` is set.
fn compare(page: &str, text: &str) {
    let text =
        format!("<!-- `make docs-reference` writes this page. Do not edit it. -->\n\n{text}");
    compare_file(&format!("docs/reference/{page}"), &text);
}

/// [`compare`] for a file anywhere in the checkout.
fn compare_file(path: &str, text: &str) {
    let path = checkout().join(path);
    Assert::new()
        .action_env("SNAPSHOTS")
        .normalize_paths(false)
        .eq(
            text.to_owned().into_data(),
            Data::read_from(&path, Some(DataFormat::Text)).raw(),
        );
}

/// A text as a cell of a table.
fn cell(text: &str) -> String {
    text.split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .replace('|', "\\|")
        .replace('<', "\\<")
}

/// What a service answers to `GET`.
async fn get(service: &Service, path: &str) -> Result<String> {
    let client = common::client::http::builder().no_proxy().build()?;
    let answer = client
        .get(format!("{}{path}", service.url()))
        .send()
        .await?;
    Ok(answer.error_for_status()?.text().await?)
}

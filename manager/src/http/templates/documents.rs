//! A Template in the body of a request.

use common::server::{ApiError, RawBody};
use common::work::{self, Size};

use crate::service::templates::stored_templates::Document;

/// The Template, and the text in which its faults are.
pub async fn read(body: RawBody) -> Result<Document, ApiError> {
    let RawBody { format, bytes } = body;
    let size = Size::bytes(bytes.len());
    let read = move || {
        let value = format.value(&bytes)?;
        // JSON and YAML that were read are UTF-8.
        let text = String::from_utf8(bytes).unwrap_or_default();
        Ok(Document { value, text })
    };
    work::sized(size, read).await
}

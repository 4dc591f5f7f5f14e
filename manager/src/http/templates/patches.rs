//! The body of a `PATCH`: its media type says what kind of patch it is.

use actix_web::{HttpMessage, HttpRequest};
use common::api::error::ErrorCode;
use common::json::{self, Limits};
use common::server::ApiError;
use json_patch::PatchOperation;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::service::templates::template_patch::{OPERATIONS, TemplatePatch};

pub const MERGE: &str = "application/merge-patch+json";
pub const LIST: &str = "application/json-patch+json";

pub fn read(request: &HttpRequest, body: &[u8]) -> Result<TemplatePatch, ApiError> {
    match request.content_type().trim().to_ascii_lowercase().as_str() {
        MERGE => {
            let fields: Map<String, Value> = parsed(body)?;
            Ok(TemplatePatch::Merge(fields.into()))
        }
        LIST => {
            let operations: Vec<PatchOperation> = parsed(body)?;
            match operations.len() <= OPERATIONS {
                true => Ok(TemplatePatch::Operations(operations)),
                false => Err(ApiError::new(
                    ErrorCode::PayloadTooLarge,
                    format!("the patch has more than {OPERATIONS} operations"),
                )),
            }
        }
        other => Err(ApiError::new(
            ErrorCode::UnsupportedMediaType,
            format!("the patch is {other:?}: send {MERGE} or {LIST}"),
        )),
    }
}

fn parsed<T: DeserializeOwned>(body: &[u8]) -> Result<T, ApiError> {
    json::from_slice(body, &Limits::REQUEST).map_err(|error| {
        let message = format!("the patch cannot be read: {error}");
        ApiError::new(ErrorCode::InvalidRequest, message)
    })
}

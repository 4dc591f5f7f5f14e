//! The request's body, as JSON or YAML by its content type.

use std::future::Future;
use std::pin::Pin;

use actix_web::dev::Payload;
use actix_web::error::PayloadError;
use actix_web::http::header::CONTENT_LENGTH;
use actix_web::web::Data;
use actix_web::{FromRequest, HttpMessage, HttpRequest};
use futures::StreamExt;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::task::yield_now;

use crate::api::error::{ErrorBody, ErrorCode, Location};
use crate::json::{Limits as JsonLimits, Scan, TooLarge};
use crate::model::limits::REQUEST_BYTES;
use crate::server::answer::error::ApiError;
use crate::server::limits::Limits;
use crate::server::limits::bodies::Held;
use crate::server::limits::pace::PATIENCE;
use crate::work::{self, Size};
use crate::yaml::{self, Duplicates};

/// The extractor. No content type means JSON.
#[derive(Debug)]
pub struct Body<T>(pub T);

impl<T: DeserializeOwned + Send + 'static> FromRequest for Body<T> {
    type Error = ApiError;
    type Future = Pin<Box<dyn Future<Output = Result<Self, ApiError>>>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let raw = RawBody::from_request(request, payload);
        Box::pin(async move {
            let RawBody { format, bytes } = raw.await?;
            let value = work::sized(Size::bytes(bytes.len()), move || format.read(&bytes)).await;
            value.map(Body)
        })
    }
}

/// The extractor of a raw body: its bytes, within the limits of all bodies.
#[derive(Debug)]
pub struct RawBody {
    pub format: Format,
    pub bytes: Vec<u8>,
}

impl FromRequest for RawBody {
    type Error = ApiError;
    type Future = Pin<Box<dyn Future<Output = Result<Self, ApiError>>>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let format = Format::from_content_type(request.content_type());
        let (request, payload) = (request.clone(), payload.take());
        Box::pin(async move {
            let format = format?;
            let bytes = read(&request, Some(format), payload).await?;
            Ok(Self { format, bytes })
        })
    }
}

/// The extractor of a body of any kind that is passed on unread, within the limits of all bodies.
#[derive(Debug)]
pub struct AnyBody(pub Vec<u8>);

impl FromRequest for AnyBody {
    type Error = ApiError;
    type Future = Pin<Box<dyn Future<Output = Result<Self, ApiError>>>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let (request, payload) = (request.clone(), payload.take());
        Box::pin(async move { read(&request, None, payload).await.map(Self) })
    }
}

/// Counts this many bytes of an answer among the bodies in memory, until the request is answered.
///
/// # Errors
/// `Unavailable` if all bodies together take as much memory as they may.
pub fn hold(request: &HttpRequest, bytes: usize) -> Result<(), ApiError> {
    match request.extensions_mut().get_mut::<Held>() {
        Some(held) => held.add(bytes),
        None => Ok(()),
    }
}

/// The format of a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Format {
    Json,
    Yaml,
}

impl Format {
    fn from_content_type(content_type: &str) -> Result<Self, ApiError> {
        match content_type.trim().to_ascii_lowercase().as_str() {
            "" | "application/json" => Ok(Self::Json),
            "application/yaml" | "application/x-yaml" | "text/yaml" | "text/x-yaml" => {
                Ok(Self::Yaml)
            }
            other => Err(ApiError::new(
                ErrorCode::UnsupportedMediaType,
                format!("the body is {other:?}: send application/json or application/yaml"),
            )),
        }
    }

    /// The value in a body.
    ///
    /// # Errors
    /// `InvalidRequest`, with the field that does not fit.
    pub fn read<T: DeserializeOwned>(self, bytes: &[u8]) -> Result<T, ApiError> {
        match self {
            Self::Json => read_json(bytes),
            Self::Yaml => read_yaml(bytes),
        }
    }

    /// Any object in a body. No field can misfit, so JSON is read without keeping the path to each: in less time.
    ///
    /// # Errors
    /// `InvalidRequest`
    pub fn value(self, bytes: &[u8]) -> Result<Value, ApiError> {
        match self {
            Self::Json if begins_an_object(bytes) => {
                serde_json::from_slice(bytes).map_err(|error| not_json("", &error))
            }
            other => other.read(bytes),
        }
    }
}

fn read_json<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, ApiError> {
    // serde would accept a list as the fields of an object.
    if !begins_an_object(bytes) {
        return Err(no_object());
    }
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let read = serde_path_to_error::deserialize(&mut reader).map_err(|error| {
        let place = place(error.path());
        not_json(&place, error.inner())
    })?;
    let end = reader.end().map_err(|error| not_json("", &error));
    end.map(|()| read)
}

fn begins_an_object(bytes: &[u8]) -> bool {
    let first = bytes.iter().find(|byte| !byte.is_ascii_whitespace());
    matches!(first, Some(b'{'))
}

fn read_yaml<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, ApiError> {
    let text = std::str::from_utf8(bytes)
        .map_err(|error| invalid(format!("the body is not UTF-8: {error}")))?;
    let document = yaml::read(text, &yaml::Limits::default(), Duplicates::Error)
        .map_err(|error| invalid(format!("the body is not YAML: {error}")))?;
    if !document.value.is_object() {
        return Err(no_object());
    }
    serde_path_to_error::deserialize(document.value).map_err(|error| {
        let place = place(error.path());
        invalid(format!("the body does not fit{place}: {}", error.inner()))
    })
}

fn no_object() -> ApiError {
    invalid("the body must be an object: { and its fields".to_owned())
}

/// The field of the body with the fault.
fn place(path: &serde_path_to_error::Path) -> String {
    match path.iter().next() {
        Some(_) => format!(" at {path}"),
        None => String::new(),
    }
}

fn invalid(message: String) -> ApiError {
    ApiError::new(ErrorCode::InvalidRequest, message)
}

fn not_json(place: &str, error: &serde_json::Error) -> ApiError {
    let location = Location {
        line: u32::try_from(error.line()).ok().filter(|&line| line > 0),
        column: u32::try_from(error.column())
            .ok()
            .filter(|&column| column > 0),
        ..Location::default()
    };
    ApiError(
        ErrorBody::new(
            ErrorCode::InvalidRequest,
            format!("the body cannot be read{place}: {error}"),
        )
        .at(location),
    )
}

/// A body while it arrives, and the memory that it uses.
struct Intake {
    bytes: Vec<u8>,
    /// Counts the values of JSON. The YAML reader counts its own.
    scan: Option<Scan>,
    held: Option<Held>,
}

impl Intake {
    fn add(&mut self, part: &[u8]) -> Result<(), ApiError> {
        if self.bytes.len() + part.len() > REQUEST_BYTES {
            return Err(too_large());
        }
        let values = match &mut self.scan {
            Some(scan) => {
                let before = scan.values();
                scan.take(part).map_err(beyond)?;
                scan.values() - before
            }
            None => 0,
        };
        if let Some(held) = &mut self.held {
            held.add(part.len() + values * JsonLimits::BYTES_OF_A_VALUE)?;
        }
        self.bytes.extend_from_slice(part);
        Ok(())
    }
}

/// The whole body, within its own limits and the shared limit on memory until the request is answered.
async fn read(
    request: &HttpRequest,
    format: Option<Format>,
    mut payload: Payload,
) -> Result<Vec<u8>, ApiError> {
    let limits = request.app_data::<Data<Limits>>();
    let mut intake = Intake {
        bytes: Vec::new(),
        scan: (format == Some(Format::Json)).then(|| Scan::new(JsonLimits::REQUEST)),
        held: limits.map(|limits| limits.bodies.begin()),
    };
    let declared = request.headers().get(CONTENT_LENGTH);
    let declared = declared.and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    if declared.is_some_and(|length| length > REQUEST_BYTES as u64) {
        return Err(too_large());
    }
    while let Some(part) = payload.next().await {
        let part = part.map_err(|error| unreadable(&error))?;
        intake.add(&part)?;
        // A large body may be there at once, and all of it is scanned. Other requests of this thread have their turns.
        yield_now().await;
    }
    if let Some(held) = intake.held {
        request.extensions_mut().insert(held);
    }
    Ok(intake.bytes)
}

fn beyond(limit: TooLarge) -> ApiError {
    ApiError::new(
        ErrorCode::PayloadTooLarge,
        format!("the body is too large: {limit}"),
    )
}

fn too_large() -> ApiError {
    let message = format!(
        "the body is over the limit of {} MiB",
        REQUEST_BYTES / (1024 * 1024)
    );
    ApiError::new(ErrorCode::PayloadTooLarge, message)
}

fn unreadable(error: &PayloadError) -> ApiError {
    match error {
        PayloadError::Io(error) if error.kind() == std::io::ErrorKind::TimedOut => {
            let seconds = PATIENCE.as_secs();
            let message =
                format!("the body came too slowly: almost nothing arrived in {seconds} s");
            ApiError::new(ErrorCode::RequestTimeout, message)
        }
        _ => invalid(format!("the body cannot be read: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::rc::Rc;

    use actix_web::test::TestRequest;
    use actix_web::web::Bytes;
    use serde::Deserialize;

    use super::*;

    type BoxedPayloadStream = Pin<Box<dyn futures::Stream<Item = Result<Bytes, PayloadError>>>>;

    #[actix_web::test]
    async fn other_requests_have_their_turns_while_a_body_arrives() {
        const PARTS: usize = 100;
        let parts = (0..PARTS).map(|_| Ok(Bytes::from_static(b"[1],")));
        let payload: BoxedPayloadStream = Box::pin(futures::stream::iter(parts));
        let stream = Payload::Stream { payload };
        let request = TestRequest::default().to_http_request();
        let turns = Rc::new(Cell::new(0));
        let others = actix_web::rt::spawn({
            let turns = turns.clone();
            async move {
                loop {
                    turns.set(turns.get() + 1);
                    yield_now().await;
                }
            }
        });
        let body = read(&request, None, stream).await.unwrap();
        others.abort();
        assert_eq!(body.len(), 4 * PARTS);
        assert!(turns.get() > PARTS / 2, "{} turns", turns.get());
    }

    #[derive(Debug, Deserialize)]
    struct Asked {
        #[expect(dead_code, reason = "it is read, not looked at")]
        names: Vec<String>,
    }

    fn refusal(format: Format, body: &str) -> String {
        format.read::<Asked>(body.as_bytes()).unwrap_err().0.message
    }

    #[test]
    fn any_object_is_a_value() {
        for format in [Format::Json, Format::Yaml] {
            let value = format.value(br#" {"a": [1, {"b": null}]}"#).unwrap();
            assert_eq!(value, serde_json::json!({"a": [1, {"b": null}]}));
            for body in ["[]", "1", "{", "", "{} {}"] {
                let refused = format.value(body.as_bytes()).unwrap_err().0;
                assert_eq!(refused.code, ErrorCode::InvalidRequest, "{body:?}");
            }
        }
    }

    #[test]
    fn what_does_not_fit_is_told_with_its_field() {
        assert_eq!(
            refusal(Format::Json, r#"{"names": ["a", 5]}"#),
            "the body cannot be read at names[1]: invalid type: integer `5`, expected a string at line 1 column 17"
        );
        assert_eq!(
            refusal(Format::Yaml, "names: [a, [b]]"),
            "the body does not fit at names[1]: invalid type: sequence, expected a string"
        );
    }

    #[test]
    fn a_list_is_not_taken_for_an_objects_fields_in_their_order() {
        let expected = "the body must be an object: { and its fields";
        for body in ["[[\"a\"]]", "", " null", "5"] {
            assert_eq!(refusal(Format::Json, body), expected, "{body}");
        }
        assert_eq!(refusal(Format::Yaml, "[[a]]"), expected);
    }

    #[test]
    fn nothing_follows_the_object() {
        let error = refusal(Format::Json, r#"{"names": []} {}"#);
        assert!(
            error.starts_with("the body cannot be read: trailing characters"),
            "{error}"
        );
    }
}

//! The parts of requests that several handlers read.

use std::future::Future;
use std::pin::Pin;

use actix_web::dev::Payload;
use actix_web::web::Query;
use actix_web::{FromRequest, HttpMessage, HttpRequest};
use common::api::error::ErrorCode;
use common::server::{ApiError, Format, RawBody};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::error::BrokerError;
use crate::record::Caller;
use crate::service::{Context, Ids, Poll};

/// A body that is a JSON object.
pub struct Body(pub Map<String, Value>);

impl FromRequest for Body {
    type Error = BrokerError;
    type Future = Pin<Box<dyn Future<Output = Result<Self, BrokerError>>>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let raw = RawBody::from_request(request, payload);
        Box::pin(async move {
            let RawBody { format, bytes } = raw.await.map_err(refused)?;
            match format {
                Format::Json => format.read(&bytes).map(Self).map_err(refused),
                Format::Yaml => Err(BrokerError::invalid("the body must be application/json")),
            }
        })
    }
}

/// The protocol has 400 for every body that cannot be read.
fn refused(error: ApiError) -> BrokerError {
    let body = error.0;
    match body.code {
        ErrorCode::UnsupportedMediaType => BrokerError::invalid(body.message),
        code => BrokerError::new(code.status(), body.message),
    }
}

#[derive(Debug, Deserialize)]
struct Queried {
    accepts_incomplete: Option<String>,
    service_id: Option<String>,
    plan_id: Option<String>,
    operation: Option<String>,
}

/// What the query and the headers say.
pub struct Asked {
    pub context: Context,
    pub poll: Poll,
}

impl FromRequest for Asked {
    type Error = BrokerError;
    type Future = std::future::Ready<Result<Self, BrokerError>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        std::future::ready(asked(request))
    }
}

fn asked(request: &HttpRequest) -> Result<Asked, BrokerError> {
    let query = Query::<Queried>::from_query(request.query_string());
    let query = query.map_err(|error| BrokerError::invalid(format!("the query: {error}")))?;
    let Queried {
        accepts_incomplete,
        service_id,
        plan_id,
        operation,
    } = query.into_inner();
    let accepts_incomplete = match accepts_incomplete.as_deref() {
        None | Some("" | "false") => false,
        Some("true") => true,
        Some(_) => {
            return Err(BrokerError::invalid(
                "accepts_incomplete must be true or false",
            ));
        }
    };
    let caller: Caller = request.extensions().get().cloned().unwrap_or_default();
    Ok(Asked {
        context: Context {
            caller,
            accepts_incomplete,
        },
        poll: Poll {
            ids: Ids {
                service_id,
                plan_id,
            },
            operation,
        },
    })
}

//! Answers and refusals of the use cases as HTTP responses.

use actix_web::http::StatusCode;
use actix_web::http::header::{RETRY_AFTER, WWW_AUTHENTICATE};
use actix_web::{HttpResponse, ResponseError};

use crate::error::BrokerError;
use crate::service::Answer;

/// Seconds until a platform should ask again for an operation that goes on.
const POLL: u64 = 2;

impl From<Answer> for HttpResponse {
    fn from(answer: Answer) -> Self {
        let mut response = HttpResponse::build(status(answer.status));
        if answer.is_unfinished {
            response.insert_header((RETRY_AFTER, POLL));
        }
        response.json(answer.body)
    }
}

impl ResponseError for BrokerError {
    fn status_code(&self) -> StatusCode {
        status(self.status)
    }

    fn error_response(&self) -> HttpResponse {
        let mut response = HttpResponse::build(self.status_code());
        match self.status {
            401 => drop(response.insert_header((WWW_AUTHENTICATE, "Basic realm=\"broker\""))),
            503 => drop(response.insert_header((RETRY_AFTER, POLL))),
            _ => {}
        }
        response.json(self.body())
    }
}

fn status(status: u16) -> StatusCode {
    StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}

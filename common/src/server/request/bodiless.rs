//! `HEAD`: each route with GET also answers it, with the same head and no body (RFC 9110).

use actix_web::body::{BodySize, BoxBody, MessageBody, None};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::Method;
use actix_web::middleware::Next;

pub(in crate::server) async fn bodiless<B: MessageBody + 'static>(
    mut request: ServiceRequest,
    next: Next<B>,
) -> Result<ServiceResponse<BoxBody>, actix_web::Error> {
    let is_head = request.method() == Method::HEAD;
    if is_head {
        request.head_mut().method = Method::GET;
    }
    let response = next.call(request).await?;
    Ok(response.map_body(|_, body| match body.size() {
        // The length is unknown, and computing it would need the whole body.
        BodySize::Stream if is_head => BoxBody::new(None::new()),
        // Of a body whose length is known, actix sends the length alone.
        _ => body.boxed(),
    }))
}

//! `/v2/service_instances/I/service_bindings/B`.

use actix_web::HttpResponse;
use actix_web::web::{Data, Path};

use super::request::{Asked, Body};
use crate::error::BrokerError;
use crate::service::Broker;

/// An instance and one of its bindings.
type Ids = Path<(String, String)>;

pub async fn bind(
    broker: Data<Broker>,
    ids: Ids,
    asked: Asked,
    Body(body): Body,
) -> Result<HttpResponse, BrokerError> {
    let (instance, id) = ids.into_inner();
    let answer = broker.bind(&instance, &id, &asked.context, &body).await?;
    Ok(answer.into())
}

pub async fn get(broker: Data<Broker>, ids: Ids) -> Result<HttpResponse, BrokerError> {
    let (instance, id) = ids.into_inner();
    Ok(broker.fetch_binding(&instance, &id).await?.into())
}

pub async fn unbind(
    broker: Data<Broker>,
    ids: Ids,
    asked: Asked,
) -> Result<HttpResponse, BrokerError> {
    let ((instance, id), Asked { context, poll }) = (ids.into_inner(), asked);
    let answer = broker.unbind(&instance, &id, &context, &poll.ids).await?;
    Ok(answer.into())
}

pub async fn poll(
    broker: Data<Broker>,
    ids: Ids,
    asked: Asked,
) -> Result<HttpResponse, BrokerError> {
    let (instance, id) = ids.into_inner();
    let answer = broker.poll_binding(&instance, &id, &asked.poll).await?;
    Ok(answer.into())
}

//! `/v2/service_instances/I`.

use actix_web::HttpResponse;
use actix_web::web::{Data, Path};

use super::request::{Asked, Body};
use crate::error::BrokerError;
use crate::service::Broker;

pub async fn provision(
    broker: Data<Broker>,
    id: Path<String>,
    asked: Asked,
    Body(body): Body,
) -> Result<HttpResponse, BrokerError> {
    let answer = broker.provision(&id, &asked.context, &body).await?;
    Ok(answer.into())
}

pub async fn get(broker: Data<Broker>, id: Path<String>) -> Result<HttpResponse, BrokerError> {
    Ok(broker.fetch_instance(&id).await?.into())
}

pub async fn update(
    broker: Data<Broker>,
    id: Path<String>,
    asked: Asked,
    Body(body): Body,
) -> Result<HttpResponse, BrokerError> {
    Ok(broker.update(&id, &asked.context, &body).await?.into())
}

pub async fn deprovision(
    broker: Data<Broker>,
    id: Path<String>,
    asked: Asked,
) -> Result<HttpResponse, BrokerError> {
    let Asked { context, poll } = asked;
    let answer = broker.deprovision(&id, &context, &poll.ids).await?;
    Ok(answer.into())
}

pub async fn poll(
    broker: Data<Broker>,
    id: Path<String>,
    asked: Asked,
) -> Result<HttpResponse, BrokerError> {
    Ok(broker.poll_instance(&id, &asked.poll).await?.into())
}

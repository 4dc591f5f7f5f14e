//! The requests of each command.

use common::client::access::ClientAccess;
use common::client::broker::Method;
use common::client::broker::{BrokerAnswer, BrokerClient, Login};
use serde_json::{Map, Value, json};

use super::command::{Bind, BindingName, BrokerFlags, InstanceName, Provision, Update};
use super::error::BrokerError;
use super::offer::{self, Offer};
use super::show;
use crate::client::identity::IdentityFlags;
use crate::client::session::Session;
use crate::error::Failure;

/// A broker.
pub struct Target {
    pub client: BrokerClient,
}

const ASYNC: (&str, &str) = ("accepts_incomplete", "true");

impl Target {
    pub fn open(flags: &BrokerFlags, identity: &IdentityFlags) -> Result<Self, Failure> {
        let login = flags.basic_file.as_deref().map(login).transpose()?;
        let access: ClientAccess = identity.plain_access(&flags.broker, login.is_some())?;
        let client = BrokerClient::new(&flags.broker, &access, login);
        let client = client.map_err(BrokerError::from)?;
        Ok(Self { client })
    }

    pub async fn services(&self, session: &mut Session<'_, '_>) -> Result<(), Failure> {
        let catalog = self.catalog().await?;
        session.show(&Value::Object(catalog), show::services)
    }

    pub async fn catalog(&self) -> Result<Map<String, Value>, Failure> {
        let answer = self.call(Method::GET, &["catalog"], &[], None).await?;
        show::expect(&answer, &[200])?;
        Ok(answer.body)
    }

    pub async fn provision(
        &self,
        session: &mut Session<'_, '_>,
        asked: Provision,
    ) -> Result<(), Failure> {
        let id = asked.name.instance.as_str();
        let offer = offer::chosen(&self.catalog().await?, &asked.name.offered)?;
        let mut body = json!({
            "service_id": offer.service,
            "plan_id": offer.plan,
            "organization_guid": asked.organization,
            "space_guid": asked.space,
            "parameters": asked.parameters.merged(&[])?,
        });
        if let Some(namespace) = asked.namespace.or_else(|| session.namespace.clone()) {
            body["context"] = json!({"platform": "kubernetes", "namespace": namespace});
        }
        let path = ["service_instances", id];
        let answer = self.call(Method::PUT, &path, &[ASYNC], Some(&body)).await?;
        show::expect(&answer, &[200, 201, 202])?;
        let dashboard = answer.text("dashboard_url").map(str::to_owned);
        self.follow(session, &path, &offer, &answer).await?;
        let document = json!({"instance": id, "dashboard_url": dashboard});
        session.show(&document, |_| {
            show::done("instance", id, "is ready", dashboard.as_deref())
        })
    }

    pub async fn update(
        &self,
        session: &mut Session<'_, '_>,
        asked: Update,
    ) -> Result<(), Failure> {
        let id = asked.name.instance.as_str();
        let current = InstanceName {
            instance: asked.name.instance.clone(),
            offered: super::command::Offered {
                offering: asked.name.offered.offering.clone(),
                plan: None,
            },
        };
        let before = self.offer_of(&current).await?;
        let mut body = json!({"service_id": before.service});
        if let Some(plan) = &asked.name.offered.plan {
            let catalog = self.catalog().await?;
            body["plan_id"] = json!(offer::plan_of(&catalog, &before.service, plan)?);
        }
        if asked.parameters.is_given() {
            body["parameters"] = Value::Object(asked.parameters.merged(&[])?);
        }
        let path = ["service_instances", id];
        let answer = self
            .call(Method::PATCH, &path, &[ASYNC], Some(&body))
            .await?;
        show::expect(&answer, &[200, 202])?;
        self.follow(session, &path, &before, &answer).await?;
        session.show(&json!({"instance": id}), |_| {
            show::done("instance", id, "is updated", None)
        })
    }

    pub async fn deprovision(
        &self,
        session: &mut Session<'_, '_>,
        asked: InstanceName,
    ) -> Result<(), Failure> {
        let id = asked.instance.as_str();
        let offer = self.offer_of(&asked).await?;
        let path = ["service_instances", id];
        self.delete(session, &path, &offer).await?;
        session.show(&json!({"instance": id}), |_| {
            show::done("instance", id, "is deleted", None)
        })
    }

    pub async fn bind(&self, session: &mut Session<'_, '_>, asked: Bind) -> Result<(), Failure> {
        let (id, binding) = (asked.name.instance.as_str(), asked.name.binding.as_str());
        let offer = self.offer_of(&instance_of(&asked.name)).await?;
        let mut body = json!({
            "service_id": offer.service,
            "plan_id": offer.plan,
            "parameters": asked.parameters.merged(&[])?,
        });
        if let Some(app) = &asked.app {
            body["bind_resource"] = json!({"app_guid": app});
        }
        let path = ["service_instances", id, "service_bindings", binding];
        let answer = self.call(Method::PUT, &path, &[ASYNC], Some(&body)).await?;
        show::expect(&answer, &[200, 201, 202])?;
        self.follow(session, &path, &offer, &answer).await?;
        match answer.status {
            202 => self.credentials(session, asked.name).await,
            _ => session.show(&Value::Object(answer.body), show::credentials),
        }
    }

    pub async fn unbind(
        &self,
        session: &mut Session<'_, '_>,
        asked: BindingName,
    ) -> Result<(), Failure> {
        let binding = asked.binding.as_str();
        let offer = self.offer_of(&instance_of(&asked)).await?;
        let path = [
            "service_instances",
            &asked.instance,
            "service_bindings",
            binding,
        ];
        self.delete(session, &path, &offer).await?;
        session.show(&json!({"binding": binding}), |_| {
            show::done("binding", binding, "is deleted", None)
        })
    }

    pub async fn credentials(
        &self,
        session: &mut Session<'_, '_>,
        asked: BindingName,
    ) -> Result<(), Failure> {
        let path = [
            "service_instances",
            &asked.instance,
            "service_bindings",
            &asked.binding,
        ];
        let answer = self.call(Method::GET, &path, &[], None).await?;
        show::expect(&answer, &[200])?;
        session.show(&Value::Object(answer.body), show::credentials)
    }

    async fn delete(
        &self,
        session: &mut Session<'_, '_>,
        path: &[&str],
        offer: &Offer,
    ) -> Result<(), Failure> {
        let query = [
            ("service_id", offer.service.as_str()),
            ("plan_id", &offer.plan),
            ASYNC,
        ];
        let answer = self.call(Method::DELETE, path, &query, None).await?;
        show::expect(&answer, &[200, 202, 410])?;
        self.follow(session, path, offer, &answer).await
    }

    /// The plan of an instance: as the flags say, else as the broker says, else the only one.
    async fn offer_of(&self, asked: &InstanceName) -> Result<Offer, Failure> {
        let catalog = self.catalog().await?;
        if asked.offered.offering.is_none() || asked.offered.plan.is_none() {
            let path = ["service_instances", asked.instance.as_str()];
            let answer = self.call(Method::GET, &path, &[], None).await?;
            let ids = answer.text("service_id").zip(answer.text("plan_id"));
            if let Some((service, plan)) = ids.filter(|_| answer.status == 200) {
                return Ok(Offer {
                    service: service.to_owned(),
                    plan: plan.to_owned(),
                });
            }
        }
        offer::chosen(&catalog, &asked.offered)
    }

    pub async fn call(
        &self,
        method: Method,
        path: &[&str],
        query: &[(&str, &str)],
        body: Option<&Value>,
    ) -> Result<BrokerAnswer, Failure> {
        let answer = self.client.call(method, path, query, body).await;
        Ok(answer.map_err(BrokerError::from)?)
    }
}

fn instance_of(name: &BindingName) -> InstanceName {
    InstanceName {
        instance: name.instance.clone(),
        offered: super::command::Offered {
            offering: name.offered.offering.clone(),
            plan: name.offered.plan.clone(),
        },
    }
}

/// `USER:PASSWORD` in the first line of a file.
fn login(path: &std::path::Path) -> Result<Login, Failure> {
    let shown = path.display();
    let text = std::fs::read_to_string(path)
        .map_err(|error| Failure::usage(format!("{shown} cannot be read: {error}")))?;
    let line = text.lines().next().unwrap_or_default();
    let (user, password) = line
        .split_once(':')
        .ok_or_else(|| Failure::usage(format!("the first line of {shown} is not USER:PASSWORD")))?;
    Ok(Login {
        user: user.to_owned(),
        password: password.to_owned(),
    })
}

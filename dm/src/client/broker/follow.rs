//! Waits for what a broker does in the background.

use std::time::Duration;

use common::client::broker::BrokerAnswer;
use common::client::broker::Method;

use super::offer::Offer;
use super::request::Target;
use super::show;
use crate::client::session::Session;
use crate::error::Failure;
use crate::terminal::text;

/// How often the broker is asked, if it does not say so.
const EVERY: Duration = Duration::from_secs(1);
/// The longest pause that a broker may ask for.
const LONGEST: Duration = Duration::from_secs(10);

impl Target {
    /// Polls until the operation has ended, and shows what it says. An answer that is no 202 has ended already.
    pub async fn follow(
        &self,
        session: &mut Session<'_, '_>,
        path: &[&str],
        offer: &Offer,
        begun: &BrokerAnswer,
    ) -> Result<(), Failure> {
        if begun.status != 202 {
            return Ok(());
        }
        let path: Vec<&str> = path.iter().copied().chain(["last_operation"]).collect();
        let ids = [
            ("service_id", offer.service.as_str()),
            ("plan_id", &offer.plan),
        ];
        let operation = begun.text("operation").map(|id| ("operation", id));
        let query: Vec<(&str, &str)> = ids.into_iter().chain(operation).collect();
        let mut shown = String::new();
        loop {
            let answer = self.call(Method::GET, &path, &query, None).await?;
            if answer.status == 410 {
                return Ok(());
            }
            show::expect(&answer, &[200])?;
            let state = answer.text("state").unwrap_or_default();
            let description = answer.text("description").unwrap_or_default();
            match state {
                "succeeded" => return Ok(()),
                "failed" => {
                    let description = text::line(description);
                    return Err(Failure::failed(format!(
                        "the operation failed: {description}"
                    )));
                }
                _ => {}
            }
            let news = match description {
                "" => state.to_owned(),
                description => format!("{state}: {description}"),
            };
            if news != shown {
                session.terminal.note(&text::line(&news));
                shown = news;
            }
            tokio::time::sleep(answer.retry_after.unwrap_or(EVERY).min(LONGEST)).await;
        }
    }
}

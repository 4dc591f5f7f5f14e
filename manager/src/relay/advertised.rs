//! The addresses at which other managers reach this one.

use common::server::Listening;
use url::Url;

use crate::store::kv::Owner;

/// This manager: at the given URL, or else at the address that it listens on. The service broker has the same host.
pub fn owner(advertised: Option<&Url>, api: &Listening, broker: Option<&Listening>) -> Owner {
    let url = advertised.cloned().or_else(|| listened_on(api));
    if url.is_none() {
        tracing::warn!(
            "this manager listens on every address: give --advertise URL, so that other managers on the same store can pass requests on to it"
        );
    }
    let broker = broker.and_then(|broker| {
        let mut url = url.clone()?;
        url.set_port(Some(broker.address().port())).ok()?;
        Some(url)
    });
    Owner::this(url.map(String::from), broker.map(String::from))
}

/// None if it listens on every address.
fn listened_on(listening: &Listening) -> Option<Url> {
    let address = listening.address();
    let url = format!("{}://{address}", listening.scheme());
    (!address.ip().is_unspecified()).then(|| Url::parse(&url).ok())?
}

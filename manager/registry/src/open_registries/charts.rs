//! The registry of a chart. One that is registered is used with its credential, also if a reference names its URL.

use std::sync::Arc;

use common::address::without_user;
use common::model::{RegistryDefinition, RegistryName, RegistryType};
use common::registry::oci::OciLocation;
use url::Url;

use super::{OpenRegistries, OpenRegistry};
use crate::RegistryError;
use crate::adapter::{Registry, helm, oci};
use crate::reference::{ChartPlace, ChartReference, WantedChart};

impl OpenRegistries {
    /// The registry of a chart, and what the chart is called there.
    pub async fn of_chart(
        &self,
        reference: ChartReference,
    ) -> Result<(OpenRegistry, WantedChart), RegistryError> {
        let ChartReference { place, wanted } = reference;
        match place {
            ChartPlace::Registered(name) => Ok((self.by_name(&name).await?, wanted)),
            ChartPlace::Repository(url) => match self.registered_repository(&url).await? {
                Some(name) => Ok((self.registered(&name).await?, wanted)),
                None => Ok((self.repository(url), wanted)),
            },
            ChartPlace::Oci(base) => match self.registered_host(&base, &wanted.chart).await? {
                Some((name, chart)) => {
                    let wanted = WantedChart { chart, ..wanted };
                    Ok((self.registered(&name).await?, wanted))
                }
                None => Ok((self.host(base), wanted)),
            },
        }
    }

    async fn definitions(
        &self,
        wanted: RegistryType,
    ) -> Result<impl Iterator<Item = (RegistryName, RegistryDefinition)>, RegistryError> {
        let all = self.registrations.definitions().await;
        let all = all.map_err(RegistryError::Registrations)?;
        Ok(all
            .into_iter()
            .filter(move |(_, definition)| definition.registry_type == wanted))
    }

    async fn registered_repository(
        &self,
        url: &Url,
    ) -> Result<Option<RegistryName>, RegistryError> {
        let is_same = |definition: &RegistryDefinition| {
            definition.url.trim_end_matches('/') == url.as_str().trim_end_matches('/')
        };
        let mut all = self.definitions(RegistryType::Helm).await?;
        let found = all.find(|(_, definition)| is_same(definition));
        Ok(found.map(|(name, _)| name))
    }

    /// The registered registry with the longest path to a chart, and the rest of the path.
    async fn registered_host(
        &self,
        base: &Url,
        chart: &str,
    ) -> Result<Option<(RegistryName, String)>, RegistryError> {
        let within = |(name, definition): (RegistryName, RegistryDefinition)| {
            let location = OciLocation::parse(&definition.url).ok()?;
            let rest = chart.strip_prefix(&location.prefix)?.strip_prefix('/')?;
            (location.base == *base).then(|| (name, rest.to_owned()))
        };
        let all = self.definitions(RegistryType::Oci).await?;
        Ok(all.filter_map(within).min_by_key(|(_, rest)| rest.len()))
    }

    /// An unregistered chart repository. It stays open for the next reference to it.
    fn repository(&self, url: Url) -> OpenRegistry {
        let context = &self.public;
        self.kept_open(url.as_str(), || {
            let name = without_user(url.as_str()).trim_end_matches('/').to_owned();
            let definition = RegistryDefinition::new(RegistryType::Helm, url.as_str());
            let webs = (context.web.clone(), context.outside.clone());
            let opened =
                helm::Repository::new(&name, definition, url.clone(), webs, context.refresh);
            Arc::new(opened)
        })
    }

    /// All repositories of an OCI registry that is not registered.
    fn host(&self, base: Url) -> OpenRegistry {
        let name = format!("oci://{}", base.authority());
        self.kept_open(&name, || {
            let definition = RegistryDefinition::new(RegistryType::Oci, name.as_str());
            let location = OciLocation {
                base: base.clone(),
                prefix: String::new(),
            };
            let opened = oci::Artifacts::new(&name, definition, location, None, &self.public);
            Arc::new(opened)
        })
    }

    fn kept_open(&self, name: &str, open: impl FnOnce() -> Arc<dyn Registry>) -> OpenRegistry {
        if let Some(open) = self.named.get(&name.to_owned()) {
            return open;
        }
        let open = OpenRegistry {
            registry: open(),
            collection: None,
            trust: Arc::default(),
        };
        self.named.put(name.to_owned(), open.clone(), 1);
        open
    }
}

//! Finds the chart that a reference means by the chart's own version.

use common::api::error::ErrorCode;
use common::model::Version;

use super::Registries;
use super::found::{Found, Source};
use crate::RegistryError;
use crate::adapter::{ChartFile, LocatedChart, Registry};
use crate::catalog::signed::SignatureError;
use crate::open_registries::OpenRegistry;
use crate::reference::{ChartReference, Reference, WantedChart};

impl Registries {
    /// `version` replaces the version of the reference.
    pub(super) async fn find_chart(
        &self,
        reference: ChartReference,
        version: Option<Version>,
    ) -> Result<Found, RegistryError> {
        let reference = ChartReference {
            wanted: reference.wanted.at(version),
            ..reference
        };
        let (open, file) = match self.look_up(reference).await? {
            (open, LocatedChart::Here(file)) => (open, file),
            (open, LocatedChart::Elsewhere(url)) => {
                let elsewhere = || RegistryError::ChartElsewhere {
                    registry: open.registry.summary().name,
                    url: url.clone(),
                };
                let Reference::Chart(there) = Reference::parse(&url, &[])? else {
                    return Err(elsewhere());
                };
                match self.look_up(there).await? {
                    (open, LocatedChart::Here(file)) => (open, file),
                    (_, LocatedChart::Elsewhere(_)) => return Err(elsewhere()),
                }
            }
        };
        Ok(self.found_chart(&open, file))
    }

    async fn look_up(
        &self,
        reference: ChartReference,
    ) -> Result<(OpenRegistry, LocatedChart), RegistryError> {
        let (open, wanted) = self.open.of_chart(reference).await?;
        if open.trust.is_needed() {
            let folder = format!("{}/{}", open.registry.summary().name, wanted.chart);
            return Err(SignatureError::Missing { folder }.into());
        }
        let located = located(&*open.registry, &wanted).await?;
        Ok((open, located))
    }

    fn found_chart(&self, open: &OpenRegistry, file: ChartFile) -> Found {
        let ChartFile {
            version,
            files,
            archive,
            revision,
        } = file;
        let key = revision.map(|revision| (files.path_of(&archive), revision));
        Found {
            known: key.as_ref().and_then(|key| self.templates.get(key)),
            key,
            files,
            template: archive,
            source: Source::File,
            version: Some(version),
            scope: None,
            registry: open.registry.summary().name,
        }
    }
}

/// It may be newer than what is held of the registry, so that is asked a second time.
async fn located(
    registry: &dyn Registry,
    wanted: &WantedChart,
) -> Result<LocatedChart, RegistryError> {
    match registry.chart(wanted).await {
        Err(error) if error.code() == ErrorCode::TemplateNotFound => {
            registry.expire();
            registry.chart(wanted).await
        }
        located => located,
    }
}

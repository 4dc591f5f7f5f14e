//! Types that are in use, and where.

use common::api::manager::TypeSummary;
use common::api::page::{Page, PageQuery};
use common::model::TypeName;

use crate::error::Error;
use crate::store::{Store, instances};

/// In the place of a type: every type.
const ALL: &str = "all";

pub struct Types {
    pub store: Store,
}

impl Types {
    pub async fn list(&self, page: &PageQuery) -> Result<Page<TypeSummary>, Error> {
        Ok(instances::types(&self.store, page).await?)
    }

    /// A page of them, as JSON.
    pub async fn instances(&self, type_name: &TypeName, page: &PageQuery) -> Result<String, Error> {
        let one = Some(type_name).filter(|name| name.as_str() != ALL);
        Ok(instances::list(&self.store, one, page).await?)
    }
}

//! One connection, whose statements are run as they come.

use deadpool_postgres::Object;

use crate::store::error::StoreError;
use crate::store::postgres::session::{Failure, Session};
use crate::store::postgres::{PostgresLimits, PostgresStore};
use crate::store::table::Field;

/// One connection to a database whose tables are up to date.
pub(in crate::store) struct Direct {
    store: PostgresStore,
    client: Object,
}

impl Direct {
    pub(in crate::store) async fn open(url: &str) -> Result<Self, StoreError> {
        let store = PostgresStore::open(url, PostgresLimits::default()).await?;
        let client = store.shared.client().await.map_err(error)?;
        Ok(Self { store, client })
    }

    pub(in crate::store) async fn batch(&mut self, sql: &str) -> Result<(), StoreError> {
        let done = self.client.batch_execute(sql).await;
        done.map_err(|failure| error(failure.into()))
    }

    pub(in crate::store) async fn rows(
        &mut self,
        sql: &str,
        params: &[Field],
    ) -> Result<Vec<Vec<(String, Field)>>, StoreError> {
        self.session().fields(sql, params).await.map_err(error)
    }

    pub(in crate::store) async fn execute(
        &mut self,
        sql: &str,
        params: &[Field],
    ) -> Result<u64, StoreError> {
        self.session().execute(sql, params).await.map_err(error)
    }

    fn session(&self) -> Session<'_, Object> {
        self.store.shared.session(&self.client)
    }
}

/// Nothing is tried again here.
fn error(failure: Failure) -> StoreError {
    match failure {
        Failure::Transient(error) => StoreError::Failed(error.into()),
        other => other.into(),
    }
}

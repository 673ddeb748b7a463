//! What runs a statement: a connection, or a transaction on it.

use async_trait::async_trait;
use deadpool_postgres::{GenericClient as _, Object, Transaction};
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Error, Row};

use crate::store::statements;
use crate::store::table::Field;

/// How statements are sent.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Statements {
    /// Prepared once for each connection.
    Prepared,
    /// Each for itself: a pool in between gives every transaction another connection, on which a
    /// prepared statement is missing, or is one of another process.
    Unnamed,
}

#[async_trait]
pub(super) trait Connection: Send + Sync {
    /// The rows of a query.
    async fn rows(&self, sql: &str, params: &[Field], how: Statements) -> Result<Vec<Row>, Error>;

    /// The number of rows that a statement affects.
    async fn count(&self, sql: &str, params: &[Field], how: Statements) -> Result<u64, Error>;
}

macro_rules! connection {
    ($($of:ty),*) => {$(
        #[async_trait]
        impl Connection for $of {
            async fn rows(
                &self,
                sql: &str,
                params: &[Field],
                how: Statements,
            ) -> Result<Vec<Row>, Error> {
                statements::sent(1);
                match how {
                    Statements::Prepared => {
                        let statement = self.prepare_cached(sql).await?;
                        self.query(&statement, &refer(params)).await
                    }
                    Statements::Unnamed => self.query_typed(sql, &typed(params)).await,
                }
            }

            async fn count(
                &self,
                sql: &str,
                params: &[Field],
                how: Statements,
            ) -> Result<u64, Error> {
                statements::sent(1);
                match how {
                    Statements::Prepared => {
                        let statement = self.prepare_cached(sql).await?;
                        self.execute(&statement, &refer(params)).await
                    }
                    Statements::Unnamed => self.execute_typed(sql, &typed(params)).await,
                }
            }
        }
    )*};
}

connection!(Object, Transaction<'_>);

fn refer(params: &[Field]) -> Vec<&(dyn ToSql + Sync)> {
    let refer = |field| field as &(dyn ToSql + Sync);
    params.iter().map(refer).collect()
}

fn typed(params: &[Field]) -> Vec<(&(dyn ToSql + Sync), Type)> {
    let typed = |field: &Field| match field {
        // The server finds the type.
        Field::Null => Type::UNKNOWN,
        Field::Integer(_) => Type::INT8,
        Field::Text(_) => Type::TEXT,
        Field::Bytes(_) => Type::BYTEA,
    };
    refer(params)
        .into_iter()
        .zip(params)
        .map(|(refer, field)| (refer, typed(field)))
        .collect()
}

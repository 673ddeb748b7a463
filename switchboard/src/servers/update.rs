//! Changes of a stored server.

use crate::store::{Change, Server, Store, StoreError};

/// How often a change is made anew because another one was faster.
const TRIES: usize = 100;

/// A server that was changed.
#[derive(Debug)]
pub(crate) struct Updated {
    pub(crate) before: Server,
    /// As it is stored now.
    pub(crate) row: Server,
}

/// Changes a server: `change` gets it as it is stored, and returns it as it is to be, with what is
/// stored beside it. If another request or process stores it meanwhile, the change is made anew, of
/// what is stored then: no change undoes another one.
pub(crate) async fn update<C, F, E>(
    store: &dyn Store,
    mut before: Server,
    mut change: C,
) -> Result<Updated, E>
where
    C: FnMut(Server) -> F,
    F: Future<Output = Result<(Server, Vec<Change>), E>>,
    E: From<StoreError>,
{
    for left in (0..TRIES).rev() {
        let (mut row, others) = change(before.clone()).await?;
        let mut changes = vec![Change::PutServer(Box::new(row.clone()))];
        changes.extend(others);
        let conflict = match store.commit(changes).await {
            Ok(_) => {
                row.revision += 1;
                return Ok(Updated { before, row });
            }
            Err(conflict @ StoreError::Conflict { .. }) if left > 0 => conflict,
            Err(error) => return Err(error.into()),
        };
        match store.server(&before.user_id, &before.id).await? {
            Some(now) if now.revision != before.revision => before = now,
            // It is gone, or something else is in the way: its new name is taken.
            _ => return Err(conflict.into()),
        }
    }
    Err(StoreError::Conflict { what: "server" }.into())
}

//! The authenticated caller of a request.

use std::fmt;

use serde_json::{Map, Value};

/// An authenticated caller.
///
/// Sessions, tasks and `requestState` values are bound to [`id`](Self::id): no other caller can use them.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub struct Caller {
    /// The id of the caller, unique among all callers of this server.
    pub id: String,
    /// Scopes granted to it.
    pub scopes: Vec<String>,
    /// Further data about it: the claims of its token.
    pub claims: Map<String, Value>,
}

impl Caller {
    /// Creates a caller without scopes and claims.
    pub fn new(id: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            scopes: Vec::new(),
            claims: Map::new(),
        }
    }

    /// Whether it was granted this scope.
    pub fn has_scope(&self, scope: &str) -> bool {
        self.scopes.iter().any(|granted| granted == scope)
    }
}

/// Claims are not shown.
impl fmt::Debug for Caller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Caller")
            .field("id", &self.id)
            .field("scopes", &self.scopes)
            .finish_non_exhaustive()
    }
}

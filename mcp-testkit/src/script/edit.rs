//! What a call changes about the server.

use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use super::Script;

type Change = Arc<dyn Fn(Script, &Value) -> Script + Send + Sync>;

/// A change of the script that a call makes: from the script before and the call's arguments to
/// the script after. It sends no notification; [`Step::ToolsChanged`](crate::Step::ToolsChanged) does.
#[derive(Clone)]
pub struct Edit(Change);

impl Edit {
    /// Changes the script like this.
    pub fn new(edit: impl Fn(Script, &Value) -> Script + Send + Sync + 'static) -> Self {
        Self(Arc::new(edit))
    }

    pub(crate) fn apply(&self, script: Script, arguments: &Value) -> Script {
        (self.0)(script, arguments)
    }
}

impl fmt::Debug for Edit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Edit(..)")
    }
}

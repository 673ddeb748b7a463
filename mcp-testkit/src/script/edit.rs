//! A call's change of the server.

use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use super::Script;

type Change = Arc<dyn Fn(Script, &Value) -> Script + Send + Sync>;

/// A change of the script by a call: from the previous script and the call's arguments to the next script. It sends no
/// notification; [`Step::ToolsChanged`](crate::Step::ToolsChanged) does.
#[derive(Clone)]
pub struct Edit(Change);

impl Edit {
    /// Creates a change from this function.
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

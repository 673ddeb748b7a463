//! Methods of extensions.

use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use super::Refusal;

type Answer = Arc<dyn Fn(&Value) -> Result<Value, Refusal> + Send + Sync>;

/// A method of an extension, and its handler.
#[derive(Clone)]
pub(crate) struct Method {
    pub(super) name: String,
    answer: Answer,
}

impl Method {
    pub(super) fn new(
        name: String,
        answer: impl Fn(&Value) -> Result<Value, Refusal> + Send + Sync + 'static,
    ) -> Self {
        let answer = Arc::new(answer);
        Self { name, answer }
    }

    pub(crate) fn answer(&self, params: &Value) -> Result<Value, Refusal> {
        (self.answer)(params)
    }
}

impl fmt::Debug for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Method").field(&self.name).finish()
    }
}

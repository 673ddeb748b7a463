//! Errors of the modules, as verbs fail with them.

use crate::exit::{Exit, Failure};
use crate::store::StoreError;

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Self::new(Exit::Other, "the store cannot be used").caused_by(error)
    }
}

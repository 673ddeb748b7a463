//! Lists a provider's models.

use tokio::time::Instant;

use super::{HttpModel, live};
use crate::adapter::Adapter;
use crate::model::listing::{ModelInfo, ModelPage};
use crate::model::provider_error::{ErrorKind, ProviderError};
use crate::model::{ModelError, Phase};

/// Pages that are read of one list.
const MAX_PAGES: usize = 20;
/// Bytes that are read of one page.
const MAX_PAGE_BYTES: usize = 16 << 20;

impl<A: Adapter> HttpModel<A> {
    /// Lists the provider's models, in its own order. Nothing is retried.
    ///
    /// ```no_run
    /// use provider_adapters::{Anthropic, HttpModel};
    ///
    /// # async fn run() -> Result<(), provider_adapters::ModelError> {
    /// for model in HttpModel::from_env(Anthropic::default())?.models().await? {
    ///     println!("{}", model.id);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ModelError::Setup`] if the wire has no list of models; otherwise as for a request.
    pub async fn models(&self) -> Result<Vec<ModelInfo>, ModelError> {
        let deadline = self.timeouts.total.map(|total| Instant::now() + total);
        let mut models = Vec::new();
        let mut after: Option<String> = None;
        for _ in 0..MAX_PAGES {
            let Some(request) = self.adapter.models_request(after.as_deref()) else {
                return Err(ModelError::Setup(
                    "the provider has no list of models".into(),
                ));
            };
            let reached = self.send(&request, deadline).await;
            let mut reached = reached.map_err(|failure| failure.error)?;
            let read = reached.body.read_up_to(MAX_PAGE_BYTES);
            let body = live::within(Phase::Idle, self.timeouts.idle, deadline, read).await?;
            let page = ModelPage::read(&body).ok_or_else(|| {
                let message = "the list of models could not be read";
                ModelError::Provider(Box::new(ProviderError::new(ErrorKind::Malformed, message)))
            })?;
            models.extend(page.models);
            if page.next.is_none() || page.next == after {
                break;
            }
            after = page.next;
        }
        Ok(models)
    }
}

//! Assertions: signed tokens about us from an identity provider or a platform.

use std::fmt;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;

use mcp_transport::{BoxError, Secret};

/// The source of an assertion; called each time one is required, because they are short-lived.
#[derive(Clone)]
pub struct Assertion {
    source: Source,
}

type Answer = Pin<Box<dyn Future<Output = Result<String, BoxError>> + Send>>;
type Source = Arc<dyn Fn(AssertionRequest) -> Answer + Send + Sync>;

/// The purpose of an assertion.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct AssertionRequest {
    /// The authorization server that reads it: its audience.
    pub issuer: String,
    /// The resource the token is for.
    pub resource: String,
}

impl Assertion {
    /// A fixed assertion.
    pub fn fixed(token: impl Into<String>) -> Self {
        let token = Secret::new(token);
        Self::from_fn(move |_| std::future::ready(Ok(token.expose().to_owned())))
    }

    /// The current content of a file, which platforms keep up to date.
    pub fn from_file(path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        Self::from_fn(move |_| {
            let path = path.clone();
            async move {
                let read = tokio::task::spawn_blocking(move || std::fs::read_to_string(path));
                Ok(read.await??.trim().to_owned())
            }
        })
    }

    /// The result of a function.
    pub fn from_fn<F, R>(source: F) -> Self
    where
        F: Fn(AssertionRequest) -> R + Send + Sync + 'static,
        R: Future<Output = Result<String, BoxError>> + Send + 'static,
    {
        let source: Source = Arc::new(move |request| Box::pin(source(request)));
        Self { source }
    }

    pub(crate) async fn obtain(&self, request: AssertionRequest) -> Result<Secret, BoxError> {
        (self.source)(request).await.map(Secret::new)
    }
}

impl fmt::Debug for Assertion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Assertion(…)")
    }
}

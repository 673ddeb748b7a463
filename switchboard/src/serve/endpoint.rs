//! Something else than the page, served by the same rules: who can reach it, how many connections there may be.

use std::sync::Arc;

use axum::Router;
use tokio::net::TcpListener;
use tokio::sync::watch;

use super::listen::{Door, Limits, serve};
use super::reach::Reach;
use super::tls::Certificate;
use crate::exit::{Exit, Failure};

/// A listener of its own.
pub(crate) struct Endpoint {
    door: Door,
    url: String,
}

impl Endpoint {
    /// Listens where `reach` says.
    pub(crate) async fn open(reach: Reach) -> Result<Self, Failure> {
        let listen = reach.listen;
        let failed = |error: std::io::Error| {
            Failure::new(Exit::Other, format!("could not listen on {listen}")).caused_by(error)
        };
        let certificate = reach.tls.clone().map(Certificate::open).transpose()?;
        let listener = TcpListener::bind(listen).await.map_err(failed)?;
        let url = reach.url(listener.local_addr().map_err(failed)?);
        let reach = Arc::new(reach);
        let door = Door {
            listener,
            reach,
            certificate,
        };
        Ok(Self { door, url })
    }

    /// The origin by which clients reach it.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// The name by which other machines ask for it, if it has one.
    pub(crate) fn host(&self) -> Option<&str> {
        self.door.reach.public_url.as_ref()?.host_str()
    }

    /// Serves until the future is dropped.
    pub(crate) async fn serve(self, router: Router) {
        let (_open, closing) = watch::channel(false);
        serve(self.door, router, Limits::default(), closing).await;
    }
}

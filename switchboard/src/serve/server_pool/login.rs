//! Logging in to a server, while its user looks at the page.

use std::sync::Arc;

use mcp_auth::{Authorizer, LoginPrompt};
use mcp_manager::ServerConfig;
use mcp_transport::BoxError;
use parking_lot::Mutex;
use tokio::sync::oneshot;

use super::user_servers::UserServers;
use crate::exit::Failure;
use crate::servers::doctor::{Finding, diagnose};
use crate::servers::{self, ShowLogin, log_in};
use crate::store::{Change, Server, TokenRef};

impl UserServers {
    /// Starts a login. Returns the login page; `None` if no login is needed. The connection is made
    /// as soon as the login is.
    pub(crate) async fn log_in(
        self: &Arc<Self>,
        row: &Server,
        authorizer: impl FnOnce(ShowLogin) -> Arc<dyn Authorizer> + Send + 'static,
    ) -> Result<Option<String>, Finding> {
        let config = self.allowed(row).await?;
        let (page, shown) = oneshot::channel();
        let page = Mutex::new(Some(page));
        let show = move |prompt: &LoginPrompt| -> Result<(), BoxError> {
            if let Some(page) = page.lock().take() {
                // The caller may be gone.
                let _ = page.send(prompt.url.clone());
            }
            Ok(())
        };
        let user_servers = Arc::downgrade(self);
        let (user, who, how) = (self.user.clone(), row.clone(), config);
        let network = self.network();
        let login = tokio::spawn(async move {
            let done = log_in(&user, (how.clone(), network), authorizer, show).await;
            let done = done.map_err(|error| diagnose(&how, &error));
            if let Some(user_servers) = user_servers.upgrade() {
                user_servers.logged_in(&who, &how, &done).await;
            }
            done.map(drop)
        });
        let earlier = self
            .logins
            .lock()
            .insert(row.id.clone(), login.abort_handle());
        if let Some(earlier) = earlier {
            earlier.abort();
        }
        match shown.await {
            Ok(url) => Ok(Some(url)),
            // It ended without a page.
            Err(_) => match login.await {
                Ok(done) => done.map(|()| None),
                Err(_) => Ok(None),
            },
        }
    }

    /// A login has ended, one way or the other.
    async fn logged_in(
        &self,
        row: &Server,
        config: &ServerConfig,
        done: &Result<Option<String>, Finding>,
    ) {
        self.logins.lock().remove(&row.id);
        let mut changes = Vec::new();
        match done {
            Ok(issuer) => {
                let token = issuer.as_ref();
                let token = token.map(|issuer| TokenRef::new(issuer, row.id.clone(), "tokens"));
                changes.extend(token.map(Change::PutToken));
                // The connection may be waiting for this login. Its state shows the outcome.
                let _ = self.manager.connect_one(config.clone()).await;
            }
            Err(finding) => self.found(&row.id, Some(finding.clone())),
        }
        let _ = self.commit(row, changes).await;
    }

    /// Forgets the login to a server, and closes the connection that was made with it.
    pub(crate) async fn log_out(&self, row: &Server) -> Result<(), Failure> {
        servers::log_out(row, (self.host(), self.network())).await?;
        self.disconnect(row).await;
        let forget = vec![Change::DeleteTokens(row.id.clone())];
        Ok(self.commit(row, forget).await?)
    }
}

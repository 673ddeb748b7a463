//! Flags of a login: which OAuth client we are, and whether a person may log in now.

use std::sync::Arc;

use clap::Args;
use mcp_auth::{LoginPrompt, LoopbackAuthorizer, RegisteredClient};

use super::connector::OAuthClient;
use crate::cli::{browser, reference};
use crate::display::out::{Color, Mode, Out};
use crate::display::untrusted;
use crate::exit::Failure;
use crate::home;
use crate::models::find_key;
use crate::store::StoredValue;

/// Flags of a login.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct OAuthFlags {
    /// OAuth client id, where the authorization server knows us already
    #[arg(long, value_name = "ID", help_heading = "Server for this once")]
    client_id: Option<String>,
    /// Where the OAuth client's secret is: env:NAME or keyring:ID
    #[arg(
        long,
        value_name = "REFERENCE",
        requires = "client_id",
        value_parser = reference,
        help_heading = "Server for this once"
    )]
    client_secret: Option<StoredValue>,
    /// Address of the OAuth client's metadata document
    #[arg(
        long,
        value_name = "URL",
        conflicts_with = "client_id",
        help_heading = "Server for this once"
    )]
    client_metadata_url: Option<String>,
    /// Where the login page leads back to: a loopback address
    #[arg(
        long,
        value_name = "URL",
        requires = "login",
        help_heading = "Server for this once"
    )]
    callback_url: Option<String>,
    /// Log in to a server that asks for it
    #[arg(long, help_heading = "Server for this once")]
    pub(super) login: bool,
}

impl OAuthFlags {
    /// The first of these flags that is given.
    pub(super) fn first(&self) -> Option<&'static str> {
        let given = [
            (self.client_id.is_some(), "--client-id"),
            (self.client_metadata_url.is_some(), "--client-metadata-url"),
            (self.login, "--login"),
        ];
        given
            .into_iter()
            .find_map(|(given, flag)| given.then_some(flag))
    }

    /// The client that these flags describe.
    pub(super) async fn client(&self) -> Result<OAuthClient, Failure> {
        let mut client = OAuthClient {
            document: self.client_metadata_url.clone(),
            ..OAuthClient::default()
        };
        if let Some(id) = &self.client_id {
            let mut registered = RegisteredClient::new(id);
            if let Some(reference) = &self.client_secret {
                let secret = find_key(reference, &home::environment).await?;
                registered = registered.with_secret(secret.expose());
            }
            client.registered = Some(registered);
        }
        if self.login {
            let mut authorizer = LoopbackAuthorizer::new(show);
            if let Some(url) = &self.callback_url {
                authorizer = authorizer.with_redirect_uri(url);
            }
            client.authorizer = Some(Arc::new(authorizer));
        }
        Ok(client)
    }
}

/// Shows the login page: its address, and the page itself where a person sits.
fn show(login: &LoginPrompt) -> Result<(), mcp_transport::BoxError> {
    let out = Out::new(Mode::Text, Color::Never);
    let (who, url) = (untrusted::line(&login.issuer), untrusted::line(&login.url));
    out.remark(format!("Log in at {who}:\n  {url}"));
    if out.is_interactive() {
        // The URL can be opened on another machine.
        let _ = browser::open(&login.url);
    }
    Ok(())
}

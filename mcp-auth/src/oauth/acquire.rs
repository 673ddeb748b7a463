//! Acquires a token after a refusal.

use mcp_transport::Secret;
use tracing::debug;

use crate::discovery::Discovery;
use crate::discovery::challenge::Demand;
use crate::discovery::resource::ResourceMetadata;
use crate::identity::client::Client;
use crate::oauth::config::{Dpop, Grant};
use crate::oauth::engine::Engine;
use crate::oauth::session::Session;
use crate::token::dpop::DpopKey;
use crate::token::form::Form;
use crate::token::scope::Scopes;
use crate::token::terms::Terms;
use crate::token::token_endpoint::TokenRequest;
use crate::token::{Lifetime, TokenKind};
use crate::{AuthError, Violation, clock};

const JWT_BEARER: &str = "urn:ietf:params:oauth:grant-type:jwt-bearer";

/// The requirement of a refusal.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Need {
    /// A token that is accepted.
    Token,
    /// A token with more scopes. Refreshing cannot give that.
    Scope,
}

impl Engine {
    /// Gets a token to replace `sent`, which was rejected with this demand.
    pub(crate) async fn acquire(
        &self,
        need: Need,
        demand: &Demand,
        sent: Option<&Secret>,
    ) -> Result<(), AuthError> {
        if let Some(session) = self.adopt(sent).await?
            && demand_met(need, demand, &session)
        {
            return Ok(());
        }
        let held = self.held();
        let discovery = Discovery {
            http: &self.http,
            limits: &self.config.limits,
            server: &self.server.url,
        };
        // Discovered each time: the server may have moved to another authorization server.
        let resource = discovery.resource(demand).await?;
        if need == Need::Token
            && let Some(held) = held
                .as_deref()
                .filter(|held| renewable(held, resource.as_ref()))
        {
            match self.refresh(held).await {
                Err(AuthError::Rejected { error, .. }) if error == "invalid_client" => {
                    self.forget_registration(&held.issuer).await;
                }
                Err(AuthError::Rejected { .. } | AuthError::Malformed { .. }) => {}
                outcome => return outcome,
            }
        }
        let bound = self
            .config
            .registered
            .as_ref()
            .and_then(|client| client.issuer.as_deref());
        let known = bound.or(held.as_ref().map(|held| held.issuer.as_str()));
        let metadata = discovery.server(resource.as_ref(), known).await?;
        debug!(server = %self.shown(), issuer = metadata.issuer, "found the authorization server");
        self.own_client(&metadata.issuer, held.as_deref())?;
        let terms = Terms::settle(
            &self.config,
            &self.server.text,
            demand,
            resource.as_ref(),
            metadata,
            held.as_deref(),
        );
        let session = match &self.config.grant {
            Grant::Login => self.login(&terms).await?,
            Grant::ClientCredentials => {
                let form = Form::grant("client_credentials");
                self.machine(&terms, form, "asking for a token").await?
            }
            Grant::Enterprise(login) => {
                let assertion = self.identity_assertion(login, &terms).await?;
                self.bearer_grant(&terms, &assertion).await?
            }
            Grant::Workload(assertion) => {
                let assertion = self.vouched(assertion, &terms).await?;
                self.bearer_grant(&terms, &assertion).await?
            }
        };
        debug!(server = %self.shown(), scope = %session.scope, "got a token");
        self.landed(session, terms.scope).await;
        Ok(())
    }

    /// Checks that a configured client belongs to this authorization server.
    fn own_client(&self, issuer: &str, held: Option<&Session>) -> Result<(), AuthError> {
        let Some(registered) = &self.config.registered else {
            return Ok(());
        };
        let used_with = held
            .filter(|held| {
                held.client
                    .as_ref()
                    .is_some_and(|client| client.id == registered.id)
            })
            .map(|held| held.issuer.as_str());
        match registered.issuer.as_deref().or(used_with) {
            Some(home) if home != issuer => Err(self.http.refused(Violation::ForeignClient {
                issuer: issuer.to_owned(),
                registered_with: home.to_owned(),
            })),
            _ => Ok(()),
        }
    }

    async fn bearer_grant(&self, terms: &Terms, assertion: &Secret) -> Result<Session, AuthError> {
        let form = Form::grant(JWT_BEARER).with_secret("assertion", assertion);
        self.machine(terms, form, "presenting the assertion").await
    }

    /// A grant without a person: one request, which is not repeated after a refusal.
    async fn machine(
        &self,
        terms: &Terms,
        form: Form,
        action: &'static str,
    ) -> Result<Session, AuthError> {
        let supported = terms.metadata.auth_methods.as_deref();
        let client = self
            .config
            .registered
            .as_ref()
            .map(|client| Client::registered(client, supported));
        let form = form.with_some("scope", terms.scope_parameter());
        self.ask(terms, client, form, action).await
    }

    /// Requests a token and turns the response into a session.
    pub(crate) async fn ask(
        &self,
        terms: &Terms,
        client: Option<Client>,
        form: Form,
        action: &'static str,
    ) -> Result<Session, AuthError> {
        let endpoint = terms.metadata.token_endpoint.as_deref().ok_or_else(|| {
            AuthError::malformed(
                &terms.metadata.issuer,
                "its metadata names no token endpoint",
            )
        })?;
        let key = if terms.dpop {
            Some(DpopKey::generate()?)
        } else {
            None
        };
        let request = TokenRequest {
            action,
            endpoint,
            issuer: &terms.metadata.issuer,
            client: client.as_ref(),
            key: key.as_ref(),
            form: form.with_some("resource", terms.resource.as_deref()),
        };
        let issued = request.send(&self.http, &self.nonces).await?;
        if issued.kind == TokenKind::Bearer && self.config.dpop == Dpop::Always {
            return Err(AuthError::malformed(
                endpoint,
                "the token is not bound to our key",
            ));
        }
        Ok(Session {
            issuer: terms.metadata.issuer.clone(),
            token_endpoint: endpoint.to_owned(),
            resource: terms.resource.clone(),
            client,
            key: key.filter(|_| issued.kind == TokenKind::Dpop),
            access: issued.access,
            refresh: issued.refresh,
            kind: issued.kind,
            scope: issued.scope.unwrap_or_else(|| terms.scope.clone()),
            lifetime: Lifetime::starting(clock::now(), issued.expires_in),
        })
    }

    /// Stores the result of a complete authorization.
    async fn landed(&self, session: Session, asked: Scopes) {
        {
            let mut state = self.state.lock();
            state.fresh = Some(session.access.clone());
            state.refused = None;
            state.asked = Some(asked);
        }
        self.keep(session).await;
    }
}

fn demand_met(need: Need, demand: &Demand, session: &Session) -> bool {
    need == Need::Token || demand.scope.is_subset(&session.scope)
}

/// Whether a refresh token may still be sent to its issuer.
fn renewable(session: &Session, resource: Option<&ResourceMetadata>) -> bool {
    let named = resource.map_or(&[][..], |resource| &resource.authorization_servers);
    session.refresh.is_some() && (named.is_empty() || named.contains(&session.issuer))
}

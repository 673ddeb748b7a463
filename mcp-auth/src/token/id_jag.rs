//! Enterprise-managed authorization: the company's identity provider vouches for its employee, who does not have to log
//! in again (Identity Assertion JWT Authorization Grant).

use mcp_transport::Secret;

use crate::AuthError;
use crate::identity::assertion::{Assertion, AssertionRequest};
use crate::identity::client::{Client, RegisteredClient};
use crate::oauth::engine::Engine;
use crate::token::form::Form;
use crate::token::terms::Terms;
use crate::token::token_endpoint::TokenRequest;

const EXCHANGE: &str = "urn:ietf:params:oauth:grant-type:token-exchange";
const ID_JAG: &str = "urn:ietf:params:oauth:token-type:id-jag";
const ID_TOKEN: &str = "urn:ietf:params:oauth:token-type:id_token";

/// A company's identity provider and an existing login there.
#[derive(Clone, Debug)]
pub struct EnterpriseLogin {
    pub(crate) token_endpoint: String,
    pub(crate) client: RegisteredClient,
    pub(crate) id_token: Assertion,
}

impl EnterpriseLogin {
    /// `token_endpoint` is that of the identity provider, where `client` is registered, and `id_token` is the token it
    /// issued when the person logged in.
    pub fn new(
        token_endpoint: impl Into<String>,
        client: RegisteredClient,
        id_token: Assertion,
    ) -> Self {
        Self {
            token_endpoint: token_endpoint.into(),
            client,
            id_token,
        }
    }
}

impl Engine {
    /// Exchanges the identity provider's token for one for our authorization server.
    pub(crate) async fn identity_assertion(
        &self,
        login: &EnterpriseLogin,
        terms: &Terms,
    ) -> Result<Secret, AuthError> {
        let id_token = self.vouched(&login.id_token, terms).await?;
        let client = Client::registered(&login.client, None);
        let form = Form::grant(EXCHANGE)
            .with("requested_token_type", ID_JAG)
            .with("audience", &terms.metadata.issuer)
            .with_some("resource", terms.resource.as_deref())
            .with_some("scope", terms.scope_parameter())
            .with_secret("subject_token", &id_token)
            .with("subject_token_type", ID_TOKEN);
        let request = TokenRequest {
            action: "asking the identity provider",
            endpoint: &login.token_endpoint,
            issuer: login
                .client
                .issuer
                .as_deref()
                .unwrap_or(&login.token_endpoint),
            client: Some(&client),
            key: None,
            form,
        };
        let issued = request.send(&self.http, &self.nonces).await?;
        match issued.issued_type.as_deref() {
            Some(ID_JAG) => Ok(issued.access),
            _ => Err(AuthError::malformed(
                &login.token_endpoint,
                "it gave another kind of token",
            )),
        }
    }

    /// The identity provider's assertion about us.
    pub(crate) async fn vouched(
        &self,
        assertion: &Assertion,
        terms: &Terms,
    ) -> Result<Secret, AuthError> {
        let request = AssertionRequest {
            issuer: terms.metadata.issuer.clone(),
            resource: terms.resource.clone().unwrap_or_default(),
        };
        self.by_host(assertion.obtain(request)).await
    }
}

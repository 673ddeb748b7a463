//! A token request, sent at most twice: the first response may supply a DPoP nonce.

use mcp_transport::Secret;

use crate::AuthError;
use crate::http::guard::{printable, shown};
use crate::http::{Body, Http};
use crate::identity::client::Client;
use crate::token::dpop::{DpopKey, Nonces, Proof};
use crate::token::form::Form;
use crate::token::{self, Issued, NotIssued, TokenKind};

/// A request for a token.
#[derive(Debug)]
pub(crate) struct TokenRequest<'a> {
    /// The operation, for errors.
    pub(crate) action: &'static str,
    pub(crate) endpoint: &'a str,
    /// The issuer, which is the audience of a client assertion.
    pub(crate) issuer: &'a str,
    pub(crate) client: Option<&'a Client>,
    /// The key to bind the token to.
    pub(crate) key: Option<&'a DpopKey>,
    pub(crate) form: Form,
}

impl TokenRequest<'_> {
    pub(crate) async fn send(self, http: &Http, nonces: &Nonces) -> Result<Issued, AuthError> {
        let (mut form, mut authorization) = (self.form, None);
        if let Some(client) = self.client {
            (form, authorization) = client.authenticate(form, self.issuer)?;
        }
        let mut nonce = nonces.get(self.endpoint);
        let mut retried = false;
        loop {
            let mut headers: Vec<(&'static str, Secret)> = authorization
                .iter()
                .map(|value| ("authorization", value.clone()))
                .collect();
            if let Some(key) = self.key {
                let proof = Proof {
                    method: "POST",
                    url: self.endpoint,
                    token: None,
                    nonce: nonce.clone(),
                };
                headers.push(("dpop", key.proof(&proof)?));
            }
            let reply = http
                .post(self.endpoint, Body::Form(form.encode()), &headers)
                .await?;
            if let Some(fresh) = &reply.dpop_nonce {
                nonces.note(self.endpoint, fresh);
            }
            let url = shown(self.endpoint);
            return match token::read(reply.status, &reply.body) {
                Ok(issued) if issued.kind == TokenKind::Dpop && self.key.is_none() => Err(
                    AuthError::malformed(url, "the token is bound to a key no one showed it"),
                ),
                Ok(issued) => Ok(issued),
                Err(NotIssued::Rejected { error, .. })
                    if error == "use_dpop_nonce" && !retried && reply.dpop_nonce.is_some() =>
                {
                    nonce = reply.dpop_nonce;
                    retried = true;
                    continue;
                }
                Err(NotIssued::Rejected { error, description }) => {
                    let shown = |words: String| printable(&form.redact(&words));
                    Err(AuthError::Rejected {
                        action: self.action,
                        url,
                        error: shown(error),
                        description: description.map(shown),
                    })
                }
                Err(NotIssued::Failing { detail }) => Err(AuthError::unavailable(url, detail)),
                Err(NotIssued::Malformed { detail }) => Err(AuthError::malformed(url, detail)),
            };
        }
    }
}

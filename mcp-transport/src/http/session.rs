//! The session of the legacy era: assigned in the response to `initialize` only, sent with everything
//! after it, ended by a 404.

use reqwest::header::HeaderValue;

use crate::TransportError;

/// The state of the session.
#[derive(Debug, Default)]
pub(crate) enum Session {
    /// The server has not assigned one.
    #[default]
    None,
    /// Everything but `initialize` carries this id.
    Active(SessionId),
    /// The server no longer knows it. Only `initialize` makes sense now.
    Expired,
}

/// A session's id. It is a secret: it identifies us to the server.
#[derive(Clone, Eq, PartialEq)]
pub(crate) struct SessionId(HeaderValue);

impl Session {
    /// Takes the session id, or its absence, from the response to `initialize`.
    pub(crate) fn begin(
        &mut self,
        header: Option<&HeaderValue>,
    ) -> Result<Option<SessionId>, TransportError> {
        *self = Self::None;
        let Some(id) = header else { return Ok(None) };
        if !is_visible_ascii(id.as_bytes()) {
            return Err(TransportError::Malformed {
                detail: "its session id has characters outside visible ASCII".to_owned(),
            });
        }
        let mut id = id.clone();
        id.set_sensitive(true);
        *self = Self::Active(SessionId(id));
        self.id()
    }

    /// The id to send, if there is one.
    pub(crate) fn id(&self) -> Result<Option<SessionId>, TransportError> {
        match self {
            Self::None => Ok(None),
            Self::Active(id) => Ok(Some(id.clone())),
            Self::Expired => Err(TransportError::SessionExpired),
        }
    }

    /// Marks the session `used` as unknown to the server. A late response about an earlier session does not affect the
    /// current one.
    pub(crate) fn expire(&mut self, used: &SessionId) {
        if matches!(self, Self::Active(id) if id == used) {
            *self = Self::Expired;
        }
    }

    /// Ends the session and returns its id, for the `DELETE` request.
    pub(crate) fn take(&mut self) -> Option<SessionId> {
        match std::mem::take(self) {
            Self::Active(id) => Some(id),
            Self::None | Self::Expired => None,
        }
    }
}

impl SessionId {
    /// The header's value.
    pub(crate) fn header(&self) -> HeaderValue {
        self.0.clone()
    }
}

impl std::fmt::Debug for SessionId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("…")
    }
}

fn is_visible_ascii(id: &[u8]) -> bool {
    !id.is_empty() && id.iter().all(u8::is_ascii_graphic)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(id: &str) -> HeaderValue {
        HeaderValue::from_bytes(id.as_bytes()).unwrap()
    }

    fn active(id: &str) -> (Session, SessionId) {
        let mut session = Session::default();
        session.begin(Some(&header(id))).unwrap();
        let id = session.id().unwrap().unwrap();
        (session, id)
    }

    #[test]
    fn any_visible_ascii_of_any_length_is_a_session() {
        let odd = "!#$%&'*+-.^_`|~{}[]\\\"@/?=<>:;,()";
        let long = "x".repeat(6_000);
        for text in [odd, long.as_str()] {
            assert_eq!(active(text).1.header(), header(text));
        }
    }

    #[test]
    fn an_id_outside_visible_ascii_is_refused() {
        for text in ["", "a b", "é"] {
            let mut session = Session::default();
            assert!(session.begin(Some(&header(text))).is_err(), "{text}");
            assert_eq!(session.id().unwrap(), None);
        }
    }

    #[test]
    fn a_late_404_of_an_old_session_leaves_the_new_one_alone() {
        let (mut session, old) = active("old");
        session.expire(&old);
        assert!(matches!(session.id(), Err(TransportError::SessionExpired)));
        session.begin(Some(&header("new"))).unwrap();
        session.expire(&old);
        assert_eq!(session.id().unwrap().unwrap().header(), header("new"));
    }

    #[test]
    fn an_initialize_without_a_session_id_ends_the_old_session() {
        let (mut session, _) = active("old");
        session.begin(None).unwrap();
        assert_eq!(session.id().unwrap(), None);
        assert!(session.take().is_none());
    }

    #[test]
    fn a_session_id_is_not_printed() {
        let (session, _) = active("secret");
        assert_eq!(format!("{session:?}"), "Active(…)");
    }
}

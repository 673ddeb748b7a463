//! The page's cookies: out of the reach of scripts and of other sites.

use std::time::Duration;

use axum::http::{HeaderMap, HeaderValue, header};

/// A cookie.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Cookie {
    /// Who is logged in.
    Session,
    /// Which browser began a login.
    Login,
    /// Which browser began a login to a server.
    ServerLogin,
}

impl Cookie {
    /// Its name. With TLS its prefix makes browsers refuse it from other hosts and without TLS.
    pub(crate) const fn name(self, is_secure: bool) -> &'static str {
        match (self, is_secure) {
            (Self::Session, true) => "__Host-switchboard",
            (Self::Session, false) => "switchboard",
            (Self::Login, true) => "__Host-switchboard-login",
            (Self::Login, false) => "switchboard-login",
            (Self::ServerLogin, true) => "__Host-switchboard-server-login",
            (Self::ServerLogin, false) => "switchboard-server-login",
        }
    }

    /// Sets it, for this long; an empty value removes it.
    pub(crate) fn set(self, is_secure: bool, value: &str, age: Duration) -> Option<HeaderValue> {
        let (name, age) = (self.name(is_secure), age.as_secs());
        let secure = if is_secure { "; Secure" } else { "" };
        // A login comes back by a link on another site; a session is for our own page only.
        let site = match self {
            Self::Session => "Strict",
            Self::Login | Self::ServerLogin => "Lax",
        };
        let text =
            format!("{name}={value}; Path=/; Max-Age={age}; HttpOnly{secure}; SameSite={site}");
        HeaderValue::from_str(&text).ok()
    }
}

/// The value of the cookie of this name. One that comes twice counts as none: another one was
/// planted beside it.
pub(crate) fn read(headers: &HeaderMap, name: &str) -> Option<String> {
    let lines = headers.get_all(header::COOKIE).iter();
    let pairs = lines.filter_map(|line| line.to_str().ok());
    let mut found = pairs
        .flat_map(|line| line.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .filter(|(key, _)| *key == name)
        .map(|(_, value)| value.to_owned());
    match (found.next(), found.next()) {
        (Some(value), None) => Some(value).filter(|value| !value.is_empty()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cookie_is_read_by_its_whole_name_and_only_if_there_is_one() {
        let read = |text: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::COOKIE, HeaderValue::from_str(text).unwrap());
            super::read(&headers, "switchboard")
        };
        assert_eq!(read("a=b; switchboard=x").as_deref(), Some("x"));
        assert_eq!(read("switchboard-login=x; xswitchboard=y"), None);
        assert_eq!(read("switchboard=x; switchboard=y"), None);
        assert_eq!(read("switchboard="), None);
    }

    #[test]
    fn cookies_are_out_of_the_reach_of_scripts_and_other_sites() {
        let set = |cookie: Cookie| {
            let value = cookie.set(true, "v", Duration::from_secs(5)).unwrap();
            value.to_str().unwrap().to_owned()
        };
        insta::assert_snapshot!(set(Cookie::Session), @"__Host-switchboard=v; Path=/; Max-Age=5; HttpOnly; Secure; SameSite=Strict");
        insta::assert_snapshot!(set(Cookie::Login), @"__Host-switchboard-login=v; Path=/; Max-Age=5; HttpOnly; Secure; SameSite=Lax");
    }
}

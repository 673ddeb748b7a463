//! The authorization response, and its verification (RFC 6749, section 4.1.2; RFC 9207).

use std::fmt;

use mcp_transport::Secret;
use url::form_urlencoded;

use crate::Violation;
use crate::http::guard::printable;

/// The values a login's response must match.
pub(crate) struct Expected<'a> {
    /// The state we sent.
    pub(crate) state: &'a Secret,
    /// The issuer we asked; `None` if it is only presumed.
    pub(crate) issuer: Option<&'a str>,
    /// Whether that issuer declares `iss` in its responses.
    pub(crate) names_itself: bool,
}

/// The reason why a response has no code.
#[derive(Debug, Eq, PartialEq)]
pub(crate) enum NoCode {
    /// The response is not authentic.
    Refused(Violation),
    /// The response is authentic, but an error.
    Denied {
        /// The error code.
        error: String,
        /// The authorization server's description.
        description: Option<String>,
    },
    /// The response has neither code nor error.
    Empty,
}

/// Extracts the code from the URL, or the pasted query, that ended a login.
///
/// Problems are reported in this order: a wrong state, a wrong issuer, and only then an error, because the text of an
/// unauthenticated response must not be shown.
pub(crate) fn code(answer: &str, expected: &Expected<'_>) -> Result<Secret, NoCode> {
    let answer = Answer::read(answer);
    let state = answer
        .one("state")
        .ok_or(NoCode::Refused(Violation::State))?;
    if !same(state, expected.state.expose()) {
        return Err(NoCode::Refused(Violation::State));
    }
    if let Some(issuer) = expected.issuer {
        let found = answer.all("iss");
        let genuine = match *found.as_slice() {
            [] => !expected.names_itself,
            [one] => one == issuer,
            _ => false,
        };
        if !genuine {
            return Err(NoCode::Refused(Violation::CallbackIssuer {
                expected: issuer.to_owned(),
                found: found.first().map(|found| printable(found)),
            }));
        }
    }
    if let Some(error) = answer.one("error") {
        return Err(NoCode::Denied {
            error: printable(error),
            description: answer.one("error_description").map(printable),
        });
    }
    match answer.one("code") {
        Some(code) if !code.is_empty() => Ok(Secret::new(code)),
        _ => Err(NoCode::Empty),
    }
}

/// Parameters in order; a name that occurs twice is ignored.
struct Answer(Vec<(String, String)>);

impl Answer {
    /// Parses a whole URL, `?a=b` or `a=b`, with the spaces and quotes that pasting may add.
    fn read(raw: &str) -> Self {
        let raw = raw.trim().trim_matches(['"', '\'', '<', '>']);
        let raw = raw.split_once('#').map_or(raw, |(before, _)| before);
        let query = raw.split_once('?').map_or(raw, |(_, query)| query);
        Self(
            form_urlencoded::parse(query.as_bytes())
                .into_owned()
                .collect(),
        )
    }

    fn all(&self, name: &str) -> Vec<&str> {
        self.0
            .iter()
            .filter(|(key, _)| key == name)
            .map(|(_, value)| value.as_str())
            .collect()
    }

    fn one(&self, name: &str) -> Option<&str> {
        match *self.all(name).as_slice() {
            [one] => Some(one),
            _ => None,
        }
    }
}

/// Compares in constant time.
fn same(left: &str, right: &str) -> bool {
    left.len() == right.len()
        && left
            .bytes()
            .zip(right.bytes())
            .fold(0, |differ, (a, b)| differ | (a ^ b))
            == 0
}

impl fmt::Debug for Expected<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Expected")
            .field("issuer", &self.issuer)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ISSUER: &str = "https://as.example";

    fn read(answer: &str, issuer: Option<&str>, names_itself: bool) -> Result<Secret, NoCode> {
        code(
            answer,
            &Expected {
                state: &Secret::new("S"),
                issuer,
                names_itself,
            },
        )
    }

    fn foreign(found: Option<&str>) -> Result<Secret, NoCode> {
        Err(NoCode::Refused(Violation::CallbackIssuer {
            expected: ISSUER.to_owned(),
            found: found.map(str::to_owned),
        }))
    }

    #[test]
    fn the_issuer_must_be_the_one_that_was_asked() {
        let code = Ok(Secret::new("C"));
        let good = "http://127.0.0.1:1/callback?code=C&state=S&iss=https%3A%2F%2Fas.example";
        assert_eq!(read(good, Some(ISSUER), true), code);
        assert_eq!(read(good, Some(ISSUER), false), code);
        assert_eq!(read("?code=C&state=S", Some(ISSUER), false), code);
        assert_eq!(read("?code=C&state=S", Some(ISSUER), true), foreign(None));
        for promised in [true, false] {
            let slash = "?code=C&state=S&iss=https://as.example/";
            assert_eq!(
                read(slash, Some(ISSUER), promised),
                foreign(Some("https://as.example/"))
            );
            let twice = "?code=C&state=S&iss=https://as.example&iss=https://evil.example";
            assert_eq!(read(twice, Some(ISSUER), promised), foreign(Some(ISSUER)));
        }
        assert_eq!(
            read("?code=C&state=S&iss=https://whoever", None, false),
            code
        );
    }

    #[test]
    fn a_strangers_error_is_not_shown() {
        let error =
            "?error=access_denied&error_description=pay+me&state=S&iss=https://evil.example";
        assert_eq!(
            read(error, Some(ISSUER), true),
            foreign(Some("https://evil.example"))
        );
        let genuine =
            "?error=access_denied&error_description=not+you&state=S&iss=https://as.example";
        assert_eq!(
            read(genuine, Some(ISSUER), true),
            Err(NoCode::Denied {
                error: "access_denied".into(),
                description: Some("not you".into())
            }),
        );
        assert_eq!(
            read("?error=access_denied&state=T", Some(ISSUER), true),
            Err(NoCode::Refused(Violation::State))
        );
    }

    #[test]
    fn pasted_answers_are_understood() {
        for pasted in [
            " code=C&state=S \n",
            "'http://localhost:3/cb?state=S&code=C#_'",
            "?state=S&code=C",
        ] {
            assert_eq!(
                read(pasted, Some(ISSUER), false),
                Ok(Secret::new("C")),
                "{pasted}"
            );
        }
        assert_eq!(read("?state=S", Some(ISSUER), false), Err(NoCode::Empty));
        assert_eq!(
            read("?state=S&code=C&code=D", Some(ISSUER), false),
            Err(NoCode::Empty)
        );
    }

    proptest! {
        #[test]
        fn no_answer_without_our_state_brings_a_code(answer in any::<String>(), state in "[^S&]{0,5}") {
            prop_assert!(read(&answer, None, false).is_err() || answer.contains("state=S") || answer.contains('%'));
            let forged = format!("?code=C&state={state}");
            prop_assert_eq!(read(&forged, None, false), Err(NoCode::Refused(Violation::State)));
        }
    }
}

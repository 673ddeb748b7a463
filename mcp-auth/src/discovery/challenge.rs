//! The challenges of `WWW-Authenticate` headers (RFC 9110, section 11.6.1).

use crate::token::scope::Scopes;

/// The requirements of one response, over all its challenges.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Demand {
    /// The URL of the protected resource's metadata, as the server wrote it.
    pub(crate) resource_metadata: Option<String>,
    /// The scopes the operation needs.
    pub(crate) scope: Scopes,
    /// `invalid_token`, `insufficient_scope`, `use_dpop_nonce` …
    pub(crate) error: Option<String>,
    /// Whether one of the challenges was for DPoP-bound tokens.
    pub(crate) dpop: bool,
}

/// One challenge: a scheme and its parameters, with names in lower case.
#[derive(Clone, Debug, Eq, PartialEq)]
struct Scheme {
    name: String,
    params: Vec<(String, String)>,
}

impl Demand {
    /// Reads every challenge of every header; other schemes are skipped.
    pub(crate) fn read(headers: &[String]) -> Self {
        let mut demand = Self::default();
        for challenge in headers
            .iter()
            .flat_map(|header| Parser::new(header).challenges())
        {
            match challenge.name.as_str() {
                "dpop" => demand.dpop = true,
                "bearer" => {}
                _ => continue,
            }
            for (name, value) in challenge.params {
                match name.as_str() {
                    "resource_metadata" if demand.resource_metadata.is_none() => {
                        demand.resource_metadata = Some(value);
                    }
                    "scope" => demand.scope = demand.scope.union(&Scopes::parse(&value)),
                    "error" if demand.error.is_none() => demand.error = Some(value),
                    _ => {}
                }
            }
        }
        demand
    }

    /// Whether the refusal names this error.
    pub(crate) fn is_error(&self, error: &str) -> bool {
        self.error.as_deref() == Some(error)
    }
}

/// A cursor over one header. Every step consumes input or ends.
struct Parser<'a> {
    rest: &'a str,
}

impl<'a> Parser<'a> {
    fn new(header: &'a str) -> Self {
        Self { rest: header }
    }

    fn challenges(mut self) -> Vec<Scheme> {
        let mut found = Vec::new();
        loop {
            self.skip(|c| c == ',' || c.is_ascii_whitespace());
            let name = self.token();
            if name.is_empty() {
                let mut chars = self.rest.chars();
                if chars.next().is_none() {
                    return found;
                }
                self.rest = chars.as_str();
                continue;
            }
            let name = name.to_ascii_lowercase();
            self.token68();
            let params = std::iter::from_fn(|| self.param()).collect();
            found.push(Scheme { name, params });
        }
    }

    /// The next parameter of the same challenge; `None` before another scheme or the end.
    fn param(&mut self) -> Option<(String, String)> {
        let start = self.rest;
        self.skip(|c| c == ',' || c.is_ascii_whitespace());
        let name = self.token();
        self.skip(|c| c.is_ascii_whitespace());
        match self.rest.strip_prefix('=') {
            Some(rest) if !name.is_empty() => self.rest = rest,
            _ => {
                self.rest = start;
                return None;
            }
        }
        self.skip(|c| c == ' ' || c == '\t');
        let value = match self.rest.strip_prefix('"') {
            Some(rest) => {
                self.rest = rest;
                self.quoted()
            }
            None => self
                .take(|c| c != ',' && !c.is_ascii_whitespace())
                .to_owned(),
        };
        Some((name.to_ascii_lowercase(), value))
    }

    /// The remainder of a quoted string; a missing end quote is implied at the end of the header.
    fn quoted(&mut self) -> String {
        let mut value = String::new();
        let mut chars = self.rest.chars();
        while let Some(c) = chars.next() {
            match c {
                '"' => break,
                '\\' => value.extend(chars.next()),
                _ => value.push(c),
            }
        }
        self.rest = chars.as_str();
        value
    }

    /// Skips `token68` credentials (`Negotiate YII=`).
    fn token68(&mut self) {
        let start = self.rest;
        self.skip(|c| c == ' ' || c == '\t');
        let body = self.take(|c| c.is_ascii_alphanumeric() || "-._~+/".contains(c));
        self.skip(|c| c == '=');
        let end = self.rest.trim_start_matches([' ', '\t']);
        if body.is_empty() || !(end.is_empty() || end.starts_with(',')) {
            self.rest = start;
        }
    }

    fn token(&mut self) -> &'a str {
        self.take(|c| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c))
    }

    fn take(&mut self, wanted: impl Fn(char) -> bool) -> &'a str {
        let end = self.rest.find(|c| !wanted(c)).unwrap_or(self.rest.len());
        let (taken, rest) = self.rest.split_at(end);
        self.rest = rest;
        taken
    }

    fn skip(&mut self, unwanted: impl Fn(char) -> bool) {
        self.take(unwanted);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(headers: &[&str]) -> Demand {
        Demand::read(&headers.iter().map(|&h| h.to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn a_bearer_challenge_is_read() {
        let demand = read(&[
            r#"Bearer error="invalid_token", scope="a b", resource_metadata="https://h/x?y=1,2""#,
        ]);
        assert_eq!(
            demand.resource_metadata.as_deref(),
            Some("https://h/x?y=1,2")
        );
        assert_eq!(demand.scope, Scopes::parse("a b"));
        assert!(demand.is_error("invalid_token"));
        assert!(!demand.dpop);
    }

    #[test]
    fn every_challenge_counts_wherever_it_is() {
        let demand = read(&[
            r#"Negotiate YIIabc==, Basic realm="a, Bearer scope=\"no\"""#,
            r#"bEaReR scope = first , DPoP algs="ES256", resource_metadata=https://h/p, scope="second""#,
        ]);
        assert_eq!(demand.resource_metadata.as_deref(), Some("https://h/p"));
        assert_eq!(demand.scope, Scopes::parse("first second"));
        assert!(demand.dpop);
    }

    #[test]
    fn sloppy_challenges_are_still_understood() {
        let bare = read(&["Bearer"]);
        assert_eq!(bare, Demand::default());
        let spaces = read(&[r#"Bearer error="insufficient_scope" scope="x" , , "#]);
        assert!(spaces.is_error("insufficient_scope"));
        assert_eq!(spaces.scope, Scopes::parse("x"));
        let unterminated = read(&[r#"Bearer resource_metadata="https://h/p"#]);
        assert_eq!(
            unterminated.resource_metadata.as_deref(),
            Some("https://h/p")
        );
    }

    #[test]
    fn the_first_metadata_url_wins() {
        let demand = read(&[
            "Bearer resource_metadata=https://a",
            "Bearer resource_metadata=https://b",
        ]);
        assert_eq!(demand.resource_metadata.as_deref(), Some("https://a"));
    }

    fn quote(raw: &str) -> String {
        format!("\"{}\"", raw.replace('\\', "\\\\").replace('"', "\\\""))
    }

    proptest! {
        #[test]
        fn reading_never_panics(headers in prop::collection::vec(any::<String>(), 0..4)) {
            Demand::read(&headers);
        }

        #[test]
        fn reading_never_panics_on_near_misses(header in "[BDbearpoP ,=\"\\\\a-z/:]{0,60}") {
            Demand::read(&[header]);
        }

        #[test]
        fn a_quoted_value_survives_whatever_surrounds_it(
            url in "[ -~]{0,40}", error in "[ -~]{0,20}", noise in "[a-z]{1,8}",
        ) {
            let header = format!(
                "Basic realm={}, Bearer {noise}=1, error={}, resource_metadata={}, Digest q=1",
                quote(&error), quote(&error), quote(&url),
            );
            let demand = Demand::read(&[header]);
            prop_assert_eq!(demand.resource_metadata, Some(url));
            prop_assume!(noise != "error");
            prop_assert_eq!(demand.error, Some(error));
        }
    }
}

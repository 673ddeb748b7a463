//! How a model is asked to answer.

use provider_adapters::{Effort, Options};
use serde::{Deserialize, Serialize};

/// The highest temperature that a provider takes.
const HOTTEST: f64 = 2.0;

/// How a model is asked to answer; as its provider does where nothing is set.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub struct ModelOptions {
    /// How varied its words are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// How much it thinks first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effort: Option<Effort>,
    /// How much a reply may hold.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_output_tokens: Option<u64>,
}

impl ModelOptions {
    /// These, and those of `other` where these are not set.
    #[must_use]
    pub fn or(self, other: Option<Self>) -> Self {
        let other = other.unwrap_or_default();
        Self {
            temperature: self.temperature.or(other.temperature),
            effort: self.effort.or(other.effort),
            max_output_tokens: self.max_output_tokens.or(other.max_output_tokens),
        }
    }

    /// Nothing, if nothing is set.
    pub fn given(self) -> Option<Self> {
        (self != Self::default()).then_some(self)
    }

    /// The first member that makes no sense, and what it should be.
    pub fn unfit(&self) -> Option<(&'static str, &'static str)> {
        let fits = |temperature: f64| (0.0..=HOTTEST).contains(&temperature);
        match self {
            it if !it.temperature.is_none_or(fits) => Some(("temperature", "a number from 0 to 2")),
            it if it.max_output_tokens == Some(0) => Some(("maxOutputTokens", "1 or more")),
            _ => None,
        }
    }

    /// As a request has them.
    pub(crate) fn of_request(&self) -> Options {
        let mut options = Options::default();
        options.temperature = self.temperature;
        options.effort = self.effort;
        options.max_output_tokens = self.max_output_tokens;
        options
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_set_nearer_wins_and_the_rest_comes_from_farther() {
        let near = ModelOptions {
            temperature: Some(0.0),
            ..ModelOptions::default()
        };
        let mut far = ModelOptions::default();
        (far.temperature, far.max_output_tokens) = (Some(1.0), Some(7));
        let both = near.or(Some(far));
        assert_eq!(
            (both.temperature, both.max_output_tokens),
            (Some(0.0), Some(7))
        );
        assert_eq!(near.or(None), near);
        assert_eq!(ModelOptions::default().given(), None);
    }

    #[test]
    fn what_no_provider_takes_is_named() {
        let unfit = |text: &str| {
            let options: ModelOptions = serde_json::from_str(text).unwrap();
            options.unfit().map(|(member, _)| member)
        };
        assert_eq!(unfit(r#"{"temperature": 2, "maxOutputTokens": 1}"#), None);
        assert_eq!(unfit(r#"{"temperature": 2.1}"#), Some("temperature"));
        assert_eq!(unfit(r#"{"temperature": -1}"#), Some("temperature"));
        assert_eq!(unfit(r#"{"maxOutputTokens": 0}"#), Some("maxOutputTokens"));
    }
}

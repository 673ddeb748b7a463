//! What models cost: a small table with its date, and the user's own figures.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::models::choice::ChoiceError;

/// What a million tokens cost, in dollars.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Price {
    /// Of the request.
    pub input: f64,
    /// Of the reply.
    pub output: f64,
    /// Of the request, from the provider's cache; the request's price by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_read: Option<f64>,
    /// Of the request, into the provider's cache; the request's price by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_write: Option<f64>,
}

impl Price {
    /// What a setting of a price must be.
    pub(crate) const WANTS: &str =
        r#"dollars per million tokens: {"input": 1, "output": 2}, with cache_read, cache_write"#;

    /// A price as a setting has it: no member that is not known, and no negative amount.
    pub(crate) fn read(value: &Value) -> Option<Self> {
        let price: Self = serde_json::from_value(value.clone()).ok()?;
        let cached = [price.cache_read, price.cache_write];
        let amounts = [price.input, price.output].into_iter();
        let mut amounts = amounts.chain(cached.into_iter().flatten());
        amounts.all(|amount| amount >= 0.0).then_some(price)
    }
}

/// Prices of models. For a model without a price, only tokens are reported.
#[derive(Clone, Debug, Deserialize)]
pub struct PriceTable {
    as_of: String,
    models: BTreeMap<String, Price>,
}

impl PriceTable {
    /// The table this program was built with, and what the settings `prices.MODEL` say.
    ///
    /// # Errors
    /// If a setting is no price.
    pub fn new(settings: &BTreeMap<String, Value>) -> Result<Self, ChoiceError> {
        let mut table = Self::built_in();
        for (key, value) in settings {
            if let Some(model) = key.strip_prefix("prices.") {
                let price = Price::read(value).ok_or_else(|| ChoiceError::Setting {
                    key: key.clone(),
                    wants: Price::WANTS,
                })?;
                table.models.insert(model.to_owned(), price);
            }
        }
        Ok(table)
    }

    fn built_in() -> Self {
        serde_json::from_str(include_str!("prices.json")).unwrap_or_else(|_| Self {
            as_of: String::new(),
            models: BTreeMap::new(),
        })
    }

    /// The day of the built-in figures.
    pub fn as_of(&self) -> &str {
        &self.as_of
    }

    /// The price of a model, with or without a date at the end of its name.
    pub fn find(&self, model: &str) -> Option<Price> {
        let bare = model.rsplit('/').next().unwrap_or(model);
        let found = [model, bare, undated(bare)];
        found
            .iter()
            .find_map(|name| self.models.get(*name).copied())
    }
}

/// A name without the `-20250929` or `-2025-08-07` at its end.
fn undated(name: &str) -> &str {
    let is_date = |text: &str| {
        let digits = text.bytes().filter(u8::is_ascii_digit).count();
        let others = text
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'-');
        digits == 8 && others
    };
    let cuts = [9, 11].map(|length| name.len().checked_sub(length));
    let mut cuts = cuts
        .iter()
        .flatten()
        .filter_map(|at| name.split_at_checked(*at));
    cuts.find(|(_, end)| end.strip_prefix('-').is_some_and(is_date))
        .map_or(name, |(bare, _)| bare)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_table_is_read_whole_and_has_a_date() {
        let raw: Value = serde_json::from_str(include_str!("prices.json")).unwrap();
        let table = PriceTable::built_in();
        assert_eq!(table.models.len(), raw["models"].as_object().unwrap().len());
        assert_eq!(table.as_of().len(), "2026-01-01".len());
    }

    #[test]
    fn a_dated_name_has_the_price_of_the_model() {
        let table = PriceTable::built_in();
        for name in [
            "claude-haiku-4-5",
            "claude-haiku-4-5-20251001",
            "anthropic/claude-haiku-4-5",
        ] {
            assert_eq!(
                table.find(name).map(|price| price.input),
                Some(1.0),
                "{name}"
            );
        }
        assert_eq!(
            table.find("gpt-5-2025-08-07").map(|price| price.output),
            Some(10.0)
        );
        assert_eq!(table.find("gpt-5-turbo-max"), None);
        assert_eq!(table.find("llama3.1:8b"), None);
    }

    #[test]
    fn settings_override_and_add_prices() {
        let mut settings = BTreeMap::new();
        settings.insert("prices.gpt-5".to_owned(), json!({"input": 9, "output": 9}));
        settings.insert("prices.mine".to_owned(), json!({"input": 1, "output": 2}));
        let table = PriceTable::new(&settings).unwrap();
        assert_eq!(table.find("gpt-5").map(|price| price.input), Some(9.0));
        assert_eq!(table.find("mine").map(|price| price.output), Some(2.0));
        settings.insert("prices.mine".to_owned(), json!("cheap"));
        assert!(PriceTable::new(&settings).is_err());
    }
}

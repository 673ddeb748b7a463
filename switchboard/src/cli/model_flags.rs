//! Flags of how a model is asked to answer.

use clap::Args;
use provider_adapters::Effort;
use serde_json::Value;

use crate::store::ModelOptions;

/// How the model is asked to answer.
#[derive(Args, Clone, Copy, Debug, Default)]
pub(crate) struct ModelFlags {
    /// Sampling temperature, from 0 to 2
    #[arg(long, value_name = "NUMBER", value_parser = temperature)]
    temperature: Option<f64>,
    /// Reasoning effort: none, minimal, low, medium, high or max
    #[arg(long, value_name = "LEVEL", value_parser = effort)]
    effort: Option<Effort>,
    /// Maximum number of tokens in a reply
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    max_tokens: Option<u64>,
}

impl ModelFlags {
    pub(crate) fn options(self) -> ModelOptions {
        ModelOptions {
            temperature: self.temperature,
            effort: self.effort,
            max_output_tokens: self.max_tokens,
        }
    }
}

fn temperature(text: &str) -> Result<f64, String> {
    let options = ModelOptions {
        temperature: text.parse().ok(),
        ..ModelOptions::default()
    };
    match (options.temperature, options.unfit()) {
        (Some(temperature), None) => Ok(temperature),
        _ => Err("write a number from 0 to 2".to_owned()),
    }
}

fn effort(text: &str) -> Result<Effort, String> {
    serde_json::from_value(Value::from(text))
        .map_err(|_| "write none, minimal, low, medium, high or max".to_owned())
}

//! `switchboard demo-model`.

use std::path::PathBuf;

use clap::Args;
use provider_adapters::Wire;
use serde_json::{Map, Value, json};

use crate::demo::{self, DemoScript};
use crate::display::out::Out;
use crate::exit::{Exit, Failure};

/// Serves the demo model until Ctrl-C ends it. It is not an AI: it calls the tool whose name it
/// finds in your words, and quotes the answer.
#[derive(Args, Debug)]
pub(crate) struct DemoModel {
    /// Listen on this port of 127.0.0.1 instead of a free one
    #[arg(long, default_value_t = 0, value_name = "PORT")]
    port: u16,
    /// Try the rules of this file first
    #[arg(long, value_name = "FILE")]
    script: Option<PathBuf>,
}

impl DemoModel {
    pub(crate) async fn run(self, out: &Out) -> Result<Exit, Failure> {
        let script = match &self.script {
            Some(path) => read(path)?,
            None => DemoScript::default(),
        };
        let failed =
            |error| Failure::new(Exit::Other, "the demo model did not start").caused_by(error);
        let model = demo::DemoModel::start(script, self.port)
            .await
            .map_err(failed)?;
        let mut urls = Map::new();
        let mut lines = vec![format!(
            "{} ({}), at these base URLs:",
            demo::MODEL,
            demo::LABEL
        )];
        for wire in [
            Wire::OpenAiChat,
            Wire::OpenAiResponses,
            Wire::Anthropic,
            Wire::Gemini,
        ] {
            let url = model.base_url(wire);
            lines.push(format!("  {:<17} {url}", wire.as_str()));
            urls.insert(wire.as_str().to_owned(), Value::from(url));
        }
        out.result(
            &json!({"model": demo::MODEL, "urls": urls}),
            lines.join("\n"),
        );
        // An error means that no signal can arrive.
        let _ = tokio::signal::ctrl_c().await;
        model.stop().await;
        Ok(Exit::Cancelled)
    }
}

fn read(path: &std::path::Path) -> Result<DemoScript, Failure> {
    let shown = path.display();
    let text = std::fs::read_to_string(path).map_err(|error| {
        Failure::new(Exit::Other, format!("{shown} cannot be read")).caused_by(error)
    })?;
    DemoScript::from_json(&text).map_err(|error| {
        Failure::new(Exit::Other, format!("{shown} is not a valid script")).caused_by(error)
    })
}

//! `switchboard servers outdated`.

use clap::Args;
use futures_util::StreamExt as _;
use serde_json::{Value, json};

use crate::cli::Global;
use crate::cli::text::table_or;
use crate::display::out::Out;
use crate::exit::{Exit, Failure};
use crate::servers::install::{Finder, Registry, Standing, standing};
use crate::store::{Installed, UserId};

/// How many servers are looked up at once.
const AT_ONCE: usize = 8;

#[derive(Args, Debug)]
pub(super) struct Outdated {}

impl Outdated {
    pub(super) async fn run(self, global: &Global, out: &Out) -> Result<Exit, Failure> {
        let store = global.store().await?;
        let rows = store.servers(&UserId::local()).await?;
        store.close().await?;
        let installed = rows
            .into_iter()
            .filter_map(|row| Some((row.name, row.installed?)));
        let looked_up = installed.map(async |(name, installed): (String, Installed)| {
            let registry = Registry::at(installed.registry.as_deref());
            let found = match Finder::new(registry, None) {
                Ok(finder) => standing(&finder, &installed).await,
                Err(failure) => Err(failure),
            };
            (name, installed, found)
        });
        let all: Vec<_> = futures_util::stream::iter(looked_up)
            .buffered(AT_ONCE)
            .collect()
            .await;
        let mut lines = Vec::new();
        let mut items: Vec<Value> = Vec::new();
        let mut failed = false;
        for (name, installed, found) in all {
            let (state, latest) = match &found {
                Ok(Standing::Current) => ("current", None),
                Ok(Standing::Outdated(latest)) => ("outdated", Some(latest.clone())),
                Ok(Standing::Withdrawn(latest)) => ("withdrawn", Some(latest.clone())),
                Ok(Standing::Gone) => ("gone", None),
                Ok(Standing::Unknown) => ("unknown", None),
                Err(failure) => {
                    failed = true;
                    out.failure(failure);
                    ("unreachable", None)
                }
            };
            items.push(json!({
                "server": name,
                "version": installed.version,
                "latest": latest,
                "state": state,
            }));
            if state != "current" && state != "unknown" {
                let version = installed.version.unwrap_or_default();
                lines.push(vec![
                    name,
                    version,
                    latest.unwrap_or_default(),
                    state.to_owned(),
                ]);
            }
        }
        if !lines.is_empty() {
            let head = ["NAME", "VERSION", "LATEST", "STATE"];
            lines.insert(0, head.map(str::to_owned).to_vec());
        }
        let text = table_or("No installed server is outdated.", lines);
        out.result(&json!({ "servers": items }), text);
        Ok(if failed {
            Exit::Unreachable
        } else {
            Exit::Done
        })
    }
}

//! `switchboard servers test`: does it answer, and what does it offer?

use std::time::Duration;

use clap::Args;
use mcp_manager::NoopElicitation;
use serde_json::json;

use crate::cli::Global;
use crate::cli::text::{count, table};
use crate::doctor::examine;
use crate::exit::{Exit, Failure};
use crate::out::Out;
use crate::servers::{AdHoc, Link};

#[derive(Args, Debug)]
pub(super) struct Test {
    /// A server: its name, its URL, or `demo`; all that are switched on if none
    #[arg(value_name = "SERVER")]
    server: Option<String>,
    #[command(flatten)]
    ad_hoc: AdHoc,
}

impl Test {
    pub(super) async fn run(self, global: &Global, out: &Out) -> Result<Exit, Failure> {
        let server = self.server.as_deref();
        Link::with(
            global,
            server,
            &self.ad_hoc,
            NoopElicitation,
            async |link| {
                if link.findings.is_empty() {
                    link.only()?;
                }
                let (mut values, mut rows) = (Vec::new(), Vec::new());
                for server in &link.servers {
                    let report = examine(&link.manager, &server.name, server.took, Duration::MAX);
                    if let Some(seen) = &report.seen {
                        rows.push(vec![
                            report.name.clone(),
                            "ok".to_owned(),
                            format!("{} ms", seen.took.as_millis()),
                            seen.revision.unwrap_or_default().to_owned(),
                            format!(
                                "{}, {}, {}",
                                count(seen.tools, "tool"),
                                count(seen.prompts, "prompt"),
                                count(seen.resources, "resource")
                            ),
                        ]);
                    }
                    values.push(report.to_json());
                }
                if !values.is_empty() || out.is_json() {
                    out.result(&json!({ "servers": values }), table(&rows));
                }
                Ok(link.tell(out))
            },
        )
        .await
    }
}

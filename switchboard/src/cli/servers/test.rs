//! `switchboard servers test`: does it answer, and what does it offer?

use std::time::Duration;

use clap::Args;

use crate::cli::Global;
use crate::cli::about::About;
use crate::cli::text::{count, table};
use crate::display::out::Out;
use crate::exit::{Exit, Failure};
use crate::servers::doctor::examine;
use crate::servers::{ConnectedServer, Connection};
use crate::store::UserId;

#[derive(Args, Debug)]
pub(super) struct Test {
    #[command(flatten)]
    about: About,
}

impl Test {
    pub(super) async fn run(self, global: &Global, out: &Out) -> Result<Exit, Failure> {
        let look = |connection: &Connection, server: &ConnectedServer| {
            let report = examine(
                &UserId::local(),
                &connection.manager,
                &server.name,
                server.took,
                Duration::MAX,
            );
            let row = report.seen.as_ref().map(|seen| {
                vec![
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
                ]
            });
            (report.to_json(), row)
        };
        let text = |rows: Vec<_>| table(&rows.into_iter().flatten().collect::<Vec<_>>());
        self.about.print(global, out, look, text).await
    }
}

//! Verbs about any number of servers: each is looked at, and what was seen is printed.

use clap::Args;
use mcp_manager::NoopElicitation;
use serde_json::{Value, json};

use crate::cli::Global;
use crate::exit::{Exit, Failure};
use crate::out::Out;
use crate::servers::{AdHoc, Link, Linked};

/// The servers a verb is about.
#[derive(Args, Debug)]
pub(crate) struct About {
    /// A server: its name, its URL, or `demo`; all that are switched on if none
    #[arg(value_name = "SERVER")]
    server: Option<String>,
    #[command(flatten)]
    ad_hoc: AdHoc,
}

impl About {
    /// Connects to the servers and prints what `look` gives for each: its JSON, and its part of
    /// the text. Tells what is wrong with those that are not there.
    pub(crate) async fn print<T>(
        &self,
        global: &Global,
        out: &Out,
        look: impl Fn(&Link, &Linked) -> (Value, T),
        text: impl FnOnce(Vec<T>) -> String,
    ) -> Result<Exit, Failure> {
        let work = async |link: &Link| {
            if link.findings.is_empty() {
                link.only()?;
            }
            let seen = link.servers.iter().map(|server| look(link, server));
            let (values, parts): (Vec<Value>, Vec<T>) = seen.unzip();
            if !values.is_empty() || out.is_json() {
                out.result(&json!({ "servers": values }), text(parts));
            }
            Ok(link.tell(out))
        };
        let server = self.server.as_deref();
        Link::with(global, server, &self.ad_hoc, NoopElicitation, work).await
    }
}

//! `switchboard servers add`.

use clap::Args;
use serde_json::json;

use super::settings::Settings;
use crate::cli::Global;
use crate::display::out::Out;
use crate::exit::{Exit, Failure};
use crate::servers::{check_name, is_url, next_place, to_config};
use crate::store::{Change, Server, ServerKind, UserId};

#[derive(Args, Debug)]
pub(super) struct Add {
    /// Name of the server
    name: String,
    /// URL, unless a command follows
    url: Option<String>,
    #[command(flatten)]
    settings: Settings,
    /// The server's command and arguments
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
}

impl Add {
    pub(super) async fn run(self, global: &Global, out: &Out) -> Result<Exit, Failure> {
        check_name(&self.name)?;
        let user = UserId::local();
        let mut row = match (self.command.split_first(), self.url) {
            (Some((program, args)), None) => {
                let mut row = Server::new(user.clone(), &self.name, ServerKind::Stdio);
                row.command = Some(program.clone());
                row.args = args.to_vec();
                row
            }
            (None, Some(url)) if is_url(&url) => {
                let mut row = Server::new(user.clone(), &self.name, ServerKind::Auto);
                row.base_url = Some(url);
                row
            }
            _ => {
                return Err(
                    Failure::new(Exit::Other, "a command or a URL is needed").with_hint(
                        "As in `switchboard servers add files -- npx -y some-server .` or \
                     `switchboard servers add web https://example.com/mcp`.",
                    ),
                );
            }
        };
        self.settings.apply(&mut row, None).await?;
        let config = to_config(&row).map_err(|why| Failure::new(Exit::Other, why))?;
        let store = global.store().await?;
        let rows = store.servers(&user).await?;
        if rows.iter().any(|other| other.name == row.name) {
            let text = format!("there is a server {:?} already", row.name);
            let hint = "Change it with `switchboard servers edit`, or take another name.";
            return Err(Failure::new(Exit::Other, text).with_hint(hint));
        }
        row.sort = next_place(&rows);
        let value = json!({"added": row.name, "endpoint": config.endpoint().to_string()});
        let text = format!(
            "Added {0}: {1}\nTry it with `switchboard servers test {0}`.",
            row.name,
            config.endpoint()
        );
        store.commit(vec![Change::PutServer(Box::new(row))]).await?;
        store.close().await?;
        out.result(&value, text);
        Ok(Exit::Done)
    }
}

//! `switchboard servers add`.

use clap::Args;
use serde_json::json;

use super::pick::{Picked, pick};
use super::sandbox::sandboxed;
use super::settings::Settings;
use crate::cli::Global;
use crate::display::out::Out;
use crate::exit::{Exit, Failure};
use crate::servers::{check_name, is_url, next_place, to_config};
use crate::store::{Change, Server, ServerKind, UserId};

#[derive(Args, Debug)]
pub(super) struct Add {
    /// Name of the server; without one, you are asked for everything
    name: Option<String>,
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
        let picked = match self.name.clone() {
            Some(name) => Picked {
                name,
                url: self.url,
                command: self.command,
            },
            None if !self.command.is_empty() => {
                let failure = Failure::new(Exit::Other, "a name is needed");
                return Err(failure.with_hint("As in `switchboard servers add NAME -- COMMAND`."));
            }
            None => pick(global, out).await?,
        };
        let (name, url) = (picked.name, picked.url);
        check_name(&name)?;
        let user = UserId::local();
        let mut row = match (picked.command.split_first(), url) {
            (Some((program, args)), None) => {
                let mut row = Server::new(user.clone(), &name, ServerKind::Stdio);
                row.command = Some(program.clone());
                row.args = args.to_vec();
                row
            }
            (None, Some(url)) if is_url(&url) => {
                let mut row = Server::new(user.clone(), &name, ServerKind::Auto);
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
            "Added {0}: {1}{2}\nTry it with `switchboard servers test {0}`.",
            row.name,
            config.endpoint(),
            sandboxed(&row)
        );
        store.commit(vec![Change::PutServer(Box::new(row))]).await?;
        store.close().await?;
        out.result(&value, text);
        Ok(Exit::Done)
    }
}

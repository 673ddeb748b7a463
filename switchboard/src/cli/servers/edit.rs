//! `switchboard servers edit`.

use clap::Args;
use serde_json::json;

use super::sandbox::sandboxed;
use super::settings::Settings;
use crate::cli::Global;
use crate::display::out::Out;
use crate::exit::{Exit, Failure};
use crate::servers::{check_name, find, forget_unused, is_url, to_config};
use crate::store::{Change, ServerKind, Timestamp, UserId};

#[derive(Args, Debug)]
pub(super) struct Edit {
    /// The server's name
    name: String,
    /// Rename it
    #[arg(long, value_name = "NAME")]
    rename: Option<String>,
    /// New URL
    #[arg(long, value_name = "URL", conflicts_with = "command")]
    url: Option<String>,
    /// Remove an environment variable; may be repeated
    #[arg(long, value_name = "NAME")]
    remove_env: Vec<String>,
    /// Remove a header; may be repeated
    #[arg(long, value_name = "NAME")]
    remove_header: Vec<String>,
    #[command(flatten)]
    settings: Settings,
    /// New command and its arguments
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
}

impl Edit {
    pub(super) async fn run(self, global: &Global, out: &Out) -> Result<Exit, Failure> {
        let (store, mut row) = find(global, &self.name).await?;
        let before = row.clone();
        if let Some(name) = &self.rename {
            check_name(name)?;
            let rows = store.servers(&UserId::local()).await?;
            if rows
                .iter()
                .any(|other| other.name == *name && other.id != row.id)
            {
                let text = format!("there is a server {name:?} already");
                return Err(Failure::new(Exit::Other, text));
            }
            row.name.clone_from(name);
        }
        if let Some(url) = &self.url {
            if !is_url(url) {
                let text =
                    format!("{url:?} is no URL: it begins with neither http:// nor https://");
                return Err(Failure::new(Exit::Other, text));
            }
            if row.kind == ServerKind::Stdio {
                row.kind = ServerKind::Auto;
                (row.command, row.cwd) = (None, None);
                row.args.clear();
                row.env.clear();
            }
            row.base_url = Some(url.clone());
        }
        if let Some((program, args)) = self.command.split_first() {
            row.kind = ServerKind::Stdio;
            row.command = Some(program.clone());
            row.args = args.to_vec();
            row.base_url = None;
            row.headers.clear();
        }
        row.env.retain(|name, _| !self.remove_env.contains(name));
        row.headers.retain(|name, _| {
            let mut gone = self.remove_header.iter();
            !gone.any(|gone| gone.eq_ignore_ascii_case(name))
        });
        self.settings.apply(&mut row, Some(&before)).await?;
        let config = to_config(&row).map_err(|why| Failure::new(Exit::Other, why))?;
        row.changed_from(&before);
        row.last_error = None;
        row.updated_at = Timestamp::now();
        let value = json!({"changed": row.name, "endpoint": config.endpoint().to_string()});
        let said = match row.sandbox == before.sandbox {
            true => String::new(),
            false => sandboxed(&row),
        };
        let text = format!("Changed {}: {}{said}", row.name, config.endpoint());
        let changes = vec![Change::PutServer(Box::new(row.clone()))];
        store.commit(changes).await?;
        store.close().await?;
        out.result(&value, text);
        forget_unused(&before, Some(&row)).await?;
        Ok(Exit::Done)
    }
}

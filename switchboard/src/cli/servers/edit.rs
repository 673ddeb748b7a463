//! `switchboard servers edit`.

use clap::Args;
use serde_json::json;

use super::sandbox::sandboxed;
use super::settings::Settings;
use crate::cli::Global;
use crate::display::out::Out;
use crate::exit::{Exit, Failure};
use crate::servers::{Updated, check_name, find, forget_unused, is_url, to_config, update};
use crate::store::{Server, ServerKind, Timestamp, UserId};

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
        let (store, row) = find(global, &self.name).await?;
        let changed = update(&*store, row, async |row| {
            let rows = store.servers(&UserId::local()).await?;
            Ok::<_, Failure>((self.applied(row, &rows).await?, Vec::new()))
        });
        let Updated { before, row } = changed.await?;
        store.close().await?;
        let config = to_config(&row).map_err(|why| Failure::new(Exit::Other, why))?;
        let said = match row.sandbox == before.sandbox {
            true => String::new(),
            false => sandboxed(&row),
        };
        out.result(
            &json!({"changed": row.name, "endpoint": config.endpoint().to_string()}),
            format!("Changed {}: {}{said}", row.name, config.endpoint()),
        );
        forget_unused(&before, Some(&row)).await?;
        Ok(Exit::Done)
    }

    /// A server with what was given, among the user's servers.
    async fn applied(&self, before: Server, rows: &[Server]) -> Result<Server, Failure> {
        let mut row = before.clone();
        if let Some(name) = &self.rename {
            check_name(name)?;
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
                    format!("{url:?} is not a URL: it begins with neither http:// nor https://");
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
        to_config(&row).map_err(|why| Failure::new(Exit::Other, why))?;
        row.changed_from(&before);
        row.last_error = None;
        row.updated_at = Timestamp::now();
        Ok(row)
    }
}

//! `switchboard resources` and `switchboard read`.

use std::path::PathBuf;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use clap::Args;
use mcp_manager::NoopElicitation;
use serde_json::{Value, json};

use crate::cli::Global;
use crate::cli::about::About;
use crate::cli::failure::unwritable;
use crate::cli::text::table_or;
use crate::cli::tool::{only_name, split};
use crate::display::out::Out;
use crate::display::summary::summary;
use crate::display::untrusted;
use crate::exit::{Exit, Failure};
use crate::servers::{AdHoc, ConnectedServer, Connection};

/// Lists resources, and patterns of resources.
#[derive(Args, Debug)]
pub(crate) struct Resources {
    #[command(flatten)]
    about: About,
}

impl Resources {
    pub(crate) async fn run(self, global: &Global, out: &Out) -> Result<Exit, Failure> {
        let look = |connection: &Connection, server: &ConnectedServer| {
            let listing = connection.listing(&server.name);
            let row = |uri: &str, name: &str, mime: &Option<String>| {
                vec![
                    server.name.to_string(),
                    uri.to_owned(),
                    mime.clone().unwrap_or_default(),
                    summary(name, 60),
                ]
            };
            let resources = bare(listing.resources());
            let templates = bare(listing.resource_templates());
            let rows = resources
                .iter()
                .map(|it| row(&it.uri, &it.name, &it.mime_type));
            let patterns = templates.iter();
            let patterns = patterns.map(|it| row(&it.uri_template, &it.name, &it.mime_type));
            let rows: Vec<Vec<String>> = rows.chain(patterns).collect();
            let value = json!({
                "server": server.name,
                "resources": resources,
                "templates": templates,
            });
            (value, rows)
        };
        let text = |rows: Vec<_>| table_or("No resources.", rows.concat());
        self.about.print(global, out, look, text).await
    }
}

/// What is shared, as JSON.
pub(crate) fn bare<T: serde::Serialize>(items: &[std::sync::Arc<T>]) -> Vec<&T> {
    items.iter().map(AsRef::as_ref).collect()
}

/// Reads a resource.
#[derive(Args, Debug)]
pub(crate) struct Read {
    /// SERVER URI; just URI if a command follows
    #[arg(required = true, value_name = "SERVER URI")]
    words: Vec<String>,
    /// Write the contents to this file, as they are
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    ad_hoc: AdHoc,
}

impl Read {
    pub(crate) async fn run(self, global: &Global, out: &Out) -> Result<Exit, Failure> {
        let (server, rest) = split(&self.words, &self.ad_hoc)?;
        let uri = only_name(rest, "URI")?;
        let work = async |connection: &Connection| {
            let server = connection.only()?;
            let name = server.name.as_str();
            let read = connection.manager.read_resource(name, uri).await;
            let read = read.map_err(|error| connection.failure(server, &error))?;
            let value = json!({"server": name, "uri": uri, "contents": read.contents});
            let mut texts = Vec::new();
            let mut bytes = Vec::new();
            for part in &read.contents {
                let blob = part.blob.as_deref().map(|blob| STANDARD.decode(blob));
                match (&part.text, blob) {
                    (Some(text), _) => {
                        bytes.extend_from_slice(text.as_bytes());
                        texts.push(text.clone());
                    }
                    (None, Some(Ok(blob))) => {
                        let mime = part.mime_type.as_deref().unwrap_or("bytes");
                        texts.push(format!(
                            "[{}, {} bytes; --output FILE keeps it]",
                            untrusted::line(mime),
                            blob.len()
                        ));
                        bytes.extend(blob);
                    }
                    (None, Some(Err(_))) => texts.push("[not base64]".to_owned()),
                    (None, None) => {}
                }
            }
            match &self.output {
                Some(path) => save(path, &bytes, out, value)?,
                None => out.result(&value, untrusted::text(&texts.join("\n"))),
            }
            Ok(Exit::Done)
        };
        Connection::with(global, server, &self.ad_hoc, NoopElicitation, work).await
    }
}

fn save(path: &PathBuf, bytes: &[u8], out: &Out, mut value: Value) -> Result<(), Failure> {
    std::fs::write(path, bytes).map_err(|error| unwritable(path, error))?;
    let shown = path.display().to_string();
    if let Some(members) = value.as_object_mut() {
        members.remove("contents");
        members.insert("file".to_owned(), json!(shown));
        members.insert("bytes".to_owned(), json!(bytes.len()));
    }
    out.result(&value, format!("{} bytes in {shown}", bytes.len()));
    Ok(())
}

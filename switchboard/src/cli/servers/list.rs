//! `switchboard servers list` and `show`: servers as they are stored.

use std::path::Path;

use mcp_manager::Endpoint;
use serde_json::{Map, Value, json};

use super::sandbox;
use crate::chat::clean;
use crate::cli::Global;
use crate::cli::text::{table, table_or};
use crate::display::out::Out;
use crate::display::summary::summary;
use crate::exit::{Exit, Failure};
use crate::servers::import::Plan;
use crate::servers::sandbox::{not_contained, summary as summary_of};
use crate::servers::{CLAIMED, find, of_file, scan, to_config, to_entry};
use crate::store::{Server, ServerTool, StoredValue, Trust, UserId};

pub(super) async fn list(global: &Global, out: &Out) -> Result<Exit, Failure> {
    if let Some(file) = &global.config {
        return list_file(file, out);
    }
    let store = global.store().await?;
    let (mut values, mut rows) = (Vec::new(), Vec::new());
    let stored = store.servers(&UserId::local()).await?;
    let noticed = noticed(&stored);
    for row in stored {
        let tools = store.server_tools(&row.id).await?;
        let tokens: u64 = tools.iter().map(|tool| tool.tokens).sum();
        let status = status(&row, &tools);
        let endpoint = endpoint(&row);
        values.push(json!({
            "name": row.name,
            "type": row.kind,
            "endpoint": endpoint,
            "status": status,
            "tools": tools.len(),
            "tokens": tokens,
            "sandboxed": row.sandbox.is_some(),
            "source": row.source,
            "last_error": row.last_error,
        }));
        let mut seen = Vec::new();
        if !tools.is_empty() {
            seen.push(format!("{} tools, about {tokens} tokens", tools.len()));
        }
        if row.sandbox.is_some() {
            seen.push("in a sandbox".to_owned());
        }
        rows.push(vec![
            row.name,
            status.to_owned(),
            seen.join("; "),
            summary(&endpoint, 80),
        ]);
    }
    store.close().await?;
    let none = "No servers yet. Add one with `switchboard servers add NAME -- COMMAND`, or bring \
                in those of other programs with `switchboard import`.";
    out.result(
        &json!({ "servers": values, "not_imported": noticed }),
        table_or(none, rows),
    );
    if !noticed.is_empty() {
        let list = noticed.iter().map(|it| {
            let text = |name: &str| it[name].as_str().unwrap_or_default().to_owned();
            format!("{} ({})", clean(&text("name")), clean(&text("file")))
        });
        out.remark(format!(
            "This folder's project has servers that are not imported: {}. `switchboard import` \
             takes them over; each is pending until it is enabled.",
            list.collect::<Vec<_>>().join(", ")
        ));
    }
    Ok(Exit::Done)
}

/// The servers of this folder's project that are not stored.
fn noticed(stored: &[Server]) -> Vec<Value> {
    let Ok(folder) = std::env::current_dir() else {
        return Vec::new();
    };
    let plan = Plan::of_project(&UserId::local(), &folder, stored);
    let items = plan.items.iter();
    let noticed = items.map(
        |item| json!({"name": item.row.name, "file": item.row.source, "endpoint": item.endpoint}),
    );
    noticed.collect()
}

/// The servers of a file, with what is wrong with some of them.
fn list_file(file: &Path, out: &Out) -> Result<Exit, Failure> {
    let chosen = of_file(file)?;
    let (mut values, mut rows) = (Vec::new(), Vec::new());
    let mut add = |name: &str, status: &str, endpoint: String, error: Option<&str>| {
        values.push(json!({
            "name": name,
            "endpoint": endpoint,
            "status": status,
            "source": file,
            "last_error": error,
        }));
        rows.push(vec![
            name.to_owned(),
            status.to_owned(),
            summary(&endpoint, 80),
        ]);
    };
    for (config, _) in &chosen.servers {
        let endpoint = config.endpoint().to_string();
        add(config.name().as_str(), "untried", endpoint, None);
    }
    for config in &chosen.off {
        let endpoint = config.endpoint().to_string();
        add(config.name().as_str(), "off", endpoint, None);
    }
    for (name, finding) in &chosen.findings {
        add(
            name,
            "failed",
            finding.message.clone(),
            Some(&finding.message),
        );
    }
    let none = format!("{} has no servers.", file.display());
    out.result(&json!({ "servers": values }), table_or(&none, rows));
    Ok(Exit::Done)
}

/// How a server was when it was last seen.
fn status(row: &Server, tools: &[ServerTool]) -> &'static str {
    match row {
        row if row.trust == Trust::Pending => "pending",
        row if !row.is_active => "off",
        row if row.last_error.is_some() => "failed",
        _ if tools.is_empty() => "untried",
        _ => "ok",
    }
}

fn endpoint(row: &Server) -> String {
    match to_config(row) {
        Ok(config) => config.endpoint().to_string(),
        Err(why) => why,
    }
}

pub(super) async fn show(global: &Global, out: &Out, name: &str) -> Result<Exit, Failure> {
    let (store, row) = find(global, name).await?;
    let tools = store.server_tools(&row.id).await?;
    let tokens = store.tokens(&row.id).await?;
    store.close().await?;
    let found = scan::of_seen(&tools);
    let mut entry = to_entry(&row);
    hide(&mut entry, "env", row.env.iter());
    hide(&mut entry, "headers", row.headers.iter());
    if let Some(url) = entry.get_mut("url") {
        *url = json!(endpoint(&row));
    }
    if let (Some(args), Ok(config)) = (entry.get_mut("args"), to_config(&row))
        && let Endpoint::Stdio(stdio) = config.endpoint()
    {
        *args = json!(stdio.shown_args());
    }
    let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
    let value = json!({
        "name": row.name,
        "status": status(&row, &tools),
        "config": entry,
        "sandbox": sandbox::to_json(&row),
        "installed": row.installed,
        "findings": scan::all_to_json(&found),
        "source": row.source,
        "trust": row.trust,
        "claimed_auto_approve": row.extra.get(CLAIMED),
        "logged_in_at": tokens.iter().map(|token| &token.issuer).collect::<Vec<_>>(),
        "tools": names,
        "tokens": tools.iter().map(|tool| tool.tokens).sum::<u64>(),
        "last_error": row.last_error,
    });
    let mut lines = vec![
        vec!["name".to_owned(), row.name.clone()],
        vec!["status".to_owned(), status(&row, &tools).to_owned()],
    ];
    let mut line = |name: &str, text: Option<String>| {
        lines.extend(text.map(|text| vec![name.to_owned(), text]));
    };
    let trusted = row.trust == Trust::Trusted;
    line("trust", trusted.then(|| "its hints count".to_owned()));
    if let Some(profile) = &row.sandbox {
        line("sandbox", Some(summary_of(profile)));
        for missing in not_contained(profile) {
            line("not contained here", Some(missing));
        }
    }
    let from = row.installed.as_ref().map(|it| {
        let version = it.version.as_deref().unwrap_or_default();
        format!("{} {version} ({} {})", it.name, it.kind, it.package)
    });
    line("installed", from);
    line("source", row.source.clone());
    line("last error", row.last_error.clone());
    line("tools", (!names.is_empty()).then(|| names.join(", ")));
    for (tool, finding) in &found {
        let place = scan::place(tool.as_deref());
        line("suspicious", Some(format!("{place}: {finding}")));
    }
    let claimed = row.extra.get(CLAIMED).map(Value::to_string);
    line(
        "its file approves",
        claimed.map(|it| format!("{it} (not believed: see `tool allow`)")),
    );
    let text = format!("{}\n{:#}", table(&lines), Value::Object(entry));
    out.result(&value, clean(&text));
    Ok(Exit::Done)
}

/// References are shown, values are not.
fn hide<'a>(
    entry: &mut Map<String, Value>,
    member: &str,
    values: impl Iterator<Item = (&'a String, &'a StoredValue)>,
) {
    let shown: Map<String, Value> = values
        .map(|(name, value)| (name.clone(), value.to_string().into()))
        .collect();
    if !shown.is_empty() {
        entry.insert(member.to_owned(), Value::Object(shown));
    }
}

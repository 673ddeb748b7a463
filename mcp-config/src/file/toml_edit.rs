//! Edits of entries in a TOML file's text. `None` where the text has no place for them.

use serde_json::Value;
use toml_edit::{DocumentMut, InlineTable, Item, Table, TableLike};

/// Adds an entry.
pub(crate) fn put(text: &str, container: &str, name: &str, entry: &Value) -> Option<String> {
    change(text, |document| {
        let members = entry.as_object()?;
        let servers = servers(document, container)?;
        let mut table = Table::new();
        for (key, value) in members {
            table.insert(key, Item::Value(inline(value)?));
        }
        insert(servers, name, table);
        Some(())
    })
}

/// Removes an entry.
pub(crate) fn remove(text: &str, container: &str, name: &str) -> Option<String> {
    change(text, |document| {
        servers(document, container)?.remove(name).map(drop)
    })
}

/// Adds an entry from another file.
pub(crate) fn copy(text: &str, container: &str, name: &str, from: &str) -> Option<String> {
    let other: DocumentMut = from.parse().ok()?;
    let item = other.get(container)?.as_table_like()?.get(name)?.clone();
    change(text, |document| {
        let servers = servers(document, container)?;
        match item.into_table() {
            Ok(mut table) => {
                table.set_position(None);
                insert(servers, name, table);
            }
            Err(item) => drop(servers.insert(name, item)),
        }
        Some(())
    })
}

fn change(text: &str, edit: impl FnOnce(&mut DocumentMut) -> Option<()>) -> Option<String> {
    let mut document: DocumentMut = text.parse().ok()?;
    edit(&mut document)?;
    let changed = document.to_string();
    // Lines end like the others in the file.
    let windows = text.contains("\r\n");
    Some(match windows {
        true => changed.replace("\r\n", "\n").replace('\n', "\r\n"),
        false => changed,
    })
}

fn servers<'a>(document: &'a mut DocumentMut, container: &str) -> Option<&'a mut dyn TableLike> {
    let item = document.entry(container).or_insert_with(|| {
        let mut table = Table::new();
        // No header of its own: its entries have one.
        table.set_implicit(true);
        Item::Table(table)
    });
    item.as_table_like_mut()
}

/// Inserts a table in the style of the container's others.
fn insert(servers: &mut dyn TableLike, name: &str, table: Table) {
    let is_inline = servers
        .get_values()
        .iter()
        .any(|(_, value)| value.is_inline_table());
    let inline = is_inline && servers.iter().all(|(_, item)| item.is_value());
    match inline {
        true => servers.insert(name, toml_edit::value(table.into_inline_table())),
        false => servers.insert(name, Item::Table(table)),
    };
}

fn inline(value: &Value) -> Option<toml_edit::Value> {
    Some(match value {
        Value::Null => return None,
        Value::Bool(flag) => (*flag).into(),
        Value::Number(number) => match number.as_i64() {
            Some(whole) => whole.into(),
            None => number.as_f64()?.into(),
        },
        Value::String(text) => text.as_str().into(),
        Value::Array(items) => {
            let items: Option<toml_edit::Array> = items.iter().map(inline).collect();
            items?.into()
        }
        Value::Object(members) => {
            let mut table = InlineTable::new();
            for (name, value) in members {
                table.insert(name, inline(value)?);
            }
            table.into()
        }
    })
}

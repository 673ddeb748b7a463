//! What cargo knows about our crates.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::Value;

use crate::shell::{cargo, output};

/// One crate of the workspace.
pub(crate) struct Package {
    pub(crate) name: String,
    /// The folder, relative to the root.
    pub(crate) folder: PathBuf,
    pub(crate) published: bool,
    pub(crate) features: Vec<String>,
    /// Names of the workspace's crates it depends on, apart from development dependencies.
    pub(crate) arrows: Vec<String>,
    /// The manifest's fields as cargo reads them.
    pub(crate) fields: Value,
}

/// Every crate of the workspace, by name.
pub(crate) fn packages() -> Result<BTreeMap<String, Package>, String> {
    let text = output(cargo(&["metadata", "--format-version", "1", "--no-deps"]))?;
    let metadata: Value =
        serde_json::from_str(&text).map_err(|e| format!("cargo metadata: {e}"))?;
    let root = PathBuf::from(metadata["workspace_root"].as_str().unwrap_or_default());
    let entries = metadata["packages"].as_array().cloned().unwrap_or_default();
    let names: Vec<String> = entries
        .iter()
        .map(|entry| text_of(&entry["name"]))
        .collect();
    Ok(entries
        .into_iter()
        .map(|entry| {
            let manifest = PathBuf::from(text_of(&entry["manifest_path"]));
            let folder = manifest.parent().unwrap_or(&root);
            let package = Package {
                name: text_of(&entry["name"]),
                folder: folder.strip_prefix(&root).unwrap_or(folder).to_path_buf(),
                published: entry["publish"].is_null(),
                features: entry["features"]
                    .as_object()
                    .map(|features| features.keys().cloned().collect())
                    .unwrap_or_default(),
                arrows: arrows(&entry, &names),
                fields: entry,
            };
            (package.name.clone(), package)
        })
        .collect())
}

/// The published crates, each after those it depends on.
pub(crate) fn publish_order(packages: &BTreeMap<String, Package>) -> Vec<&Package> {
    let mut order: Vec<&Package> = Vec::new();
    let mut waiting: Vec<&Package> = packages.values().filter(|p| p.published).collect();
    while !waiting.is_empty() {
        let placed = order.len();
        waiting.retain(|package| {
            let ready = package.arrows.iter().all(|arrow| {
                order.iter().any(|done| done.name == *arrow)
                    || packages
                        .get(arrow)
                        .is_none_or(|dependency| !dependency.published)
            });
            if ready {
                order.push(package);
            }
            !ready
        });
        if order.len() == placed {
            break; // a cycle: cargo itself refuses it with a better message
        }
    }
    order
}

fn arrows(entry: &Value, names: &[String]) -> Vec<String> {
    let mut arrows: Vec<String> = entry["dependencies"]
        .as_array()
        .into_iter()
        .flatten()
        .filter(|dependency| dependency["kind"].as_str() != Some("dev"))
        .map(|dependency| text_of(&dependency["name"]))
        .filter(|name| names.contains(name))
        .collect();
    arrows.sort();
    arrows.dedup();
    arrows
}

fn text_of(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

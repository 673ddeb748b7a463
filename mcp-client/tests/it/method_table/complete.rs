//! The table is complete.

use std::collections::BTreeSet;
use std::path::Path;

use super::row::rows;

/// A method that is added to the crate is added to the table.
#[test]
fn the_table_has_every_public_async_method() {
    let rows = rows();
    let table: BTreeSet<&str> = rows.iter().map(|row| row.name).collect();
    let listed: BTreeSet<&str> = include_str!("../../../public-api.txt")
        .lines()
        .filter_map(|line| line.strip_prefix("pub async fn mcp_client::"))
        .map(|line| &line[..line.find(['<', '(']).unwrap()])
        // Only calls `ClientBuilder::connect`.
        .filter(|name| *name != "HttpClientBuilder::connect")
        .collect();
    assert_eq!(table, listed, "the table and public-api.txt");
    let methods = |names: &BTreeSet<&str>| -> BTreeSet<String> {
        let name = |name: &&str| name.rsplit("::").next().unwrap().to_owned();
        names.iter().map(name).collect()
    };
    let mut written = BTreeSet::new();
    collect(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("src"),
        &mut written,
    );
    assert_eq!(methods(&table), written, "the table and the sources");
}

/// The names of the public async functions in the sources below `folder`.
fn collect(folder: &Path, names: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, names);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            for line in std::fs::read_to_string(&path).unwrap().lines() {
                if let Some(rest) = line.trim_start().strip_prefix("pub async fn ") {
                    names.insert(rest[..rest.find(['<', '(']).unwrap()].to_owned());
                }
            }
        }
    }
}

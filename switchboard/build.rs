//! Embeds the catalogue of every language in `locales/`.

use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("locales");
    let out = env::var_os("OUT_DIR").ok_or_else(|| io::Error::other("cargo sets OUT_DIR"))?;
    let mut files = Vec::new();
    for entry in fs::read_dir(&folder)? {
        files.push(entry?.path());
    }
    files.sort();
    let is_catalog = |file: &&std::path::PathBuf| file.extension().is_some_and(|end| end == "json");
    let mut list = String::from("&[\n");
    for file in files.iter().filter(is_catalog) {
        let name = file.file_stem().unwrap_or_default().display();
        let path = file.display().to_string();
        let _ = writeln!(list, "(\"{name}\", include_str!({path:?})),");
    }
    list.push(']');
    println!("cargo::rerun-if-changed=locales");
    fs::write(Path::new(&out).join("locales.rs"), list)
}

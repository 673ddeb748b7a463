//! ZIP files as anybody could make them: nothing of what they say need be true.

use std::io::Write as _;
use std::path::PathBuf;

use flate2::{Compression, Crc, write::DeflateEncoder};
use serde_json::{Value, json};

use super::bench::Bench;

/// An entry, and what it says about itself.
#[derive(Clone)]
pub(crate) struct Entry {
    pub(crate) name: Vec<u8>,
    pub(crate) text: Vec<u8>,
    pub(crate) mode: u32,
    pub(crate) flags: u16,
    pub(crate) method: u16,
    /// The size it says it has.
    pub(crate) size: Option<u32>,
    /// The name before its data, if it is another one.
    pub(crate) local: Option<Vec<u8>>,
}

pub(crate) fn file(name: &str, text: &str) -> Entry {
    Entry {
        name: name.into(),
        text: text.into(),
        mode: 0o100_644,
        flags: 0,
        method: 8,
        size: None,
        local: None,
    }
}

/// The bytes of a ZIP file.
pub(crate) fn zip(entries: &[Entry]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut directory = Vec::new();
    for entry in entries {
        let at = u32::try_from(out.len()).unwrap();
        let mut crc = Crc::new();
        crc.update(&entry.text);
        let data = match entry.method {
            8 => {
                let mut deflate = DeflateEncoder::new(Vec::new(), Compression::fast());
                deflate.write_all(&entry.text).unwrap();
                deflate.finish().unwrap()
            }
            _ => entry.text.clone(),
        };
        let size = entry
            .size
            .unwrap_or(u32::try_from(entry.text.len()).unwrap());
        let mut head = Vec::new();
        for word in [20, entry.flags, entry.method, 0, 0x21] {
            head.extend(u16::to_le_bytes(word));
        }
        for word in [crc.sum(), u32::try_from(data.len()).unwrap(), size] {
            head.extend(u32::to_le_bytes(word));
        }
        let local = entry.local.as_ref().unwrap_or(&entry.name);
        out.extend(b"PK\x03\x04");
        out.extend(&head);
        out.extend(u16::try_from(local.len()).unwrap().to_le_bytes());
        out.extend([0, 0]);
        out.extend(local);
        out.extend(data);
        directory.extend(b"PK\x01\x02");
        // Made on Unix, which says the file's mode.
        directory.extend([20, 3]);
        directory.extend(&head);
        directory.extend(u16::try_from(entry.name.len()).unwrap().to_le_bytes());
        directory.extend([0; 8]);
        directory.extend((entry.mode << 16).to_le_bytes());
        directory.extend(at.to_le_bytes());
        directory.extend(&entry.name);
    }
    let start = u32::try_from(out.len()).unwrap();
    let count = u16::try_from(entries.len()).unwrap();
    out.extend(&directory);
    out.extend(b"PK\x05\x06\0\0\0\0");
    out.extend([count, count].map(u16::to_le_bytes).concat());
    out.extend(u32::try_from(directory.len()).unwrap().to_le_bytes());
    out.extend(start.to_le_bytes());
    out.extend([0, 0]);
    out
}

/// A manifest whose program is a script in the bundle.
pub(crate) fn manifest(version: &str, more: &Value) -> Value {
    let mut manifest = json!({
        "manifest_version": "0.3",
        "name": "clock",
        "version": version,
        "description": "Tells the time",
        "author": {"name": "Ann"},
        "tools": [{"name": "add"}],
        "server": {"type": "binary", "entry_point": "server/run.sh", "mcp_config": {
            "command": "sh", "args": ["${__dirname}/server/run.sh"],
        }},
    });
    for (name, value) in more.as_object().unwrap() {
        manifest[name] = value.clone();
    }
    manifest
}

/// The bundle of a demo server, beside these files.
pub(crate) fn bundle(bench: &Bench, file_name: &str, manifest: &Value, more: &[Entry]) -> PathBuf {
    let script = format!(
        "exec {} demo-server --clock 0 \"$@\"\n",
        crate::program::path()
    );
    let mut entries = vec![
        file("manifest.json", &manifest.to_string()),
        file("server/run.sh", &script),
    ];
    entries.extend_from_slice(more);
    save(bench, file_name, &zip(&entries))
}

pub(crate) fn save(bench: &Bench, file_name: &str, bytes: &[u8]) -> PathBuf {
    let path = bench.path().join(file_name);
    std::fs::write(&path, bytes).unwrap();
    path
}

//! Bundles (`.mcpb`): ZIP files with a `manifest.json` and a server's program. All of one is checked before
//! any of it is written.

mod name;
mod signature;

use std::fs::File;
use std::io::{self, Read, Seek as _, SeekFrom};
use std::path::Path;

use sha2::{Digest as _, Sha256};
use zip::{CompressionMethod, ZipArchive};

use self::name::{Names, Safe};
use self::signature::Signature;
use crate::exit::{Exit, Failure};

const MANIFEST: &str = "manifest.json";
/// The kinds of a Unix file.
const KIND: u32 = 0o170_000;
const REGULAR: u32 = 0o100_000;
const FOLDER: u32 = 0o040_000;

/// What a bundle may be.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    /// Its file, in bytes.
    pub(super) file: u64,
    /// What it holds, in bytes.
    pub(super) unpacked: u64,
    /// How many files and folders it holds.
    pub(super) entries: usize,
    /// Its manifest, in bytes.
    pub(super) manifest: u64,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            file: 512 << 20,
            unpacked: 2 << 30,
            entries: 50_000,
            manifest: 1 << 20,
        }
    }
}

/// A bundle that may be unpacked.
#[derive(Debug)]
pub(super) struct Bundle {
    zip: ZipArchive<File>,
    entries: Vec<Entry>,
    pub(super) manifest: String,
    pub(super) signature: Option<Signature>,
    /// The SHA-256 of the file, in hexadecimal digits.
    pub(super) sha256: String,
    /// The size of what it holds.
    pub(super) bytes: u64,
}

#[derive(Debug)]
struct Entry {
    at: usize,
    path: Safe,
    size: u64,
    is_program: bool,
}

impl Bundle {
    /// Reads and checks a bundle.
    ///
    /// # Errors
    /// If it is none, or if unpacking it would write anything but files and folders of its own.
    pub(super) fn open(path: &Path, bounds: Bounds) -> Result<Self, Failure> {
        let shown = path.display();
        let unread = |error: io::Error| {
            Failure::new(Exit::Other, format!("the bundle {shown} cannot be read")).caused_by(error)
        };
        let mut file = File::open(path).map_err(unread)?;
        let metadata = file.metadata().map_err(unread)?;
        if !metadata.is_file() || metadata.len() > bounds.file {
            let most = bounds.file >> 20;
            return Err(refused(&format!(
                "{shown} is no file of at most {most} MiB"
            )));
        }
        let sha256 = digest(&mut file).map_err(unread)?;
        let signature = Signature::of(&mut file).map_err(unread)?;
        let count = entry_count(&mut file, metadata.len()).map_err(unread)?;
        let Some(count) = count else {
            return Err(refused(&format!("{shown} is no ZIP file")));
        };
        if count > bounds.entries {
            let most = bounds.entries;
            return Err(refused(&format!("{shown} holds more than {most} files")));
        }
        let broken = |error: zip::result::ZipError| {
            refused(&format!("{shown} is a broken ZIP file")).caused_by(error)
        };
        let mut zip = ZipArchive::new(file).map_err(broken)?;
        zip.validate_header_consistency().map_err(broken)?;
        if zip.len() != count {
            return Err(refused(&format!(
                "{shown} says two things about what it holds"
            )));
        }
        let (entries, bytes) = entries(&mut zip, bounds)?;
        let manifest = entries.iter().find(|entry| entry.path.is(MANIFEST));
        let Some(manifest) = manifest.map(|entry| (entry.at, entry.size)) else {
            return Err(refused(&format!("{shown} has no {MANIFEST}")));
        };
        let manifest = text(&mut zip, manifest, bounds.manifest)?;
        Ok(Self {
            zip,
            entries,
            manifest,
            signature,
            sha256,
            bytes,
        })
    }

    /// Whether it holds this file.
    pub(super) fn has(&self, path: &str) -> bool {
        self.entries.iter().any(|entry| entry.path.is(path))
    }

    /// How many files it holds.
    pub(super) fn files(&self) -> usize {
        let files = self.entries.iter().filter(|entry| !entry.path.is_folder);
        files.count()
    }

    /// Writes all it holds into an empty folder. These programs of it can be run.
    pub(super) fn unpack(&mut self, folder: &Path, programs: &[&str]) -> Result<(), Failure> {
        let failed = |path: &Path, error: io::Error| {
            let text = format!("{} cannot be written", path.display());
            Failure::new(Exit::Other, text).caused_by(error)
        };
        for entry in &self.entries {
            let path = entry.path.within(folder);
            let parent = if entry.path.is_folder {
                Some(&*path)
            } else {
                path.parent()
            };
            if let Some(parent) = parent {
                std::fs::create_dir_all(parent).map_err(|error| failed(parent, error))?;
            }
            if entry.path.is_folder {
                continue;
            }
            let is_program = entry.is_program || programs.iter().any(|it| entry.path.is(it));
            let mut into = create(&path, is_program).map_err(|error| failed(&path, error))?;
            let from = self.zip.by_index(entry.at).map_err(|error| {
                refused(&format!("{} cannot be unpacked", entry.path)).caused_by(error)
            })?;
            // One byte more than it says, to see that it lies.
            let written = io::copy(&mut from.take(entry.size + 1), &mut into);
            let written = written.map_err(|error| failed(&path, error))?;
            if written != entry.size {
                return Err(refused(&format!(
                    "{} has another size than it says",
                    entry.path
                )));
            }
        }
        Ok(())
    }
}

/// Creates a file that is not there yet.
fn create(path: &Path, is_program: bool) -> io::Result<File> {
    let mut options = File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        let mode = if is_program { 0o755 } else { 0o644 };
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, mode);
    }
    let _ = is_program;
    options.open(path)
}

/// What the ZIP file holds, and its size.
fn entries(zip: &mut ZipArchive<File>, bounds: Bounds) -> Result<(Vec<Entry>, u64), Failure> {
    let mut names = Names::default();
    let mut entries = Vec::with_capacity(zip.len());
    let mut bytes: u64 = 0;
    for at in 0..zip.len() {
        let file = zip.by_index_raw(at);
        let file = file.map_err(|error| refused("it is a broken ZIP file").caused_by(error))?;
        let path = names.add(file.name_raw()).map_err(|why| refused(&why))?;
        let odd = |what: &str| Err(refused(&format!("{path} is {what}")));
        if file.encrypted() {
            return odd("encrypted");
        }
        if !matches!(
            file.compression(),
            CompressionMethod::Stored | CompressionMethod::Deflated
        ) {
            return odd("compressed in a way that bundles do not use");
        }
        let mode = file.unix_mode().unwrap_or_default();
        match mode & KIND {
            0 | REGULAR | FOLDER => {}
            _ => return odd("neither a file nor a folder"),
        }
        let size = if path.is_folder { 0 } else { file.size() };
        bytes = bytes.saturating_add(size);
        if bytes > bounds.unpacked {
            let most = bounds.unpacked >> 20;
            return Err(refused(&format!("it holds more than {most} MiB")));
        }
        let is_program = mode & 0o111 != 0;
        entries.push(Entry {
            at,
            path,
            size,
            is_program,
        });
    }
    Ok((entries, bytes))
}

/// The text of a file in the ZIP file.
fn text(
    zip: &mut ZipArchive<File>,
    (at, size): (usize, u64),
    most: u64,
) -> Result<String, Failure> {
    if size > most {
        return Err(refused(&format!(
            "its {MANIFEST} has more than {most} bytes"
        )));
    }
    let unread = |error: Box<dyn std::error::Error + Send + Sync>| {
        refused(&format!("its {MANIFEST} cannot be read")).caused_by(error)
    };
    let file = zip.by_index(at).map_err(|error| unread(error.into()))?;
    let mut text = String::new();
    let read = file.take(most).read_to_string(&mut text);
    read.map_err(|error| unread(error.into()))?;
    Ok(text)
}

fn refused(why: &str) -> Failure {
    Failure::new(Exit::Other, format!("the bundle is refused: {why}"))
}

fn digest(file: &mut File) -> io::Result<String> {
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 64 << 10];
    file.seek(SeekFrom::Start(0))?;
    loop {
        let read = file.read(&mut buffer)?;
        match buffer.get(..read) {
            None | Some([]) => break,
            Some(bytes) => hash.update(bytes),
        }
    }
    let hex = hash
        .finalize()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    Ok(hex)
}

/// How many entries the ZIP file's end says it has, found before its directory is read into memory.
fn entry_count(file: &mut File, length: u64) -> io::Result<Option<usize>> {
    const END: &[u8] = b"PK\x05\x06";
    /// The end itself and the longest comment after it, and a signature after both.
    const TAIL: u64 = 22 + 65_535 + signature::LONGEST;
    let start = length.saturating_sub(TAIL);
    file.seek(SeekFrom::Start(start))?;
    let mut tail = Vec::new();
    file.take(TAIL).read_to_end(&mut tail)?;
    let found = tail.windows(END.len()).rposition(|window| window == END);
    let count = found.and_then(|at| tail.get(at + 10..at + 12));
    // 65,535 means that the number is elsewhere; that is too many.
    let count = count.and_then(|bytes| <[u8; 2]>::try_from(bytes).ok());
    Ok(count.map(|bytes| usize::from(u16::from_le_bytes(bytes))))
}

//! What there is to install: looked up in the registry, read from files, and downloaded if it is a bundle.

use std::fs::File;
use std::path::{Path, PathBuf};

use mcp_auth::PublicNetwork;
use mcp_config::{ConfigFile, Dialect, Input, Missing, ServerJson, Variable};
use serde::Deserialize;

use super::archive::{Bounds, Bundle};
use super::fetch::Fetch;
use super::place::folder_name;
use super::registry::Registry;
use super::source::Source;
use crate::exit::{Exit, Failure};
use crate::home;
use crate::store::{Installed, ServerId};

/// The largest `server.json`.
const DESCRIPTION: u64 = 1 << 20;

/// Finds what there is to install.
#[derive(Debug)]
pub(crate) struct Finder {
    fetch: Fetch,
    registry: Registry,
}

/// Something that can be installed.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) installed: Installed,
    pub(crate) description: Option<String>,
    /// What else there is to know.
    pub(crate) notes: Vec<String>,
    /// What the user is asked for.
    pub(crate) inputs: Vec<Input>,
    pub(super) what: What,
}

/// What is started or reached.
#[derive(Debug)]
pub(super) enum What {
    /// An offer of a `server.json`.
    Offer(ServerJson, usize),
    /// The program in a bundle.
    Bundle(Box<Program>),
}

/// The program in a bundle.
#[derive(Debug)]
pub(super) struct Program {
    pub(super) bundle: Bundle,
    pub(super) manifest: Manifest,
    pub(super) file: ConfigFile,
    /// The file, if it was downloaded, which is removed at last.
    _download: Option<Download>,
}

/// What a bundle says about itself, beside how it is started.
#[derive(Debug, Deserialize)]
pub(super) struct Manifest {
    name: String,
    version: String,
    #[serde(default)]
    description: Option<String>,
    #[serde(default)]
    pub(super) tools: Vec<Tool>,
    #[serde(default)]
    compatibility: Compatibility,
    pub(super) server: ServerOf,
}

#[derive(Debug, Deserialize)]
pub(super) struct Tool {
    pub(super) name: String,
}

#[derive(Debug, Default, Deserialize)]
struct Compatibility {
    #[serde(default)]
    platforms: Option<Vec<String>>,
}

#[derive(Debug, Deserialize)]
pub(super) struct ServerOf {
    #[serde(default)]
    pub(super) entry_point: Option<String>,
}

impl Finder {
    /// In this registry, by requests that stay in this network.
    pub(crate) fn new(registry: Registry, network: Option<PublicNetwork>) -> Result<Self, Failure> {
        let fetch = Fetch::new(network)?;
        Ok(Self { fetch, registry })
    }

    /// What a source names, in the offer of this kind if one is wanted.
    pub(crate) async fn find(&self, source: &Source, kind: Option<&str>) -> Result<Found, Failure> {
        match source {
            Source::Registry { name, version } => {
                self.in_registry(name, version.as_deref(), kind).await
            }
            Source::Words(words) => Err(self.no_such(words).await?),
            Source::Package(text) => self.of_text(text, kind).await,
            Source::Bundle(path) => of_bundle(path.clone(), None).await,
            Source::Description(path) => {
                let text = description(path).map_err(|error| {
                    let text = format!("{} cannot be read", path.display());
                    Failure::new(Exit::Other, text).caused_by(error)
                })?;
                self.of_text(&text, kind).await
            }
        }
    }

    /// What a registry has under a name, in this version or in the latest.
    async fn in_registry(
        &self,
        name: &str,
        version: Option<&str>,
        kind: Option<&str>,
    ) -> Result<Found, Failure> {
        let Some(entry) = self.registry.entry(&self.fetch, name, version).await? else {
            let wanted = version.map(|it| format!("@{it}")).unwrap_or_default();
            let short = name.rsplit('/').next().unwrap_or(name);
            let failure = self.no_such(short).await?;
            let text = format!("{} has no {name}{wanted}", self.registry.base());
            let hint = failure.hint().unwrap_or_default().to_owned();
            return Err(Failure::new(Exit::Other, text).with_hint(hint));
        };
        let mut found = self.choose(entry.file, kind).await?;
        found.installed.registry = Some(self.registry.base().to_owned());
        found.notes.splice(0..0, entry.notes);
        Ok(found)
    }

    /// The latest version that the registry has of a server; nothing if it has none.
    pub(super) async fn latest(&self, name: &str) -> Result<Option<String>, Failure> {
        let entry = self.registry.entry(&self.fetch, name, None).await?;
        Ok(entry.and_then(|entry| entry.file.version().map(str::to_owned)))
    }

    /// Why words name nothing: the servers that they could mean.
    async fn no_such(&self, words: &str) -> Result<Failure, Failure> {
        let hits = self.registry.search(&self.fetch, words).await?;
        let failure = Failure::new(
            Exit::Other,
            format!(
                "{words:?} is no whole name of a server in {}",
                self.registry.base()
            ),
        );
        let hint = match hits.is_empty() {
            true => "No name there has it in it.".to_owned(),
            false => {
                let lines = hits.iter().map(|hit| match &*hit.description {
                    "" => format!("\n  {}", hit.name),
                    about => format!("\n  {}: {about}", hit.name),
                });
                format!("These have it in their names:{}", lines.collect::<String>())
            }
        };
        Ok(failure.with_hint(hint))
    }

    /// What a `server.json` describes.
    pub(crate) async fn of_text(&self, text: &str, kind: Option<&str>) -> Result<Found, Failure> {
        let file = ServerJson::read(text);
        let file = file.map_err(|why| Failure::new(Exit::Other, why.to_string()))?;
        self.choose(file, kind).await
    }

    /// The first offer that can be taken.
    async fn choose(&self, file: ServerJson, kind: Option<&str>) -> Result<Found, Failure> {
        let wanted = |offer: &&mcp_config::Offer| match kind {
            None => true,
            Some("remote") => ["streamable-http", "sse"].contains(&&*offer.kind),
            Some(kind) => offer.kind == kind,
        };
        let offers: Vec<_> = file.offers().cloned().enumerate().collect();
        let mut fitting = offers
            .iter()
            .filter(|(_, offer)| wanted(&offer) && offer.problem.is_none());
        let Some((at, offer)) = fitting.next() else {
            let why = offers.iter().map(|(_, offer)| {
                let problem = offer.problem.as_deref().unwrap_or("can be taken");
                format!("\n  {} {}: {problem}", offer.kind, offer.identifier)
            });
            let failure = Failure::new(
                Exit::Other,
                format!("{} offers nothing that can be installed here", file.name()),
            );
            return Err(match offers.is_empty() {
                true => failure,
                false => failure.with_hint(format!("It offers:{}", why.collect::<String>())),
            });
        };
        let mut notes = Vec::new();
        for (_, other) in offers
            .iter()
            .filter(|(other, it)| other != at && it.problem.is_none())
        {
            notes.push(format!(
                "there is also {} {} (--package {})",
                other.kind, other.identifier, other.kind
            ));
        }
        if offer.kind == "oci" && !offer.identifier.contains("@sha256:") {
            notes.push(
                "the tag of an image can be moved to another one: only a digest cannot".to_owned(),
            );
        }
        let installed = Installed {
            name: file.name().to_owned(),
            version: file.version().map(str::to_owned),
            kind: offer.kind.clone(),
            package: offer.identifier.clone(),
            ..Installed::default()
        };
        if offer.kind == "mcpb" {
            let mut found = self.download(offer).await?;
            found.notes.extend(notes);
            found.installed = Installed {
                version: installed.version.or(found.installed.version),
                sha256: found.installed.sha256,
                folder: found.installed.folder,
                ..installed
            };
            return Ok(found);
        }
        Ok(Found {
            installed,
            description: file.description().map(str::to_owned),
            notes,
            inputs: offer.inputs.clone(),
            what: What::Offer(file, *at),
        })
    }

    /// Downloads a bundle, which must be the one that was described.
    async fn download(&self, offer: &mcp_config::Offer) -> Result<Found, Failure> {
        let url = &offer.identifier;
        let Some(sha256) = &offer.sha256 else {
            let text = format!("the bundle {url} has no \"fileSha256\", so it could be any file");
            return Err(Failure::new(Exit::Other, text));
        };
        let (download, mut file) = Download::create()?;
        let most = Bounds::default().file;
        self.fetch.file(url, most, &mut file).await?;
        drop(file);
        let path = download.path.clone();
        let found = of_bundle(path, Some(download)).await?;
        match &found.installed.sha256 {
            Some(found) if found != sha256 => {
                let text = format!("the bundle {url} is another file than was described");
                let hint = format!("Its SHA-256 should be {sha256}, and is {found}.");
                Err(Failure::new(Exit::Other, text).with_hint(hint))
            }
            _ => Ok(found),
        }
    }
}

/// What a bundle holds.
async fn of_bundle(path: PathBuf, download: Option<Download>) -> Result<Found, Failure> {
    let read = tokio::task::spawn_blocking(move || read_bundle(&path, download));
    let broken = |_| Failure::new(Exit::Other, "reading the bundle was broken off");
    read.await.map_err(broken)?
}

fn read_bundle(path: &Path, download: Option<Download>) -> Result<Found, Failure> {
    let bundle = Bundle::open(path, Bounds::default())?;
    let failed =
        |why: String| Failure::new(Exit::Other, format!("the bundle's manifest.json: {why}"));
    let manifest: Manifest =
        serde_json::from_str(&bundle.manifest).map_err(|error| failed(error.to_string()))?;
    let file = ConfigFile::read(&bundle.manifest, Dialect::Bundle);
    let file = file.map_err(|why| failed(why.to_string()))?;
    if let Some(problem) = file.problems().first() {
        return Err(failed(problem.to_string()));
    }
    if let Some(id) = undescribed(&file) {
        return Err(failed(format!(
            "it asks for {id:?}, which it does not describe"
        )));
    }
    let here = match std::env::consts::OS {
        "macos" => "darwin",
        "windows" => "win32",
        other => other,
    };
    let platforms = manifest.compatibility.platforms.as_ref();
    if platforms.is_some_and(|them| !them.iter().any(|it| it == here)) {
        return Err(failed(format!("it is not for {here}")));
    }
    if let Some(entry) = manifest
        .server
        .entry_point
        .as_deref()
        .filter(|it| !bundle.has(it))
    {
        return Err(failed(format!(
            "it starts {entry:?}, which is not in the bundle"
        )));
    }
    let mut notes = Vec::new();
    match &bundle.signature {
        None => notes.push("it is not signed".to_owned()),
        Some(signature) => {
            let whom = signature.claimed.as_deref();
            let whom = whom
                .map(|whom| format!(" by {whom:?}, as it says"))
                .unwrap_or_default();
            notes.push(format!("it has a signature{whom}, which is not verified"));
        }
    }
    let installed = Installed {
        name: manifest.name.clone(),
        version: Some(manifest.version.clone()),
        kind: "mcpb".to_owned(),
        package: path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned(),
        sha256: Some(bundle.sha256.clone()),
        folder: Some(folder_name(&manifest.version, &bundle.sha256)),
        registry: None,
    };
    Ok(Found {
        installed,
        description: manifest.description.clone(),
        notes,
        inputs: file.inputs().to_vec(),
        what: What::Bundle(Box::new(Program {
            bundle,
            manifest,
            file,
            _download: download,
        })),
    })
}

/// An input that the program needs and that nothing is said about.
fn undescribed(file: &ConfigFile) -> Option<String> {
    let described = |variable: Variable<'_>| match variable {
        Variable::Input(id) if file.inputs().iter().all(|input| input.id != id) => None,
        _ => Some(String::new()),
    };
    let unresolved = file.resolve(&described).unresolved;
    unresolved
        .into_iter()
        .flat_map(|server| server.missing)
        .find_map(|missing| match missing {
            Missing::Input { id } => Some(id),
            _ => None,
        })
}

fn description(path: &Path) -> std::io::Result<String> {
    let mut text = String::new();
    let file = File::open(path)?;
    std::io::Read::read_to_string(&mut std::io::Read::take(file, DESCRIPTION), &mut text)?;
    Ok(text)
}

/// A file that is removed when it is not needed any more.
#[derive(Debug)]
pub(crate) struct Download {
    path: PathBuf,
}

impl Download {
    fn create() -> Result<(Self, File), Failure> {
        let name = format!("switchboard-{}.mcpb", ServerId::fresh());
        let path = std::env::temp_dir().join(name);
        let mut options = home::private();
        let file = options.create_new(true).write(true).open(&path);
        let file = file.map_err(|error| {
            let text = format!("{} cannot be written", path.display());
            Failure::new(Exit::Other, text).caused_by(error)
        })?;
        Ok((Self { path }, file))
    }

    /// A bundle that was sent to us.
    pub(crate) async fn of(bytes: Vec<u8>) -> Result<Found, Failure> {
        let (download, mut file) = Self::create()?;
        std::io::Write::write_all(&mut file, &bytes).map_err(|error| {
            Failure::new(Exit::Other, "the bundle cannot be kept").caused_by(error)
        })?;
        let path = download.path.clone();
        of_bundle(path, Some(download)).await
    }
}

impl Drop for Download {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

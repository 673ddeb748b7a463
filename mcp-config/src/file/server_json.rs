//! `server.json` of the MCP registry with all its offers, to choose from.

use crate::dialect::Dialect;
use crate::file::document::{self, Kind, Node};
use crate::file::input::Input;
use crate::file::problem::{ConfigProblem, Place};
use crate::file::registry;
use crate::server::ServerConfig;
use crate::server::name::ServerName;

/// A `server.json`: a server, and the ways to run or to reach it.
///
/// Each package is pinned to one version and run by a program that is known to run its kind: `npx` or `bunx`, `uvx`,
/// `docker` or `podman`, `dnx`. An offer that is not so says why it cannot be taken.
///
/// ```
/// use mcp_config::ServerJson;
///
/// let file = ServerJson::read(
///     r#"{"name": "com.example/weather", "version": "1.0.2", "packages": [{
///         "registryType": "npm", "identifier": "@example/weather", "version": "1.0.2",
///         "transport": {"type": "stdio"},
///         "packageArguments": [{"type": "named", "name": "--units", "choices": ["metric", "imperial"]}]
///     }]}"#,
/// )?;
/// let without_units = file.config(0, &|_| 0).unwrap();
/// assert_eq!(without_units.endpoint().to_string(), "npx -y @example/weather@1.0.2");
/// # Ok::<(), mcp_config::ConfigProblem>(())
/// ```
#[derive(Clone, Debug)]
pub struct ServerJson {
    root: Node,
    name: String,
    offers: Vec<(Offer, &'static str, usize)>,
}

/// A way to run or to reach the server of a [`ServerJson`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Offer {
    /// `npm`, `pypi`, `oci`, `nuget`, `mcpb` or another registry's type; `streamable-http` or `sse` for a URL.
    pub kind: String,
    /// The package, the address of the bundle, or the URL with its variables.
    pub identifier: String,
    /// The version of the package.
    pub version: Option<String>,
    /// The SHA-256 of the package's file.
    pub sha256: Option<String>,
    /// What the user is asked for.
    pub inputs: Vec<Input>,
    /// Why it cannot be taken. A bundle can: it is a file to install.
    pub problem: Option<String>,
}

impl ServerJson {
    /// Reads a file.
    ///
    /// # Errors
    ///
    /// If it is not JSON, not an object or without a name.
    pub fn read(text: &str) -> Result<Self, ConfigProblem> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let root = document::parse(text, Dialect::Registry)?;
        let Some(Kind::Text(name)) = root.get("name").map(|name| &name.kind) else {
            return Err(ConfigProblem {
                place: Place::new(text, root.at, "$.name".to_owned()),
                server: None,
                message: "expected the name of the server".to_owned(),
            });
        };
        let name = name.clone();
        let mut offers = Vec::new();
        for list in registry::LISTS {
            if let Some(Kind::List(items)) = root.get(list).map(|node| &node.kind) {
                let items = items.iter().enumerate();
                offers.extend(items.map(|(at, item)| (offer(list, item), list, at)));
            }
        }
        Ok(Self { root, name, offers })
    }

    /// The server's whole name: `com.example/weather`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The server's version.
    pub fn version(&self) -> Option<&str> {
        text(&self.root, "version")
    }

    /// The server's description.
    pub fn description(&self) -> Option<&str> {
        text(&self.root, "description")
    }

    /// The ways to run or to reach it, packages first.
    pub fn offers(&self) -> impl ExactSizeIterator<Item = &Offer> {
        self.offers.iter().map(|(offer, ..)| offer)
    }

    /// The server as an offer starts or reaches it, with references to as many values of each input as `count` says.
    ///
    /// # Errors
    ///
    /// Why the offer cannot be taken.
    pub fn config(
        &self,
        offer: usize,
        count: &dyn Fn(&Input) -> usize,
    ) -> Result<ServerConfig, String> {
        let found = self.offers.get(offer);
        let (_, list, at) = found.ok_or_else(|| "there is no such offer".to_owned())?;
        let item = match self.root.get(list).map(|node| &node.kind) {
            Some(Kind::List(items)) => items.get(*at),
            _ => None,
        };
        let item = item.ok_or_else(|| "there is no such offer".to_owned())?;
        let endpoint = registry::endpoint(list, item, count);
        let (endpoint, _) = endpoint.map_err(|fault| fault.message)?;
        // The part before the slash is the owner.
        let name = self.name.rsplit('/').next().unwrap_or(&self.name);
        let name = ServerName::new(name).map_err(|error| error.to_string())?;
        Ok(ServerConfig::new(name, endpoint))
    }
}

fn text<'a>(node: &'a Node, name: &str) -> Option<&'a str> {
    match node.get(name).map(|node| &node.kind) {
        Some(Kind::Text(text)) => Some(text),
        _ => None,
    }
}

fn offer(list: &str, item: &Node) -> Offer {
    let said = |name: &str| text(item, name).map(str::to_owned);
    let (kind, identifier) = match list {
        "packages" => ("registryType", "identifier"),
        _ => ("type", "url"),
    };
    let kind = said(kind).unwrap_or_default();
    let read = registry::endpoint(list, item, &|_| 1);
    let (inputs, problem) = match read {
        _ if kind == "mcpb" => (Vec::new(), None),
        Ok((_, mut inputs)) => {
            // One that is named twice is asked for once.
            let mut seen = Vec::new();
            inputs.retain(|input: &Input| {
                let is_new = !seen.contains(&input.id);
                seen.push(input.id.clone());
                is_new
            });
            (inputs, None)
        }
        Err(fault) => (Vec::new(), Some(fault.message)),
    };
    Offer {
        kind,
        identifier: said(identifier).unwrap_or_default(),
        version: said("version"),
        sha256: said("fileSha256"),
        inputs,
        problem,
    }
}

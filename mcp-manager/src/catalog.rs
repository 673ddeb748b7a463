//! The catalogue: the tools, prompts and resources of all servers, as one immutable snapshot.

mod diff;
mod entry;
mod listing;
pub(crate) mod name;
mod problem;
mod scan;

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::{Arc, OnceLock};

use mcp_jsonrpc::model::{Prompt, Resource, ResourceTemplate};
use serde::ser::{Serialize, Serializer};

pub use self::diff::{CatalogDiff, ChangedEntry};
pub use self::entry::Entry;
pub use self::listing::{CacheHints, Listing};
pub use self::name::{ExposedName, MAX_EXPOSED_NAME};
pub use self::problem::{ItemKind, ListProblem};
use self::scan::Findings;
use mcp_config::ServerName;
use tool_policy::{Finding, scan_instructions};

/// The tools, prompts and resources of all servers at one moment.
///
/// A snapshot never changes. A change creates a new one with a higher [`epoch`](Self::epoch), so a turn that keeps its
/// snapshot cannot be misrouted. Everything is ordered by the server's name, then by the item's own: the same servers
/// give the same catalogue, byte for byte, regardless of the order they arrived in.
///
/// ```
/// use std::sync::Arc;
/// use mcp_jsonrpc::{RawObject, model::Tool};
/// use mcp_manager::{Catalog, Listing, ToolSettings};
///
/// let listing = Listing::new("files".parse()?)
///     .with_tools([Tool::new("read", RawObject::empty())], &ToolSettings::default());
/// let catalog = Catalog::empty().with(Arc::new(listing));
/// let read = catalog.tool("mcp__files__read").ok_or("not there")?;
/// assert_eq!((read.server().as_str(), read.name()), ("files", "read"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Catalog {
    epoch: u64,
    listings: BTreeMap<ServerName, Arc<Listing>>,
    tools: Vec<Arc<Entry>>,
    by_name: HashMap<ExposedName, usize>,
    scan: Arc<OnceLock<Findings>>,
}

impl Catalog {
    /// The empty catalogue, of epoch 0.
    pub fn empty() -> Self {
        Self::new(0, [])
    }

    /// Creates the catalogue of these servers. Of two listings of one server the last one wins.
    pub fn new(epoch: u64, listings: impl IntoIterator<Item = Arc<Listing>>) -> Self {
        let listings = listings
            .into_iter()
            .map(|listing| (listing.server().clone(), listing))
            .collect();
        Self::of(epoch, listings)
    }

    /// The next catalogue, in which this listing replaces the server's previous one, if any.
    #[must_use]
    pub fn with(&self, listing: Arc<Listing>) -> Self {
        let mut listings = self.listings.clone();
        listings.insert(listing.server().clone(), listing);
        Self::of(self.epoch + 1, listings)
    }

    /// The next catalogue, without a server.
    #[must_use]
    pub fn without(&self, server: &ServerName) -> Self {
        let mut listings = self.listings.clone();
        listings.remove(server);
        Self::of(self.epoch + 1, listings)
    }

    fn of(epoch: u64, listings: BTreeMap<ServerName, Arc<Listing>>) -> Self {
        let count = listings.values().map(|listing| listing.tools().len()).sum();
        let mut tools: Vec<Arc<Entry>> = Vec::with_capacity(count);
        let mut by_name = HashMap::with_capacity(count);
        for entry in listings.values().flat_map(|listing| listing.tools()) {
            let entry = settle(entry, &by_name);
            by_name.insert(entry.exposed_name().clone(), tools.len());
            tools.push(entry);
        }
        Self {
            epoch,
            listings,
            tools,
            by_name,
            scan: Arc::default(),
        }
    }

    /// The number of this snapshot; a later one has a higher number.
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// All tools, enabled or not, in order.
    pub fn tools(&self) -> &[Arc<Entry>] {
        &self.tools
    }

    /// The enabled tools, in order: the ones a model gets.
    pub fn enabled_tools(&self) -> impl Iterator<Item = &Arc<Entry>> {
        self.tools.iter().filter(|entry| entry.is_enabled())
    }

    /// The tool with this exposed name. Only complete exposed names are found.
    pub fn tool(&self, exposed_name: &str) -> Option<&Arc<Entry>> {
        self.tools.get(*self.by_name.get(exposed_name)?)
    }

    /// A server's tool, by the server's own name for it.
    pub fn find(&self, server: &ServerName, tool: &str) -> Option<&Arc<Entry>> {
        let key = (server, tool);
        let found = self
            .tools
            .binary_search_by(|entry| (entry.server(), entry.name()).cmp(&key));
        self.tools.get(found.ok()?)
    }

    /// The listing of one server.
    pub fn listing(&self, server: &ServerName) -> Option<&Arc<Listing>> {
        self.listings.get(server)
    }

    /// The listings of all servers, by name. The tool names in a listing are those before collisions between servers
    /// were resolved.
    pub fn listings(&self) -> impl Iterator<Item = &Arc<Listing>> {
        self.listings.values()
    }

    /// All prompts, each with its server.
    pub fn prompts(&self) -> impl Iterator<Item = (&ServerName, &Arc<Prompt>)> {
        self.each(Listing::prompts)
    }

    /// All resources, each with its server.
    pub fn resources(&self) -> impl Iterator<Item = (&ServerName, &Arc<Resource>)> {
        self.each(Listing::resources)
    }

    /// All resource templates, each with its server.
    pub fn resource_templates(
        &self,
    ) -> impl Iterator<Item = (&ServerName, &Arc<ResourceTemplate>)> {
        self.each(Listing::resource_templates)
    }

    /// The items that could not be listed and the reasons, each with its server.
    pub fn problems(&self) -> impl Iterator<Item = (&ServerName, &ListProblem)> {
        self.each(Listing::problems)
    }

    /// The approximate number of tokens the enabled tools cost a model.
    pub fn tokens(&self) -> usize {
        self.enabled_tools().map(|entry| entry.tokens()).sum()
    }

    /// Signs of an attack in a tool's definition, given the tools of the other servers. The first call scans the whole
    /// catalogue.
    pub fn findings(&self, entry: &Entry) -> &[Finding] {
        let all = self.scan.get_or_init(|| scan::scan(self));
        let its = all
            .get(entry.server())
            .and_then(|its| its.get(entry.name()));
        its.map(Vec::as_slice).unwrap_or_default()
    }

    /// Signs of an attack in a text that a server gives a model to follow, such as its instructions or a
    /// skill, given the tools of the other servers.
    pub fn findings_in_instructions(&self, server: &ServerName, text: &str) -> Vec<Finding> {
        scan_instructions(text, &scan::neighbours(self).of(server.as_str()))
    }

    /// The changes from this snapshot to `newer`.
    pub fn diff(&self, newer: &Self) -> CatalogDiff {
        diff::diff(self, newer)
    }

    /// Whether the lists of the servers that both have are in the same order and as fresh.
    pub(crate) fn is_kept_like(&self, other: &Self) -> bool {
        self.listings.iter().all(|(server, listing)| {
            let other = other.listings.get(server);
            other.is_none_or(|other| listing.is_kept_like(other))
        })
    }

    fn each<'a, T: 'a>(
        &'a self,
        items: fn(&'a Listing) -> &'a [T],
    ) -> impl Iterator<Item = (&'a ServerName, &'a T)> {
        self.listings.iter().flat_map(move |(server, listing)| {
            items(listing).iter().map(move |item| (server, item))
        })
    }
}

/// `entry` under a name that is not taken.
fn settle(entry: &Arc<Entry>, taken: &HashMap<ExposedName, usize>) -> Arc<Entry> {
    if !taken.contains_key(entry.exposed_name()) {
        return Arc::clone(entry);
    }
    let mut settled = Entry::clone(entry);
    let mut attempt = 0;
    while taken.contains_key(settled.exposed_name()) {
        attempt += 1;
        settled.rename(attempt);
    }
    Arc::new(settled)
}

impl Serialize for Catalog {
    /// The tools, in order: the same servers give the same bytes.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.tools.iter().map(|entry| &**entry))
    }
}

impl Default for Catalog {
    fn default() -> Self {
        Self::empty()
    }
}

impl fmt::Debug for Catalog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Catalog")
            .field("epoch", &self.epoch)
            .field("servers", &self.listings.len())
            .field("tools", &self.tools.len())
            .finish()
    }
}

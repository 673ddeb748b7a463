//! Installation of servers: from a registry, from a package, from a `server.json` or from a bundle.
//!
//! What would be done is a [`Plan`], made without side effects beyond a download into the data folder's
//! staging area; [`apply`] does it. A bundle is unpacked under the sandbox's rules for names and sizes
//! (`archive`), and is in its final folder only as a whole (`place`).

mod apply;
mod archive;
mod fetch;
mod find;
mod place;
mod plan;
mod question;
mod registry;
mod source;
mod update;
mod version;

pub(crate) use apply::apply;
pub(crate) use find::{Download, Finder, Found};
pub(crate) use place::{bundle_of, remove_bundle};
pub(crate) use plan::{Answers, Plan, merged};
pub(crate) use question::{check, default_values, shown_kind};
pub(crate) use registry::Registry;
pub(crate) use source::Source;
pub(crate) use update::{Difference, Standing, standing, stored_answers};

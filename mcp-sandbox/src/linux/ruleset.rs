//! The rules for files and ports as a Landlock ruleset.

use std::io;
use std::os::fd::OwnedFd;

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, NetPort, Ruleset,
    RulesetAttr, RulesetCreated, RulesetCreatedAttr, Scope, path_beneath_rules,
};

use crate::plan::{FileAccess, FileRule};
use crate::profile::{Network, Profile};

/// The newest interface that this crate uses. An older kernel ignores what it does not know, which
/// [`containment`](super::containment) reports.
const NEWEST: ABI = ABI::V6;

/// A ruleset for one child; `None` where the kernel has no Landlock.
pub(super) fn build(
    profile: &Profile,
    rules: &[FileRule],
    proxy: Option<u16>,
) -> io::Result<Option<OwnedFd>> {
    let all = AccessFs::from_all(NEWEST);
    let mut ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(all)
        .and_then(|ruleset| ruleset.scope(Scope::Signal))
        .map_err(io::Error::other)?;
    if !profile.may_use_unix_sockets {
        ruleset = ruleset
            .scope(Scope::AbstractUnixSocket)
            .map_err(io::Error::other)?;
    }
    if profile.network != Network::All {
        ruleset = ruleset
            .handle_access(AccessNet::from_all(NEWEST))
            .map_err(io::Error::other)?;
    }
    let mut created = ruleset.create().map_err(io::Error::other)?;
    for access in [FileAccess::Read, FileAccess::Device, FileAccess::Write] {
        created = add(created, profile, rules, access)?;
    }
    if let Some(port) = proxy {
        let rule = NetPort::new(port, AccessNet::ConnectTcp);
        created = created.add_rule(rule).map_err(io::Error::other)?;
    }
    Ok(created.into())
}

/// Adds the rules with this access. A path that does not exist is no rule.
fn add(
    created: RulesetCreated,
    profile: &Profile,
    rules: &[FileRule],
    access: FileAccess,
) -> io::Result<RulesetCreated> {
    let paths = rules.iter().filter(|rule| rule.access == access);
    let paths = paths.map(|rule| rule.path.as_path());
    created
        .add_rules(path_beneath_rules(paths, rights(profile, access)))
        .map_err(io::Error::other)
}

fn rights(profile: &Profile, access: FileAccess) -> BitFlags<AccessFs> {
    let read = AccessFs::Execute | AccessFs::ReadFile | AccessFs::ReadDir;
    let sockets = match profile.may_use_unix_sockets {
        true => AccessFs::MakeSock.into(),
        false => BitFlags::empty(),
    };
    match access {
        FileAccess::Read => read,
        FileAccess::Device => AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::Truncate,
        FileAccess::Write => {
            read | sockets
                | AccessFs::WriteFile
                | AccessFs::Truncate
                | AccessFs::Refer
                | AccessFs::RemoveDir
                | AccessFs::RemoveFile
                | AccessFs::MakeDir
                | AccessFs::MakeReg
                | AccessFs::MakeSym
                | AccessFs::MakeFifo
        }
    }
}

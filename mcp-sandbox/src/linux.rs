//! Containment on Linux: a Landlock ruleset, two seccomp filters, resource limits and no capabilities,
//! all prepared before the fork and applied by the child before it becomes the server.

mod connects;
mod filter;
mod kernel;
mod program;
mod reach;
mod ruleset;
mod sys;

use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use mcp_transport::{LocalSpawner, SpawnRequest, SpawnedProcess, TransportError};

use crate::denial::Denials;
use crate::plan::{self, FileRule, ProgramFiles, Sockets};
use crate::profile::{Network, Profile};
use reach::Reach;
use sys::Report;

pub(crate) use kernel::containment;

/// Starts a server that contains itself before it runs.
pub(crate) async fn spawn(
    request: SpawnRequest,
    profile: Arc<Profile>,
    own: PathBuf,
    proxy: Option<u16>,
    denials: Arc<Denials>,
) -> Result<Arc<dyn SpawnedProcess>, TransportError> {
    let program = request.program.clone();
    let failed = |action: &str, error: io::Error| TransportError::Spawn {
        program: program.clone(),
        source: format!("{action}: {error}").into(),
    };
    let (report, theirs) = Report::pair().map_err(|error| failed("making its sandbox", error))?;
    let prepare = move |command: &mut Command| prepare(command, &profile, &own, proxy, theirs);
    match LocalSpawner::new().spawn_prepared(request, prepare).await {
        Ok(process) => {
            if let Some(port) = proxy {
                // Until this thread answers, the server waits where it first connects.
                report
                    .listener()
                    .and_then(|listener| connects::guard(listener, port, denials))
                    .map_err(|error| failed("guarding its connections", error))?;
            }
            Ok(process)
        }
        Err(error) => Err(match (report.failed_step(), error) {
            (Some(step), TransportError::Spawn { source, .. }) => TransportError::Spawn {
                program,
                source: format!("its sandbox failed while {step}: {source}").into(),
            },
            (_, error) => error,
        }),
    }
}

/// Prepares a command so that its child contains itself.
fn prepare(
    command: &mut Command,
    profile: &Profile,
    own: &Path,
    proxy: Option<u16>,
    report: OwnedFd,
) -> io::Result<()> {
    let home = std::env::home_dir();
    let program = std::path::absolute(command.get_program())?;
    let rules = rules(profile, &program, home.as_deref(), own);
    let confinement = sys::Confinement {
        ruleset: ruleset::build(profile, &rules, proxy)?,
        logs_denials: kernel::landlock_abi() >= 7,
        filters: filter::compile(profile)?,
        guards_connects: Sockets::from(&profile.network) == Sockets::Proxy,
        limits: kernel::limits(&profile.limits),
        report,
    };
    let given: Vec<_> = command
        .get_envs()
        .filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned())))
        .collect();
    let kept = plan::environment(profile, given, own, proxy);
    command.env_clear().envs(kept);
    sys::confine_child(command, confinement);
    Ok(())
}

/// The rules for files, in which nothing is left that the server could lead elsewhere.
fn rules(profile: &Profile, program: &Path, home: Option<&Path>, own: &Path) -> Vec<FileRule> {
    let files_of = |program: &ProgramFiles| plan::file_rules(profile, program, home, own);
    let reach = Reach::of(&files_of(&ProgramFiles::default()));
    let program = program::files(program, &reach);
    reach.settle(files_of(&program))
}

/// A profile that makes no sense, with what to do about it.
pub(crate) fn check(profile: &Profile) -> Result<(), &'static str> {
    match profile.network {
        Network::Hosts(_) if profile.may_use_unix_sockets => Err(
            "a profile that lists hosts cannot allow Unix sockets, by which it would reach others: \
             remove one of the two",
        ),
        Network::Hosts(_) if !kernel::answers_connects() => Err(
            "this machine lets no process look at another (`sysctl kernel.yama.ptrace_scope` is 2 or 3), and by that \
             listed hosts are reached: set it to 1, or allow no network or all of it",
        ),
        _ => Ok(()),
    }
}

#![doc = include_str!("../README.md")]

mod containment;
mod denial;
mod plan;
mod profile;
mod proxy;
mod sandbox;
mod suggest;
#[cfg(target_os = "linux")]
mod syscalls;

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
mod elsewhere;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "macos")]
mod macos;
mod seatbelt;

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
use elsewhere as platform;
#[cfg(target_os = "linux")]
use linux as platform;
#[cfg(target_os = "macos")]
use macos as platform;

pub use containment::{Containment, Guarantee, Holding};
pub use denial::{Denial, Wanted};
pub use plan::{FileAccess, FileRule, Origin, ProgramFiles, Sockets, file_rules};
pub use profile::{HostRule, InvalidHost, Network, Profile, SandboxLimits};
pub use sandbox::Sandbox;
pub use suggest::{PathKind, Suggestion, suggest};

//! Faults of lines and of the process that writes them.

mod framing;
mod process;
mod timing;

use std::io;
use std::pin::Pin;

use super::{Fault, Kind};
use crate::wire::{Lines, Style};

/// The whole life of a server on a pair of byte streams.
pub(crate) type LineFn = for<'a> fn(&'a mut Lines) -> Life<'a>;

/// The future of a server's life.
pub(crate) type Life<'a> = Pin<Box<dyn Future<Output = io::Result<End>> + Send + 'a>>;

/// How a server ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum End {
    /// The client closed its end.
    Closed,
    /// It exited by itself, with this status.
    Exit(i32),
}

pub(super) fn all() -> Vec<Fault> {
    [framing::FAULTS, process::FAULTS, timing::FAULTS].concat()
}

const STYLE: Style = Style::PLAIN;

const fn lines(name: &'static str, about: &'static str, style: Style, life: LineFn) -> Fault {
    Fault::new(name, about, Kind::Lines(style, life))
}

/// Behaves well to the end.
async fn serve(lines: &mut Lines) -> io::Result<End> {
    lines.serve().await?;
    Ok(End::Closed)
}

/// Keeps running, but does nothing any more.
async fn live_on() -> io::Result<End> {
    std::future::pending().await
}

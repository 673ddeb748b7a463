//! The interactive chat in the terminal.

mod approval;
mod command;
mod complete;
mod console;
mod drive;
mod edit;
mod export;
mod form;
mod history;
mod input;
mod interrupt;
mod key;
mod markdown;
mod media;
mod router;
mod screen;
mod spinner;
mod terminal;
mod view;

pub(crate) use crate::display::untrusted::text as clean;
pub(crate) use command::{Command, NAMES, help};
pub(crate) use complete::Words;
pub(crate) use console::{Console, Forms};
pub(crate) use drive::{Ended, drive};
pub(crate) use export::{call_json, export_html, export_json, export_markdown, result_text};
pub(crate) use form::{fill_in, visit};
pub(crate) use input::{Input, Line, Notice};
#[cfg(unix)]
pub(crate) use interrupt::InterruptFilter;
pub(crate) use interrupt::Interrupts;
pub(crate) use screen::{Show, money};
pub(crate) use terminal::restore;

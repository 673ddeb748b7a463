#![doc = include_str!("../README.md")]

mod arguments;
mod assistants;
mod brief;
mod browser;
mod chat;
pub mod cli;
pub mod demo;
mod doctor;
mod exit;
pub mod home;
mod import;
pub mod models;
mod out;
pub mod serve;
mod servers;
pub mod session;
mod settings;
mod signature;
pub mod store;
mod untrusted;
mod utc;
mod workbench;

pub use exit::{Exit, Failure};
pub use out::{Color, Mode, Out, Style};

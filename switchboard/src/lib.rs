#![doc = include_str!("../README.md")]

mod chat;
pub mod cli;
pub mod demo;
mod exit;
pub mod home;
pub mod models;
mod out;
pub mod session;
pub mod store;
mod workbench;

pub use exit::{Exit, Failure};
pub use out::{Out, Style};

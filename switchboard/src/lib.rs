#![doc = include_str!("../README.md")]

pub mod cli;
pub mod demo;
mod exit;
pub mod models;
mod out;
pub mod store;

pub use exit::{Exit, Failure};
pub use out::{Out, Style};

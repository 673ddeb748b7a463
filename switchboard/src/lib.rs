#![doc = include_str!("../README.md")]

pub mod cli;
pub mod demo;
mod exit;
mod out;
mod signature;

pub use exit::{Exit, Failure};
pub use out::{Out, Style};

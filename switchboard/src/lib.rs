#![doc = include_str!("../README.md")]

mod chat;
pub mod cli;
#[doc(hidden)]
pub mod conversation;
pub mod demo;
mod display;
mod exit;
mod gateway;
#[doc(hidden)]
pub mod home;
mod lang;
#[doc(hidden)]
pub mod models;
pub mod serve;
mod servers;
mod setup;
#[doc(hidden)]
pub mod store;
#[cfg(feature = "telemetry")]
mod telemetry;
mod token;

pub use exit::{Exit, Failure};

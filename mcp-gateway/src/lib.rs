#![doc = include_str!("../README.md")]

mod error;
mod gateway;
mod handler;
mod lists;
mod live_call;
mod questions;
mod relay;
mod routes;
mod watches;

pub use gateway::{Gateway, GatewayBuilder, Upstream};

#![doc = include_str!("../README.md")]

pub mod models;
pub mod store;

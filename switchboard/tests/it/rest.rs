//! The REST API about servers, tools, assistants and settings, on the program itself.

mod assistants;
mod attachments;
mod chats;
mod connection;
mod desk;
mod guests;
#[cfg(unix)]
mod install;
mod login;
mod models;
#[cfg(target_os = "linux")]
mod sandbox;
mod secrets;
mod separation;
mod servers;
mod settings;
mod tools;
mod unknown;
mod versions;

//! The REST API about servers, tools, assistants and settings, on the program itself.

mod assistants;
mod connection;
mod desk;
mod guests;
mod login;
mod secrets;
mod separation;
mod servers;
mod settings;
mod tools;
mod unknown;

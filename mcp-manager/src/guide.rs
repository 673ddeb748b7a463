#![doc = include_str!("docs/many_servers.md")]

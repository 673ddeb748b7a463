#![doc = include_str!("docs/connect_one_server.md")]

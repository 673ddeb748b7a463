#![doc = include_str!("docs/add_a_provider.md")]

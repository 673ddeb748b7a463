//! A server in 20 lines, on standard input and output: for Claude Desktop, VS Code, `switchboard` …
//!
//! ```text
//! switchboard tools -- cargo run -q -p switchboard-sdk --features server --example server
//! ```

use switchboard_sdk::prelude::*;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Roll {
    /// The number of sides of the dice.
    sides: u64,
}

#[tokio::main]
async fn main() {
    Server::new(Implementation::new("dice", "1.0.0"))
        .tool("roll", "Rolls a dice", |roll: Roll, _| async move {
            let time = std::time::UNIX_EPOCH.elapsed().unwrap_or_default();
            (u64::from(time.subsec_micros()) % roll.sides.max(1) + 1).to_string()
        })
        .serve_stdio()
        .await;
}

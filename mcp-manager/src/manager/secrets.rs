//! The secrets of a server's configuration.

use mcp_config::{Endpoint, ServerConfig, is_secret, secrets_in_args, secrets_in_url};
use tool_policy::Secrets;

/// Adds what is a secret by its name or its look.
pub(super) fn add(all: &mut Secrets, config: &ServerConfig) {
    let server = config.name().as_str();
    let mut named = |name: &str, value: &str| {
        if is_secret(name, value) {
            all.add_of_server(server, name, value);
        }
    };
    match config.endpoint() {
        Endpoint::Stdio(command) => {
            for (name, value) in command.env() {
                named(name, value.expose());
            }
            for name in command.inherited() {
                if let Ok(value) = std::env::var(name) {
                    named(name, &value);
                }
            }
            let args: Vec<String> = command
                .args()
                .iter()
                .map(|arg| arg.expose().to_owned())
                .collect();
            for (at, span) in secrets_in_args(&args) {
                if let Some(value) = args.get(at).and_then(|arg| arg.get(span)) {
                    all.add_of_server(server, &format!("argument {}", at + 1), value);
                }
            }
        }
        Endpoint::Remote(remote) => {
            for (name, value) in remote.headers() {
                named(name, value.expose());
            }
            let url = remote.url().expose();
            for span in secrets_in_url(url) {
                all.add_of_server(server, "its address", url.get(span).unwrap_or_default());
            }
        }
        _ => {}
    }
}

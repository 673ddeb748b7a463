//! A server as one line: its address, or the command that starts it, as documentation shows it.

use mcp_config::{RemoteEndpoint, RemoteKind, ServerConfig, ServerName};
use mcp_transport::ServerCommand;

use crate::servers::{is_url, split_header};

/// Programs that run another one, which is what a server is named for.
const RUNNERS: [&str; 9] = [
    "npx", "bunx", "pnpx", "uvx", "uv", "pipx", "docker", "node", "python",
];

/// The server of a line; nothing if the text is no line but a file.
pub(crate) fn read(text: &str) -> Option<Result<ServerConfig, String>> {
    let text = text.trim().trim_start_matches("$ ");
    let line = text.replace("\\\r\n", " ").replace("\\\n", " ");
    let is_file = line.starts_with(['{', '[', '"', '/', '#']) || line.contains('\n');
    if line.is_empty() || (is_file && !line.starts_with('/')) || line.starts_with("//") {
        return None;
    }
    if line.starts_with("/*") || line.contains(" = ") {
        return None;
    }
    Some(words(&line).and_then(|words| server(&words)))
}

/// The words of a line, as a shell divides it: quotes and backslashes keep spaces.
pub(crate) fn words(line: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut signs = line.chars();
    while let Some(sign) = signs.next() {
        match (sign, quote) {
            (sign, Some(open)) if sign == open => quote = None,
            ('\\', None | Some('"')) => word.get_or_insert_default().extend(signs.next()),
            (sign, Some(_)) => word.get_or_insert_default().push(sign),
            ('"' | '\'', None) => {
                quote = Some(sign);
                word.get_or_insert_default();
            }
            (sign, None) if sign.is_whitespace() => words.extend(word.take()),
            (';' | '|' | '&' | '<' | '>' | '`', None) => {
                return Err(format!(
                    "{sign:?} means something to a shell, and no shell runs a server: give its \
                     program and arguments only"
                ));
            }
            (sign, None) => word.get_or_insert_default().push(sign),
        }
    }
    if let Some(open) = quote {
        return Err(format!("the line has a {open} without another one"));
    }
    words.extend(word);
    Ok(words)
}

/// What the options of `claude mcp add` and its like say.
#[derive(Default)]
struct Said {
    name: Option<String>,
    kind: Option<RemoteKind>,
    env: Vec<(String, String)>,
    headers: Vec<(String, String)>,
}

fn server(words: &[String]) -> Result<ServerConfig, String> {
    let mut said = Said::default();
    let mut rest = words;
    if let [_, mcp, add, after @ ..] = words
        && mcp == "mcp"
        && add == "add"
    {
        rest = said.options(after)?;
    }
    // Variables in front of a program are its environment.
    while let [first, after @ ..] = rest
        && let Some((name, value)) = first.split_once('=')
        && is_variable(name)
        && !after.is_empty()
    {
        said.env.push((name.to_owned(), value.to_owned()));
        rest = after;
    }
    let [first, args @ ..] = rest else {
        return Err("there is neither an address nor a program in the line".to_owned());
    };
    if is_url(first) {
        if let [extra, ..] = args {
            return Err(format!("an address stands alone, without {extra:?}"));
        }
        let name = said.name.take().unwrap_or_else(|| of_address(first));
        let mut endpoint = RemoteEndpoint::new(first);
        if let Some(kind) = said.kind {
            endpoint = endpoint.with_kind(kind);
        }
        for (name, value) in &said.headers {
            endpoint = endpoint.with_header(name, value);
        }
        return Ok(ServerConfig::remote(named(&name)?, endpoint));
    }
    if !is_program(first) {
        return Err(format!(
            "this is neither an address nor JSON, and no program {first:?} was found: give its \
             whole path"
        ));
    }
    let name = said.name.take().unwrap_or_else(|| of_command(first, args));
    let mut command = ServerCommand::new(first).with_args(args);
    for (name, value) in &said.env {
        command = command.with_env(name, value);
    }
    Ok(ServerConfig::stdio(named(&name)?, command))
}

impl Said {
    /// Reads options and the name; returns what comes after them.
    fn options<'w>(&mut self, mut words: &'w [String]) -> Result<&'w [String], String> {
        while let [first, after @ ..] = words {
            let value = || after.first().ok_or(format!("{first} has no value"));
            match first.as_str() {
                "--transport" | "-t" => {
                    self.kind = match value()?.as_str() {
                        "sse" => Some(RemoteKind::Sse),
                        "http" => Some(RemoteKind::StreamableHttp),
                        _ => None,
                    };
                }
                "--scope" | "-s" => drop(value()?),
                "--env" | "-e" => {
                    let pair = value()?.split_once('=');
                    let (name, value) = pair.ok_or("--env wants NAME=VALUE")?;
                    self.env.push((name.to_owned(), value.to_owned()));
                }
                "--header" | "-H" => {
                    let parts = split_header(value()?).map_err(|failure| failure.to_string())?;
                    self.headers.push((parts.0.to_owned(), parts.1.to_owned()));
                }
                "--" => return Ok(after),
                word if word.starts_with('-') => return Err(format!("{word} is not known here")),
                _ if self.name.is_none() => {
                    self.name = Some(first.clone());
                    words = after;
                    continue;
                }
                _ => return Ok(words),
            }
            words = after.get(1..).unwrap_or_default();
        }
        Ok(words)
    }
}

/// Whether a word can be a program: one that runs others, which a login shell may find elsewhere, a
/// path, or a program that is found.
fn is_program(word: &str) -> bool {
    let found = || {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let mut folders = std::env::split_paths(&path);
        let endings = ["", ".exe", ".cmd", ".bat"];
        folders.any(|folder| {
            let file = |ending: &str| folder.join(format!("{word}{ending}")).is_file();
            endings.iter().any(|ending| file(ending))
        })
    };
    RUNNERS.contains(&word) || word.contains(['/', '\\']) || found()
}

fn is_variable(name: &str) -> bool {
    let sign = |sign: char| sign.is_ascii_uppercase() || sign.is_ascii_digit() || sign == '_';
    !name.is_empty() && name.chars().all(sign)
}

/// A name from an address: `https://mcp.linear.app/mcp` is `linear`.
fn of_address(url: &str) -> String {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = host.rsplit('@').next().unwrap_or_default();
    let host = host.split(':').next().unwrap_or_default();
    if host
        .chars()
        .all(|sign| sign.is_ascii_digit() || sign == '.')
    {
        return host.replace('.', "-");
    }
    let labels: Vec<&str> = host.split('.').collect();
    let usual = |label: &&&str| matches!(**label, "mcp" | "api" | "www" | "docs");
    let kept = match labels.split_last() {
        Some((_, kept)) if !kept.is_empty() => kept,
        _ => &labels,
    };
    let own = kept.iter().find(|label| !usual(label));
    (*own.or(kept.first()).unwrap_or(&"server")).to_owned()
}

/// A name from a command: `npx -y @modelcontextprotocol/server-filesystem .` is `filesystem`.
fn of_command(program: &str, args: &[String]) -> String {
    let stem = |text: &str| {
        let mut parts = text.rsplit(['/', '\\']);
        let last = parts.next().unwrap_or_default();
        // A package that is only called `mcp` has its maker's name.
        let bare = last.split('@').next().unwrap_or_default();
        let maker = parts.next().map(|maker| maker.trim_start_matches('@'));
        let last = match (bare, maker) {
            ("mcp" | "server" | "mcp-server", Some(maker)) if !maker.is_empty() => maker,
            _ => last,
        };
        let last = last.split('@').next().unwrap_or_default();
        let endings = [".exe", ".js", ".mjs", ".py"];
        let bare = endings.iter().find_map(|ending| last.strip_suffix(ending));
        bare.unwrap_or(last).to_owned()
    };
    let program = stem(program);
    let whole = match RUNNERS.contains(&program.as_str()) {
        true => {
            let verbs = ["run", "exec", "tool", "start"];
            let mut named = args.iter().filter(|word| !word.starts_with('-'));
            let named = named.find(|word| !verbs.contains(&word.as_str()));
            named.map_or_else(|| program.clone(), |word| stem(word))
        }
        false => program.clone(),
    };
    let mut name = whole.as_str();
    for prefix in ["mcp-server-", "server-", "mcp-"] {
        name = name.strip_prefix(prefix).unwrap_or(name);
    }
    for suffix in ["-mcp-server", "-mcp", "-server"] {
        name = name.strip_suffix(suffix).unwrap_or(name);
    }
    match name {
        "" => program,
        name => name.to_owned(),
    }
}

/// A server's name of these letters.
fn named(text: &str) -> Result<ServerName, String> {
    let legal = |sign: char| match sign {
        sign if sign.is_ascii_alphanumeric() || matches!(sign, '_' | '-') => sign,
        _ => '-',
    };
    let name: String = text.chars().map(legal).take(40).collect();
    let name = ServerName::new(name).or_else(|_| ServerName::new("server"));
    name.map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(line: &str) -> String {
        match read(line) {
            None => "a file".to_owned(),
            Some(Ok(config)) => format!("{}: {}", config.name(), config.endpoint()),
            Some(Err(why)) => why,
        }
    }

    #[test]
    fn a_line_is_read_as_it_was_meant() {
        let lines = [
            "https://mcp.linear.app/mcp",
            "http://127.0.0.1:8000/sse",
            "npx -y @modelcontextprotocol/server-filesystem \"/home/me/My Files\"",
            "$ uvx mcp-server-time --local-timezone Europe/Berlin",
            "docker run -i --rm mcp/fetch",
            "npx @playwright/mcp@latest",
            "/opt/tools/notes-mcp --quiet",
            "MODE=fast npx -y \\\n  some-mcp",
            "claude mcp add --transport http notion https://mcp.notion.com/mcp",
            "claude mcp add files -e A=1 -- npx -y @modelcontextprotocol/server-filesystem .",
            "{\"mcpServers\": {}}",
            "[mcp_servers.a]\ncommand = \"x\"",
            "cat x | sh",
            "npx \"open",
            "https://a.example/mcp and more",
            "no-such-program-7 --flag",
        ];
        let read: Vec<String> = lines.iter().map(|line| shown(line)).collect();
        insta::assert_snapshot!(read.join("\n"));
    }
}

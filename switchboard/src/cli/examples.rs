//! Examples in the help of each verb.

pub(super) const PROGRAM: &str = "\
Examples:
  switchboard demo                                   half a minute, without a key
  switchboard                                        chat
  switchboard run \"what changed today?\"
  switchboard tools -- npx -y some-server .";

pub(super) const CHAT: &str = "\
Examples:
  switchboard chat -m anthropic/claude-sonnet-5 -s files
  switchboard chat -- npx -y some-server .
  switchboard chat --resume last";

pub(super) const RUN: &str = "\
Examples:
  switchboard run \"what changed today?\" --json
  switchboard run \"tidy up\" --approve auto --max-rounds 5 --on-limit summarize
  switchboard run \"which tools are there?\" -- npx -y some-server .
  git diff | switchboard run \"review this\" --allow files/read_file
  switchboard run -f prompt.txt --attach chart.png";

pub(super) const SESSION: &str = "\
Examples:
  switchboard session show last
  switchboard session fork last --upto 3
  switchboard session resume";

pub(super) const APPROVALS: &str = "\
Examples:
  switchboard approvals
  switchboard approvals forget --all";

pub(super) const ASSISTANTS: &str = "\
Examples:
  switchboard assistants add coder --model openai/gpt-5 --server files --approve auto-read
  switchboard chat --assistant coder";

pub(super) const USAGE: &str = "\
Examples:
  switchboard usage --days 7
  switchboard usage --session last";

pub(super) const MODEL: &str = "\
Examples:
  switchboard model set openai --ask-key
  switchboard model set ollama/qwen3
  switchboard model set my-model --base-url http://127.0.0.1:8000/v1 --endpoint mine";

pub(super) const CONFIG: &str = "\
Examples:
  switchboard config set approve auto-read
  switchboard config set max_rounds 30
  switchboard config set on_limit summarize";

pub(super) const SERVERS: &str = "\
Examples:
  switchboard servers add files -- npx -y some-server .
  switchboard servers add web https://example.com/mcp
  switchboard servers test";

pub(super) const TOOLS: &str = "\
Examples:
  switchboard tools
  switchboard tools https://example.com/mcp
  switchboard tools -- npx -y some-server .";

pub(super) const TOOL: &str = "\
Examples:
  switchboard tool show demo add
  switchboard tool allow files read_file";

pub(super) const CALL: &str = "\
Examples:
  switchboard call demo add a=2 b=3
  switchboard call files read --args '{\"path\": \"notes.txt\"}'
  switchboard call search query=rust 'tags:=[\"a\"]' -- npx -y some-server
  switchboard call demo add a=2 b=3 --repeat 1000 --concurrency 8";

pub(super) const RESOURCES: &str = "\
Examples:
  switchboard resources files";

pub(super) const READ: &str = "\
Examples:
  switchboard read files file:///notes.txt --output notes.txt";

pub(super) const PROMPTS: &str = "\
Examples:
  switchboard prompts demo";

pub(super) const PROMPT: &str = "\
Examples:
  switchboard prompt files review path=notes.txt";

pub(super) const SCHEMA: &str = "\
Examples:
  switchboard schema demo --for gemini";

pub(super) const IMPORT: &str = "\
Examples:
  switchboard import
  switchboard import .mcp.json";

pub(super) const EXPORT: &str = "\
Examples:
  switchboard export --to claude-code";

pub(super) const DOCTOR: &str = "\
Examples:
  switchboard doctor
  switchboard doctor -- npx -y some-server .";

pub(super) const COMPLETIONS: &str = "\
Examples:
  switchboard completions bash";

pub(super) const MAN: &str = "\
Examples:
  switchboard man
  switchboard man --output /usr/local/share/man/man1";

pub(super) const SERVE: &str = "\
Examples:
  switchboard serve --open
  switchboard serve --user ann --user bob
  switchboard serve --listen 0.0.0.0:7443 --public-url https://team.example:7443 \\
      --tls-cert cert.pem --tls-key key.pem --oidc-issuer https://id.example \\
      --oidc-client-id switchboard --oidc-client-secret env:OIDC_SECRET --oidc-owner me@team.example";

pub(super) const TOKENS: &str = "\
Examples:
  switchboard tokens add laptop --scope read --expires 30
  switchboard tokens add first --user ann@team.example --role owner --scope admin
  switchboard tokens revoke laptop";

pub(super) const USERS: &str = "\
Examples:
  switchboard users
  switchboard users set local --email ann@team.example
  switchboard users set bob@team.example --role viewer
  switchboard users set bob@team.example --block true";

pub(super) const AUDIT: &str = "\
Examples:
  switchboard audit
  switchboard audit list --search files --limit 20
  switchboard audit verify
  switchboard audit export > calls.jsonl";

pub(super) const STORE: &str = "\
Examples:
  switchboard store copy ~/.local/share/switchboard/switchboard.db postgres://me@db.example/team
  switchboard store copy postgres://me@db.example/team backup.db
  switchboard store check --database postgres://me@db.example/team";

pub(super) const GATEWAY: &str = "\
Examples:
  switchboard gateway
  switchboard gateway --assistant research --approve ask
  switchboard gateway --http 127.0.0.1:8930
  switchboard gateway install claude-desktop --move
  switchboard gateway --config .mcp.json --no-prefix";

pub(super) const GATEWAY_INSTALL: &str = "\
Examples:
  switchboard gateway install claude-desktop
  switchboard gateway install cursor --move
  switchboard gateway install claude-code --project --assistant research --dry-run
  switchboard gateway uninstall cursor";

pub(super) const GATEWAY_TOKENS: &str = "\
Examples:
  switchboard gateway tokens add laptop --assistant research
  switchboard gateway tokens
  switchboard gateway tokens remove laptop";

pub(super) const DEMO: &str = "\
Examples:
  switchboard demo --wire anthropic";

pub(super) const DEMO_SERVER: &str = "\
Examples:
  switchboard demo-server --http --port 8931";

pub(super) const DEMO_MODEL: &str = "\
Examples:
  switchboard demo-model --script rules.json";

#[cfg(test)]
mod tests {
    use clap::{CommandFactory as _, Parser as _};

    use crate::cli::Cli;

    /// The words of an example, quotes taken off, without a redirection and a remark.
    fn words(line: &str) -> Vec<String> {
        let line = line.rsplit(" | ").next().unwrap_or(line);
        let mut words = vec![String::new()];
        let mut quote = None;
        for c in line.trim().split("   ").next().unwrap().chars() {
            match (c, quote) {
                (c, Some(open)) if c == open => quote = None,
                ('"' | '\'', None) => quote = Some(c),
                (' ', None) => words.push(String::new()),
                (c, _) => words.last_mut().unwrap().push(c),
            }
        }
        let redirection = |word: &String| word == "<" || word == ">";
        words
            .into_iter()
            .take_while(|word| !redirection(word))
            .collect()
    }

    #[test]
    fn every_verb_has_examples_and_every_example_is_understood() {
        let program = Cli::command();
        let verbs = program.get_subcommands();
        for command in verbs.chain([&program]) {
            let help = command.get_after_help().map(ToString::to_string);
            let help = help.unwrap_or_else(|| panic!("{} has no examples", command.get_name()));
            // A line that ends with a backslash goes on in the next.
            let mut help = help.split("\\\n").map(str::trim_end);
            let first = help.next().unwrap_or_default().to_owned();
            let help = help.fold(first, |all, rest| format!("{all} {}", rest.trim_start()));
            let mut lines = help.lines();
            assert_eq!(lines.next(), Some("Examples:"));
            for line in lines {
                let parsed = Cli::try_parse_from(words(line));
                assert!(parsed.is_ok(), "{line}: {}", parsed.unwrap_err());
            }
        }
    }

    #[test]
    fn what_every_verb_takes_stands_apart_from_its_own_options() {
        let program = Cli::command();
        for argument in program.get_arguments().filter(|it| it.is_global_set()) {
            let heading = argument.get_help_heading();
            assert_eq!(heading, Some("Global options"), "{}", argument.get_id());
        }
    }
}

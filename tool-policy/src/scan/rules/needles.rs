//! Exact texts that rules look for: files, addresses, markers.

use super::super::text::Word;
use super::Subject;

/// Files that hold keys, passwords or other servers' configuration.
const SENSITIVE: &[&str] = &[
    "/.ssh/",
    "id_rsa",
    "id_ed25519",
    ".aws/credentials",
    "/etc/shadow",
    "/etc/passwd",
    ".netrc",
    "mcp.json",
    "claude_desktop_config",
    ".git-credentials",
    ".kube/config",
    ".docker/config.json",
    "wallet.dat",
    "login.keychain",
    ".config/gcloud",
    ".bash_history",
    ".zsh_history",
    "known_hosts",
    "authorized_keys",
    ".npmrc",
    ".pypirc",
    ".pgpass",
    "cookies.sqlite",
    "/.gnupg",
    ".env file",
    "`.env`",
    "the .env",
    ".cursor/",
];
/// What makes naming such a file a wish to have it.
const WISHES: &[&str] = &[
    "read", "open", "cat", "include", "pass", "send", "append", "put", "content", "contents",
    "copy", "attach", "upload", "paste", "provide", "load", "dump", "return", "encode",
];
/// What a tool that only describes itself does not say beside it.
const COMMANDS: &[&str] = &[
    "must",
    "first",
    "before",
    "always",
    "otherwise",
    "assistant",
    "you",
    "then",
    "and",
    "also",
    "please",
    "every",
    "secretly",
    "silently",
    "now",
    "agent",
    "into",
];
/// How far a wish may be from the file, in words.
const NEAR: usize = 14;

/// How long the address of an image and what is said of it may be, in bytes.
const MAX_ADDRESS: usize = 2048;

const ROLES: &[&str] = &[
    "<|im_start|>",
    "<|im_end|>",
    "<|system|>",
    "<|endoftext|>",
    "[/inst]",
    "[inst]",
    "[system]",
    "<system>",
    "</system>",
    "<<sys>>",
    "\nsystem:",
    "\n\nhuman:",
    "\n\nassistant:",
    "### system",
    "### instruction",
    "[system message]",
    "[admin]",
    "<system-reminder>",
    "<user>",
    "system override",
];
const BLOCKS: &[&str] = &[
    "<important>",
    "<secret>",
    "<hidden>",
    "<instructions>",
    "<critical>",
    "<mandatory>",
    "<s>",
];
const COLLECTORS: &[&str] = &[
    "webhook.site",
    "requestbin",
    "pipedream.net",
    "burpcollaborator",
    "interact.sh",
    "oast.",
    ".ngrok",
    "beeceptor.com",
    "hookbin",
    "requestcatcher",
    "dnslog",
    "canarytokens",
];
const UPLOADS: &[&str] = &[
    "curl -d",
    "curl --data",
    "curl -f",
    "curl -x post",
    "wget --post",
    "| nc ",
    "| bash",
    "| sh",
];

pub(super) fn matches(text: &str, words: &[Word], subject: Subject) -> Vec<(&'static str, usize)> {
    let lower = text.to_ascii_lowercase();
    let mut found = Vec::new();
    let mut add = |rule, at: Option<usize>| found.extend(at.map(|at| (rule, at)));
    let first = |needles: &[&str]| needles.iter().filter_map(|needle| lower.find(needle)).min();
    let start = ["system:", "assistant:"]
        .iter()
        .any(|it| lower.starts_with(it));
    add("role-marker", first(ROLES).or(start.then_some(0)));
    add("emphatic-block", first(BLOCKS));
    add("collector-address", first(COLLECTORS));
    if subject != Subject::Result {
        add("hidden-comment", lower.find("<!--"));
    }
    let upload = first(UPLOADS).filter(|_| lower.contains("http") || lower.contains("| nc "));
    add(
        "exfiltration",
        upload.filter(|_| subject != Subject::Result || lower.contains("$home")),
    );
    add("exfiltration", image(&lower));
    add("sensitive-file", sensitive(&lower, words));
    found
}

/// A file with secrets, with a wish to have it and a command beside it.
fn sensitive(lower: &str, words: &[Word]) -> Option<usize> {
    let mut named = SENSITIVE
        .iter()
        .flat_map(|needle| lower.match_indices(needle))
        .peekable();
    named.peek()?;
    let places = |list: &[&str]| -> Vec<usize> {
        let found = words.iter().enumerate();
        let found = found.filter(|(_, word)| list.contains(&word.text.as_str()));
        found.map(|(at, _)| at).collect()
    };
    let (wishes, commands) = (places(WISHES), places(COMMANDS));
    let is_near = |places: &[usize], here: usize| {
        let next = places.partition_point(|at| *at < here.saturating_sub(NEAR));
        places.get(next).is_some_and(|at| *at < here + NEAR)
    };
    named.map(|(at, _)| at).find(|at| {
        let here = words.partition_point(|word| word.at < *at);
        is_near(&wishes, here) && is_near(&commands, here)
    })
}

/// An image whose address is to be filled with data: `![x](https://h/?d={…})`.
fn image(lower: &str) -> Option<usize> {
    let mut addresses = lower.match_indices("](http").map(|(at, _)| at);
    addresses.find(|at| {
        let before = lower.get(..*at).unwrap_or_default();
        let alternative = before.bytes().rev().take(MAX_ADDRESS);
        // From the end: the bracket, and what is before it.
        let mut alternative = alternative.skip_while(|b| *b != b'[').skip(1);
        let address = lower.get(*at..).unwrap_or_default().bytes();
        let address: Vec<u8> = address
            .take(MAX_ADDRESS)
            .take_while(|b| *b != b')')
            .collect();
        let address = String::from_utf8_lossy(&address);
        let query = address.split_once('?').map_or("", |(_, query)| query);
        let is_open =
            query.contains(['{', '<', '$']) || query.contains("%7b") || query.contains("base64");
        is_open && alternative.next() == Some(b'!')
    })
}

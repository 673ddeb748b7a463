//! A heuristic for names and values that are secrets.

use std::ops::Range;

/// Words that name a secret, in settings and in forms.
const WORDS: [&str; 12] = [
    "password",
    "passwd",
    "passphrase",
    "passcode",
    "pwd",
    "secret",
    "secrets",
    "token",
    "apikey",
    "credential",
    "credentials",
    "otp",
];

/// Words that name a secret in settings only: a form may legitimately ask for a cookie or a key.
const SETTING_WORDS: [&str; 8] = [
    "pass",
    "key",
    "authorization",
    "bearer",
    "cookie",
    "pat",
    "jwt",
    "dsn",
];

/// Words that name a secret in forms only.
const FORM_WORDS: [&str; 4] = ["cvv", "cvc", "pin", "ssn"];

/// Words that name a secret before `key` in forms.
const KEY_KINDS: [&str; 6] = [
    "api",
    "access",
    "private",
    "secret",
    "signing",
    "encryption",
];

/// Words at the end of a name that make it refer to something else: `TOKEN_FILE`, `KEY_ID`.
const ABOUT: [&str; 14] = [
    "file", "path", "dir", "url", "uri", "endpoint", "name", "id", "type", "env", "var", "limit",
    "ttl", "length",
];

/// Prefixes of keys and tokens of well-known services.
const BEGINNINGS: [&str; 19] = [
    "sk-",
    "sk_",
    "rk_",
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "github_pat_",
    "glpat-",
    "xoxb-",
    "xoxp-",
    "xapp-",
    "AKIA",
    "AIza",
    "ya29.",
    "eyJ",
    "hf_",
    "npm_",
    "-----BEGIN",
];

/// The length from which a run of mixed-case letters and digits counts as random.
const RANDOM: usize = 24;

/// Whether a setting is a secret, by its name or its value.
pub fn is_secret(name: &str, value: &str) -> bool {
    !value.is_empty() && (names_secret(name) || looks_secret(value))
}

/// The secrets in the arguments of a command line: the index of the argument, and the byte range.
pub fn secrets_in_args(args: &[String]) -> Vec<(usize, Range<usize>)> {
    let mut found = Vec::new();
    let mut option = "";
    for (at, arg) in args.iter().enumerate() {
        // A variable is a reference, not a secret itself.
        let is_open = |span: &Range<usize>| {
            let text = arg.get(span.clone()).unwrap_or_default();
            !text.contains("${")
        };
        let spans = in_arg(option, arg).into_iter().filter(is_open);
        found.extend(spans.map(|span| (at, span)));
        option = match arg.starts_with('-') && !arg.contains('=') {
            true => arg,
            false => "",
        };
    }
    found
}

/// The secret parts of an argument, given the option before it.
fn in_arg(option: &str, arg: &str) -> Vec<Range<usize>> {
    let rest = |part: &str| arg.len() - part.len()..arg.len();
    if !option.is_empty() && names_secret(option) && !arg.starts_with('-') && !arg.is_empty() {
        return vec![rest(arg)];
    }
    if arg.contains("://") {
        return secrets_in_url(arg);
    }
    let pair = arg.split_once('=').or_else(|| arg.split_once(": "));
    match pair {
        Some((name, value)) if is_name(name) && is_secret(name, value) => vec![rest(value)],
        _ if looks_secret(arg) => vec![rest(arg)],
        _ => Vec::new(),
    }
}

/// The secrets in a URL, as byte ranges: a password, query values with such names, and anything that looks like a key.
pub fn secrets_in_url(url: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let start = url.find("://").map_or(0, |at| at + 3);
    let from = |at: usize| url.get(at..).unwrap_or_default();
    let end = from(start)
        .find(['/', '?', '#'])
        .map_or(url.len(), |at| start + at);
    let authority = url.get(start..end).unwrap_or_default();
    if let Some((user, _)) = authority.rsplit_once('@') {
        let password = match user.split_once(':') {
            Some((name, _)) => start + name.len() + 1..start + user.len(),
            // A key in the place of a user name.
            None if looks_secret(user) => start..start + user.len(),
            None => 0..0,
        };
        found.push(password);
    }
    let mut at = end;
    for piece in from(end).split_inclusive(['/', '?', '#', '&']) {
        let text = piece.trim_end_matches(['/', '?', '#', '&']);
        match text.split_once('=') {
            Some((name, value)) if is_secret(name, value) => {
                found.push(at + name.len() + 1..at + text.len());
            }
            None if looks_secret(text) => found.push(at..at + text.len()),
            _ => {}
        }
        at += piece.len();
    }
    // A reference is not a secret.
    found.retain(|span| {
        let text = url.get(span.clone()).unwrap_or_default();
        !text.is_empty() && !text.contains("${")
    });
    found
}

fn is_name(text: &str) -> bool {
    let part = |c: char| c.is_alphanumeric() || "_-.".contains(c);
    !text.is_empty() && text.chars().all(part)
}

/// Whether the name of a setting (an environment variable, a header, an option) denotes a secret.
fn names_secret(name: &str) -> bool {
    let words = words(name);
    let about = words
        .last()
        .is_some_and(|last| ABOUT.contains(&last.as_str()));
    let is_secret = |word: &str| WORDS.contains(&word) || SETTING_WORDS.contains(&word);
    !about && words.iter().any(|word| is_secret(word))
}

/// Whether the name or the label of a form's field asks for a secret.
pub fn asks_for_secret(label: &str) -> bool {
    let words = words(label);
    let is_secret = |word: &str| WORDS.contains(&word) || FORM_WORDS.contains(&word);
    let is_key = |pair: &[String]| matches!(pair, [kind, key] if key == "key" && KEY_KINDS.contains(&kind.as_str()));
    words.iter().any(|word| is_secret(word)) || words.windows(2).any(is_key)
}

fn looks_secret(value: &str) -> bool {
    if value.contains("${") {
        return false;
    }
    let value = value.strip_prefix("Bearer ").unwrap_or(value);
    let begins = |start: &str| value.starts_with(start) && value.len() >= start.len() + 8;
    let mut runs = value.split(|c: char| !c.is_ascii_alphanumeric());
    let random = |run: &str| {
        let has = |kind: fn(&char) -> bool| run.chars().any(|c| kind(&c));
        run.len() >= RANDOM
            && has(char::is_ascii_uppercase)
            && has(char::is_ascii_lowercase)
            && has(char::is_ascii_digit)
    };
    BEGINNINGS.iter().any(|start| begins(start))
        || runs.any(random)
        || value.contains("://") && !secrets_in_url(value).is_empty()
}

/// `clientSecret`, `CLIENT_SECRET` and `--client-secret` consist of the same two words.
fn words(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut after_lower = false;
    for letter in text.chars() {
        let starts = letter.is_uppercase() && after_lower;
        after_lower = letter.is_lowercase();
        if !letter.is_alphanumeric() || starts {
            words.push(String::new());
        }
        if letter.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.extend(letter.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_known_by_name_or_by_look() {
        for (name, value) in [
            ("TOKEN", "x"),
            ("GITHUB_PERSONAL_ACCESS_TOKEN", "x"),
            ("X-Api-Key", "x"),
            ("Authorization", "Bearer x"),
            ("DATABASE_URL", "postgres://me:pw@db/app"),
            ("VALUE", "ghp_0123456789abcdef"),
            ("VALUE", "aB3dE5gH7jK9mN1pQ3sT5vW7"),
        ] {
            assert!(is_secret(name, value), "{name}={value}");
        }
        for (name, value) in [
            ("DEBUG", "1"),
            ("LEVEL", "debug"),
            ("MAX_TOKENS", "100"),
            ("TOKEN_FILE", "/run/secrets/token"),
            ("AWS_ACCESS_KEY_ID", "me"),
            ("KEYBOARD", "de"),
            ("TOKEN", ""),
            ("URL", "https://example.com/mcp?mode=fast"),
            ("PATH", "/home/me/.local/bin:/usr/bin"),
            ("ID", "3f2c7a10-9b1e-4d4e-9d55-0c1f2e3d4c5b"),
        ] {
            assert!(!is_secret(name, value), "{name}={value}");
        }
    }

    #[test]
    fn forms_ask_for_secrets_by_words_and_not_by_letters() {
        for name in [
            "password",
            "userPassword",
            "API_KEY",
            "Access key",
            "github-token",
            "otp",
        ] {
            assert!(asks_for_secret(name), "{name}");
        }
        for name in [
            "name",
            "max_tokens",
            "keyboard",
            "monkey",
            "secretary",
            "shipping",
            "key",
        ] {
            assert!(!asks_for_secret(name), "{name}");
        }
    }

    #[test]
    fn secrets_in_arguments_are_found_where_they_are() {
        #[track_caller]
        fn check(args: &[&str], want: &[&str]) {
            let args: Vec<String> = args.iter().map(|arg| (*arg).to_owned()).collect();
            let found = secrets_in_args(&args);
            let found: Vec<&str> = found
                .iter()
                .map(|(at, span)| &args[*at][span.clone()])
                .collect();
            assert_eq!(found, want, "{args:?}");
        }
        check(&["--api-key", "k1", "--verbose"], &["k1"]);
        check(&["--api-key=k1", "TOKEN=k2"], &["k1", "k2"]);
        check(&["-H", "Authorization: Bearer k1"], &["Bearer k1"]);
        check(&["-e", "GITHUB_TOKEN", "-e", "GITHUB_TOKEN=k1"], &["k1"]);
        check(&["postgres://me:pw@db/app"], &["pw"]);
        check(&["https://x.io/mcp?api_key=k1&mode=a"], &["k1"]);
        check(&["sk-0123456789abcdef"], &["sk-0123456789abcdef"]);
        for args in [
            ["-y", "@modelcontextprotocol/server-filesystem@2025.8.21"],
            [
                "--from",
                "git+https://github.com/a/b@0123456789abcdef0123456789abcdef01234567",
            ],
            ["-c", "echo hello: world; x=1"],
            ["--token-file", "/run/token"],
            ["--api-key", "${API_KEY}"],
            ["--api-key=${API_KEY}", "https://x.io/?key=${K}"],
            [
                "image@sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
                "--key",
            ],
        ] {
            let args: Vec<String> = args.map(str::to_owned).to_vec();
            assert_eq!(secrets_in_args(&args), [], "{args:?}");
        }
    }
}

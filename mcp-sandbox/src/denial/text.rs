//! The messages that programs write when an operation is denied.

use super::Wanted;

/// Longer lines are not read to their end.
const MAX_LINE: usize = 4096;

/// What a line says was denied.
pub(super) fn read(line: &str) -> Option<Wanted> {
    let end = line.len().min(MAX_LINE);
    let end = (0..=end).rev().find(|at| line.is_char_boundary(*at))?;
    let line = line.get(..end)?;
    if line.contains("blockers=") {
        return audit(line);
    }
    let denied = [
        "EACCES",
        "EPERM",
        "ermission denied",
        "peration not permitted",
    ];
    let lower = line.to_ascii_lowercase();
    if ["eagain", "resource temporarily unavailable"]
        .iter()
        .any(|it| lower.contains(it))
    {
        let is_start = ["fork", "spawn", "thread", "clone"]
            .iter()
            .any(|it| lower.contains(it));
        return is_start.then_some(Wanted::Process);
    }
    if !denied.iter().any(|it| line.contains(it)) {
        return None;
    }
    let has = |word: &str| {
        lower
            .split(|c: char| !c.is_ascii_alphanumeric())
            .any(|w| w == word)
    };
    if has("connect") || has("socket") || has("getaddrinfo") {
        return Some(address(line).map_or(Wanted::Socket, Wanted::Connect));
    }
    if has("kill") {
        return Some(Wanted::Signal);
    }
    let path = path(line)?;
    let any = |words: &[&str]| words.iter().any(|word| has(word));
    Some(if any(&["chmod", "chown", "utime", "utimes", "lutimes"]) {
        Wanted::ChangeAttributes(path)
    } else if any(&[
        "mkdir", "unlink", "rename", "rmdir", "write", "create", "mkdtemp", "symlink", "link",
        "copyfile", "truncate", "creating", "writing",
    ]) {
        Wanted::Write(path)
    } else if any(&[
        "scandir", "read", "reading", "spawn", "exec", "listdir", "opendir", "lstat",
    ]) {
        Wanted::Read(path)
    } else {
        Wanted::Use(path)
    })
}

/// A record of Landlock in the kernel's audit log: `blockers=fs.read_file path="/a" …`.
fn audit(line: &str) -> Option<Wanted> {
    let field = |name: &str| {
        let rest = line.split_once(name)?.1;
        let value = rest.split_whitespace().next()?;
        Some(value.trim_matches('"').to_owned())
    };
    let blockers = field("blockers=")?;
    if blockers.contains("net.") {
        let port = field("dest=")?;
        let host = field("daddr=").unwrap_or_else(|| "*".to_owned());
        return Some(Wanted::Connect(format!("{host}:{port}")));
    }
    if blockers.contains("scope.signal") {
        return Some(Wanted::Signal);
    }
    if blockers.contains("scope.abstract_unix_socket") {
        return Some(Wanted::Socket);
    }
    let path = field("path=")?;
    let reads = ["fs.read_file", "fs.read_dir", "fs.execute"];
    let only_reads = blockers.split(',').all(|blocker| reads.contains(&blocker));
    Some(if only_reads {
        Wanted::Read(path)
    } else {
        Wanted::Write(path)
    })
}

/// The absolute path that a line names: in quotes, or a word.
fn path(line: &str) -> Option<String> {
    for quote in ['\'', '"', '`'] {
        let quoted = line.split(quote).skip(1).step_by(2);
        if let Some(path) = quoted.into_iter().find(|text| text.starts_with('/')) {
            return Some(path.to_owned());
        }
    }
    let words = line.split_whitespace().enumerate();
    let mut paths = words.filter(|(_, word)| word.starts_with('/') && word.len() > 1);
    let first = paths.next()?;
    // A shell begins with itself: `/bin/sh: 1: cannot create /a: …`.
    let path = match first {
        (0, word) if word.ends_with(':') => paths.next().unwrap_or(first),
        _ => first,
    };
    let path = path.1.trim_end_matches([':', ',', ';', '.', ')']);
    Some(path.to_owned())
}

/// An address with a port, as in `connect EACCES 10.0.0.1:443`.
fn address(line: &str) -> Option<String> {
    let words =
        line.split(|c: char| c.is_whitespace() || matches!(c, '\'' | '"' | ',' | '(' | ')'));
    let mut words = words.map(|word| word.trim_end_matches([':', '.', ';']));
    words
        .find(|word| {
            word.rsplit_once(':').is_some_and(|(host, port)| {
                let inside = host.trim_start_matches('[').trim_end_matches(']');
                // A time of day has colons, too.
                let is_host = host == "localhost"
                    || host.contains('.')
                    || inside.parse::<std::net::Ipv6Addr>().is_ok();
                is_host && port.parse::<u16>().is_ok()
            })
        })
        .map(str::to_owned)
}

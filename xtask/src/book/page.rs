//! A page of the website: the text of a guide or README, with links that fit its new place.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

const REPOSITORY: &str = "https://github.com/switchboard-rs/switchboard/blob/main";

/// Which pages there are, by their paths in the repository.
pub(crate) struct Book {
    pages: BTreeSet<PathBuf>,
}

impl Book {
    /// The book of a `docs/SUMMARY.md`.
    pub(crate) fn of(summary: &str) -> Self {
        let links = summary.split("](").skip(1);
        let links = links.filter_map(|rest| rest.split(')').next());
        let pages = links.map(|link| resolve(Path::new("docs"), link)).collect();
        Self { pages }
    }

    pub(crate) fn pages(&self) -> impl Iterator<Item = &Path> {
        self.pages.iter().map(PathBuf::as_path)
    }

    /// The summary with the pages' new paths.
    pub(crate) fn summary(&self, text: &str) -> String {
        links(text, |link| {
            let page = resolve(Path::new("docs"), link);
            staged(&page).display().to_string()
        })
    }

    /// A page's text for its new place. The pictures it shows are added to `pictures`.
    pub(crate) fn rewrite(
        &self,
        page: &Path,
        text: &str,
        pictures: &mut BTreeSet<PathBuf>,
    ) -> String {
        let folder = page.parent().unwrap_or(Path::new(""));
        let text = match folder.components().next() {
            Some(first) if Path::new(first.as_os_str()).join("src/lib.rs").exists() => {
                as_rust(text)
            }
            _ => text.to_owned(),
        };
        links(&text, |link| self.link(folder, link, pictures))
    }

    fn link(&self, folder: &Path, link: &str, pictures: &mut BTreeSet<PathBuf>) -> String {
        if link.contains("://") || link.starts_with("mailto:") || link.starts_with('#') {
            return link.to_owned();
        }
        if link.contains("::") {
            // What rustdoc resolves is read there.
            let name = folder
                .components()
                .next()
                .map(|it| it.as_os_str().to_string_lossy());
            return format!("https://docs.rs/{}", package(&name.unwrap_or_default()));
        }
        let (path, anchor) = link
            .split_once('#')
            .map_or((link, None), |(path, it)| (path, Some(it)));
        let target = resolve(folder, path);
        let anchor = anchor.map(|it| format!("#{it}")).unwrap_or_default();
        if self.pages.contains(&target) {
            let up = "../".repeat(folder.components().count());
            return format!("{up}{}{anchor}", staged(&target).display());
        }
        if target
            .extension()
            .is_some_and(|it| it == "png" || it == "svg")
        {
            pictures.insert(target);
            return link.to_owned();
        }
        format!("{REPOSITORY}/{}{anchor}", target.display())
    }
}

/// Where a page is in the book: a README is the front page of its folder.
pub(crate) fn staged(page: &Path) -> PathBuf {
    match page.file_name() {
        Some(name) if name == "README.md" => page.with_file_name("index.md"),
        _ => page.to_path_buf(),
    }
}

/// The package in a folder.
fn package(folder: &str) -> String {
    match folder {
        "mcp-client" | "mcp-server" | "mcp-gateway" => format!("switchboard-{folder}"),
        _ => folder.to_owned(),
    }
}

/// Code without a language is Rust to rustdoc; said so, its hidden lines are hidden here, too.
fn as_rust(text: &str) -> String {
    let mut fenced = false;
    let mut lines: Vec<String> = Vec::new();
    for line in text.lines() {
        let fence = line.strip_prefix("```");
        match fence {
            Some("" | "no_run" | "ignore") if !fenced => lines.push("```rust".to_owned()),
            _ => lines.push(line.to_owned()),
        }
        fenced ^= fence.is_some();
    }
    lines.join("\n") + "\n"
}

/// The text with each target of an inline link outside code replaced.
fn links(text: &str, mut replace: impl FnMut(&str) -> String) -> String {
    let mut fenced = false;
    let mut written = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        fenced ^= line.trim_start().starts_with("```");
        let mut parts = line.split("](");
        written.push_str(parts.next().unwrap_or_default());
        for part in parts {
            written.push_str("](");
            match part.split_once(')') {
                Some((link, rest)) if !fenced => {
                    written.push_str(&replace(link));
                    written.push(')');
                    written.push_str(rest);
                }
                _ => written.push_str(part),
            }
        }
    }
    written
}

/// A relative path, from the repository's root.
fn resolve(folder: &Path, link: &str) -> PathBuf {
    let mut path = PathBuf::new();
    for part in folder.join(link).components() {
        match part {
            Component::ParentDir => {
                path.pop();
            }
            Component::Normal(name) => path.push(name),
            _ => {}
        }
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_lead_to_pages_pictures_and_the_repository() {
        let book = Book::of("[a](../README.md)\n- [b](gateway.md)\n- [c](../mcp-auth/README.md)");
        let mut pictures = BTreeSet::new();
        let mut rewrite =
            |text: &str| book.rewrite(Path::new("docs/gateway.md"), text, &mut pictures);
        for (link, becomes) in [
            ("../README.md", "../index.md"),
            (
                "../mcp-auth/README.md#features",
                "../mcp-auth/index.md#features",
            ),
            (
                "team.md",
                "https://github.com/switchboard-rs/switchboard/blob/main/docs/team.md",
            ),
            ("#names", "#names"),
            ("https://example.com/a.md", "https://example.com/a.md"),
            (
                "../switchboard/assets/chat.png",
                "../switchboard/assets/chat.png",
            ),
            ("crate::Run", "https://docs.rs/docs"),
        ] {
            assert_eq!(
                rewrite(&format!("see [it]({link}).")),
                format!("see [it]({becomes}).")
            );
        }
        assert_eq!(
            rewrite("```\n[it](team.md)\n```\n"),
            "```\n[it](team.md)\n```\n"
        );
        assert_eq!(
            pictures,
            BTreeSet::from(["switchboard/assets/chat.png".into()])
        );
    }

    #[test]
    fn code_without_a_language_is_rust() {
        assert_eq!(
            as_rust("```\n# x\n```\n```sh\nls\n```\n"),
            "```rust\n# x\n```\n```sh\nls\n```\n"
        );
    }
}

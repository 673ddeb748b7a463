//! `cargo xtask book`: the website, made of the guides and READMEs where they are.
//!
//! `docs/SUMMARY.md` names the pages. They are copied to `target/book/src` in the folders they come from, with their links put
//! right: to another page, to a picture, which comes along, or to the repository.

mod page;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::install;
use crate::shell::{self, Outcome, command};
use page::Book;

const VERSION: &str = "0.5.3";
const FOLDER: &str = "target/book";

/// The verb.
pub(crate) fn run() -> Outcome {
    let summary = read(Path::new("docs/SUMMARY.md"))?;
    let book = Book::of(&summary);
    let source = Path::new(FOLDER).join("src");
    let _ = fs::remove_dir_all(FOLDER);
    write(&source.join("SUMMARY.md"), &book.summary(&summary))?;
    let mut pictures = BTreeSet::new();
    for page in book.pages() {
        let text = book.rewrite(page, &read(page)?, &mut pictures);
        write(&source.join(page::staged(page)), &text)?;
    }
    for picture in &pictures {
        write_bytes(&source.join(picture), &read_bytes(picture)?)?;
    }
    write(
        &Path::new(FOLDER).join("book.toml"),
        &read(Path::new("docs/book.toml"))?,
    )?;
    let program = install::cargo_tool("mdbook", VERSION)?;
    shell::run(command(&program.to_string_lossy(), &["build", FOLDER]))?;
    let dead = dead_links(&book)?;
    if dead.is_empty() {
        println!("{} pages: {FOLDER}/book/index.html", book.pages().count());
        return Ok(());
    }
    Err(dead.join("\n"))
}

/// Local links of the pages that lead nowhere in what was built.
fn dead_links(book: &Book) -> Result<Vec<String>, String> {
    let root = Path::new(FOLDER).join("book");
    let mut dead = Vec::new();
    for page in book.pages() {
        let html = root.join(page::staged(page)).with_extension("html");
        let folder = html.parent().unwrap_or(&root);
        let text = read(&html)?;
        // The page's own text; around it are menus of mdBook's own.
        let content = text.split("<main>").nth(1).unwrap_or(&text);
        let content = content.split("</main>").next().unwrap_or(content);
        for attribute in ["href=\"", "src=\""] {
            for link in content.split(attribute).skip(1) {
                let link = link.split('"').next().unwrap_or_default();
                let path = link.split('#').next().unwrap_or_default();
                let leaves = link.contains("://") || link.starts_with("mailto:");
                if !leaves && !path.is_empty() && !folder.join(path).exists() {
                    dead.push(format!(
                        "{}: dead link '{link}' in the book",
                        page.display()
                    ));
                }
            }
        }
    }
    Ok(dead)
}

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))
}

fn read_bytes(path: &PathBuf) -> Result<Vec<u8>, String> {
    fs::read(path).map_err(|e| format!("{}: {e}", path.display()))
}

fn write(path: &Path, text: &str) -> Outcome {
    write_bytes(path, text.as_bytes())
}

fn write_bytes(path: &Path, bytes: &[u8]) -> Outcome {
    let folder = path.parent().unwrap_or(Path::new("."));
    let written = fs::create_dir_all(folder).and_then(|()| fs::write(path, bytes));
    written.map_err(|e| format!("{}: {e}", path.display()))
}

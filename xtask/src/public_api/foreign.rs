//! Which crates of others a public API shows: `xtask/public-dependencies.txt` names those that may.

use std::collections::BTreeMap;
use std::fs;

const LIST: &str = "xtask/public-dependencies.txt";

/// The crates that may appear in a public API.
pub(super) struct Allowed(Vec<(String, String)>);

impl Allowed {
    /// Reads the list.
    pub(super) fn read() -> Result<Self, String> {
        let text = fs::read_to_string(LIST).map_err(|error| format!("{LIST}: {error}"))?;
        Self::parse(&text)
    }

    fn parse(text: &str) -> Result<Self, String> {
        let lines = text
            .lines()
            .filter(|line| !line.trim().is_empty() && !line.starts_with('#'));
        let rows = lines.map(|line| {
            let parts: Vec<&str> = line.split('|').map(str::trim).collect();
            match parts.as_slice() {
                [root, package, why] if !why.is_empty() => {
                    Ok(((*root).to_owned(), (*package).to_owned()))
                }
                _ => Err(format!(
                    "{LIST}: expected 'crate | package | why', found '{line}'"
                )),
            }
        });
        Ok(Self(rows.collect::<Result<_, _>>()?))
    }

    fn holds(&self, package: &str, root: &str) -> bool {
        let fits = |(known, of): &(String, String)| known == root && (of == "*" || of == package);
        self.0.iter().any(fits)
    }

    /// The first public item of `package` that shows each crate that is neither ours nor allowed.
    pub(super) fn problems(&self, package: &str, api: &str, ours: &[&str]) -> Vec<String> {
        let mut found: BTreeMap<&str, &str> = BTreeMap::new();
        for line in api.lines() {
            for root in roots(line) {
                if !ours.contains(&root) && !self.holds(package, root) {
                    found.entry(root).or_insert(line);
                }
            }
        }
        let found = found.into_iter();
        found
            .map(|(root, line)| format!("{package}: {root} is in its public API: {line}"))
            .collect()
    }
}

/// The first segments of the paths in a line of the list.
fn roots(line: &str) -> impl Iterator<Item = &str> {
    let is_path = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    let paths = line.split(move |c: char| !is_path(c));
    paths.filter_map(|path| {
        let (root, _) = path.split_once("::")?;
        // `T::Item` is a type's own, and `&str` has methods of our traits.
        let is_crate = root.starts_with(|c: char| c.is_ascii_lowercase());
        let is_crate = is_crate && !["crate", "str"].contains(&root);
        is_crate.then_some(root)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crate_that_is_not_listed_is_named_with_its_item() {
        let allowed = Allowed::parse("core | * | std\nhttp | web | a service\n").unwrap();
        let api = "pub fn web::serve(listener: tokio::net::TcpListener, r: http::Request) -> core::fmt::Result\n\
                   pub fn web::stop<T: Stop>(it: T::Handle)\n\
                   pub fn &str::into_reply(self) -> crate::hidden::Reply";
        let problems = allowed.problems("web", api, &["web"]);
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert!(problems[0].starts_with("web: tokio is in its public API: pub fn web::serve"));
        assert_eq!(allowed.problems("cli", api, &["web"]).len(), 2, "http");
    }

    #[test]
    fn a_line_without_a_reason_is_refused() {
        assert!(Allowed::parse("core | *\n").is_err());
    }
}

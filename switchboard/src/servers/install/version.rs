//! The order of versions.

use std::cmp::Ordering;

/// Whether a version comes before another, number by number, a release after its previews. One whose
/// numbers cannot be read is not older.
pub(super) fn is_older(one: &str, other: &str) -> bool {
    let (Some(one), Some(other)) = (parts(one), parts(other)) else {
        return false;
    };
    let number = |list: &[u64], at: usize| list.get(at).copied().unwrap_or_default();
    let places = 0..one.0.len().max(other.0.len());
    let mut compared = places.map(|at| number(&one.0, at).cmp(&number(&other.0, at)));
    match compared.find(|order| *order != Ordering::Equal) {
        Some(order) => order == Ordering::Less,
        None => match (one.1, other.1) {
            (preview, "") => !preview.is_empty(),
            ("", _) => false,
            (one, other) => one < other,
        },
    }
}

/// The numbers of a version, and the name of its preview.
fn parts(version: &str) -> Option<(Vec<u64>, &str)> {
    let version = version.strip_prefix('v').unwrap_or(version);
    let version = version.split('+').next().unwrap_or(version);
    let (release, preview) = version.split_once('-').unwrap_or((version, ""));
    let numbers: Result<Vec<u64>, _> = release.split('.').map(str::parse).collect();
    Some((numbers.ok()?, preview))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_by_number_and_previews_come_first() {
        for (one, other) in [
            ("1.9.0", "1.10.0"),
            ("1.0", "1.0.1"),
            ("1.0.0-rc.1", "1.0.0"),
            ("1.0.0-alpha", "v1.0.0-beta"),
        ] {
            assert!(is_older(one, other), "{one} {other}");
            assert!(!is_older(other, one), "{other} {one}");
        }
        for same in [
            ("1.0", "1.0.0"),
            ("1.0.0+a", "1.0.0+b"),
            ("x", "1"),
            ("1", "y"),
        ] {
            assert!(!is_older(same.0, same.1), "{same:?}");
        }
    }
}

//! Pages of a list that is at hand as a whole.

use crate::handler::error::Error;

/// The page of a list that begins at `cursor`, and the cursor of the next one: for a
/// [`Handler`](crate::Handler) that has its lists as a whole.
///
/// # Errors
/// If the cursor is none of this list's.
pub fn cut<'a, T>(
    all: &'a [T],
    cursor: Option<&str>,
    limit: usize,
) -> Result<(&'a [T], Option<String>), Error> {
    let start = match cursor {
        None => 0,
        Some(cursor) => cursor
            .strip_prefix("at-")
            .and_then(|at| at.parse().ok())
            .filter(|at| *at < all.len())
            .ok_or_else(|| Error::invalid_params("invalid cursor: list again from the start"))?,
    };
    let end = start.saturating_add(limit.max(1)).min(all.len());
    let next = (end < all.len()).then(|| format!("at-{end}"));
    Ok((all.get(start..end).unwrap_or_default(), next))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_cover_the_list_once_and_end() {
        let all: Vec<u32> = (0..10).collect();
        let (mut seen, mut cursor) = (Vec::new(), None);
        loop {
            let (page, next) = cut(&all, cursor.as_deref(), 3).unwrap();
            seen.extend_from_slice(page);
            match next {
                Some(next) => cursor = Some(next),
                None => break,
            }
        }
        assert_eq!(seen, all);
        for bad in ["", "3", "at-10", "at--1", "at-x"] {
            assert!(cut(&all, Some(bad), 3).is_err(), "{bad}");
        }
    }
}

//! Pages of a list that is in memory as a whole.

use crate::handler::error::Error;

/// The page of a list that begins at `cursor`, and the cursor of the next one: for a
/// [`Handler`](crate::Handler) that has its lists as a whole. Only the beginnings of pages are cursors.
///
/// # Errors
/// If the cursor is none of this list's.
pub fn cut<'a, T>(
    all: &'a [T],
    cursor: Option<&str>,
    limit: usize,
) -> Result<(&'a [T], Option<String>), Error> {
    let limit = limit.max(1);
    let start = match cursor {
        None => 0,
        Some(cursor) => cursor
            .strip_prefix("at-")
            .and_then(|at| at.parse().ok())
            .filter(|at: &usize| (1..all.len()).contains(at) && at.is_multiple_of(limit))
            // One spelling each.
            .filter(|at| cursor == format!("at-{at}"))
            .ok_or_else(|| Error::invalid_params("invalid cursor: list again from the start"))?,
    };
    let end = start.saturating_add(limit).min(all.len());
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
        for bad in [
            "", "3", "at-10", "at--1", "at-x", "at-4", "at-0", "at-03", "at-+3",
        ] {
            assert!(cut(&all, Some(bad), 3).is_err(), "{bad}");
        }
    }
}

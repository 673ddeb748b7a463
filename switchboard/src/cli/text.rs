//! How lists look.

use crate::display::untrusted;

/// Rows in columns, the last of which has no end.
pub(crate) fn table(rows: &[Vec<String>]) -> String {
    let cells = |row: &Vec<String>| -> Vec<String> {
        row.iter()
            .map(|cell| untrusted::line(cell).into_owned())
            .collect()
    };
    let rows: Vec<Vec<String>> = rows.iter().map(cells).collect();
    let columns = rows.iter().map(Vec::len).max().unwrap_or_default();
    let widths: Vec<usize> = (0..columns)
        .map(|column| {
            let cells = rows.iter().filter_map(|row| row.get(column));
            cells
                .map(|cell| cell.chars().count())
                .max()
                .unwrap_or_default()
        })
        .collect();
    let line = |row: &Vec<String>| {
        let cells = row
            .iter()
            .zip(&widths)
            .map(|(cell, width)| format!("{cell:<width$}"));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    rows.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Rows in columns; where there are none, these words.
pub(crate) fn table_or(none: &str, rows: Vec<Vec<String>>) -> String {
    match rows.is_empty() {
        true => none.to_owned(),
        false => table(&rows),
    }
}

/// `1 tool`, `2 tools`.
pub(crate) fn count(number: usize, one: &str) -> String {
    match number {
        1 => format!("1 {one}"),
        _ => format!("{number} {one}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_and_lines_stay_lines() {
        let rows = [["a", "x\ny"], ["long", "\u{1b}[2J"]];
        let rows = rows.map(|row| row.map(str::to_owned).to_vec());
        assert_eq!(table(&rows), "a     x\\ny\nlong  \\u{1b}[2J");
    }
}

//! A table in columns, or row by row where it is too wide for them.

use super::wrap::{Face, Spans, width};

/// A table while it is read.
#[derive(Debug, Default)]
pub(super) struct Table {
    pub(super) rows: Vec<Vec<Spans>>,
}

impl Table {
    /// As text of lines; the first row is the head.
    pub(super) fn spans(&self, most: usize) -> Spans {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or_default();
        let wide = |spans: &Spans| spans.iter().map(|(_, text)| width(text)).sum::<usize>();
        let widths: Vec<usize> = (0..columns)
            .map(|column| {
                let cells = self.rows.iter().filter_map(|row| row.get(column));
                cells.map(wide).max().unwrap_or_default()
            })
            .collect();
        let whole = widths.iter().sum::<usize>() + 2 * columns.saturating_sub(1);
        match whole <= most {
            true => self.in_columns(&widths, wide),
            false => self.row_by_row(),
        }
    }

    fn in_columns(&self, widths: &[usize], wide: impl Fn(&Spans) -> usize) -> Spans {
        let mut out = Spans::new();
        let plain = |text: String| (Face::default(), text);
        for (number, row) in self.rows.iter().enumerate() {
            if number > 0 {
                out.push(plain("\n".to_owned()));
            }
            for (column, most) in widths.iter().enumerate() {
                let empty = Spans::new();
                let cell = row.get(column).unwrap_or(&empty);
                out.extend(cell.iter().map(|(face, text)| {
                    let bold = face.bold || number == 0;
                    (Face { bold, ..*face }, text.clone())
                }));
                if column + 1 < widths.len() {
                    out.push(plain(" ".repeat(most - wide(cell) + 2)));
                }
            }
            if number == 0 {
                let line: Vec<String> = widths.iter().map(|most| "-".repeat(*most)).collect();
                out.push(plain(format!("\n{}", line.join("  "))));
            }
        }
        out
    }

    /// `Head: cell`, a line each.
    fn row_by_row(&self) -> Spans {
        let mut out = Spans::new();
        let Some((head, rows)) = self.rows.split_first() else {
            return out;
        };
        for (number, row) in rows.iter().enumerate() {
            if number > 0 {
                out.push((Face::default(), "\n\n".to_owned()));
            }
            for (column, cell) in row.iter().enumerate() {
                if column > 0 {
                    out.push((Face::default(), "\n".to_owned()));
                }
                let name = head.get(column).into_iter().flatten();
                out.extend(name.map(|(face, text)| {
                    (
                        Face {
                            bold: true,
                            ..*face
                        },
                        text.clone(),
                    )
                }));
                out.push((Face::default(), ": ".to_owned()));
                out.extend(cell.iter().cloned());
            }
        }
        out
    }
}

//! A table of the report, in markdown.

use std::fmt::Display;

/// Rows under a title.
pub struct Table {
    title: String,
    columns: Vec<String>,
    rows: Vec<Vec<String>>,
}

/// Whether the command line asks for the table of this title: it names a part of it, or nothing.
pub fn is_wanted(title: &str) -> bool {
    let mut wanted = std::env::args().skip(1).peekable();
    wanted.peek().is_none() || wanted.any(|part| title.contains(&part))
}

impl Table {
    /// An empty table; the first column has no heading.
    pub fn new(title: impl Into<String>, columns: &[&str]) -> Self {
        Self {
            title: title.into(),
            columns: columns.iter().map(|&column| column.to_owned()).collect(),
            rows: Vec::new(),
        }
    }

    /// Adds a row: its name, and a value for each column.
    pub fn row(&mut self, name: impl Display, values: impl IntoIterator<Item = String>) {
        self.rows.push([name.to_string()].into_iter().chain(values).collect());
    }

    /// Prints it.
    pub fn print(&self) {
        println!("\n#### {}\n", self.title);
        println!("| | {} |", self.columns.join(" | "));
        println!("|---|{}", "---:|".repeat(self.columns.len()));
        for row in &self.rows {
            println!("| {} |", row.join(" | "));
        }
    }
}

/// A number with three digits that count.
pub fn number(value: f64) -> String {
    match value.abs() {
        v if v >= 100.0 => format!("{value:.0}"),
        v if v >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

/// How often one goes into the other, round by round: the median, and the middle half of the
/// rounds.
pub fn ratio(over: &[f64], under: &[f64]) -> String {
    let mut ratios: Vec<f64> = over.iter().zip(under).map(|(a, b)| a / b).collect();
    ratios.sort_by(f64::total_cmp);
    let at = |share: f64| ratios[((ratios.len() - 1) as f64 * share).round() as usize];
    format!("{} ({}–{})", number(at(0.5)), number(at(0.25)), number(at(0.75)))
}

/// The middle one.
pub fn median(values: &[f64]) -> f64 {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

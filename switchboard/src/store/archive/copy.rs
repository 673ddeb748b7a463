//! Copies a whole store.

use sha2::{Digest as _, Sha256};

use crate::store::archive::TABLES;
use crate::store::archive::raw::{Columns, Raw};
use crate::store::error::StoreError;
use crate::store::table::Field;

/// How many rows are read at a time. A row may have many bytes.
const PAGE: usize = 100;

/// How many rows were copied.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct Copied {
    /// Rows by table, in the order in which they were copied.
    pub tables: Vec<(&'static str, u64)>,
}

/// What a table holds, whatever the order of its rows: their number, and the sum of their digests.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
struct Content {
    rows: u64,
    sum: u128,
}

impl Content {
    fn add(&mut self, row: &Columns) {
        let mut columns: Vec<&(String, Field)> = row.iter().collect();
        columns.sort_by(|one, other| one.0.cmp(&other.0));
        let digest = Sha256::digest(format!("{columns:?}"));
        let half = digest.first_chunk::<16>().copied().unwrap_or_default();
        self.rows += 1;
        self.sum = self.sum.wrapping_add(u128::from_be_bytes(half));
    }
}

pub(super) async fn copy(from: &mut Raw, to: &mut Raw) -> Result<Copied, StoreError> {
    from.begin().await?;
    to.begin().await?;
    if !is_empty(to).await? {
        return Err(StoreError::Conflict { what: "target" });
    }
    let mut read = Vec::with_capacity(TABLES.len());
    let mut later = Vec::new();
    for (table, key) in TABLES {
        let mut content = Content::default();
        let mut after = None;
        while let Some(page) = next(from, table, key, &mut after).await? {
            for row in page {
                content.add(&row);
                write(to, table, key, row, &mut later).await?;
            }
        }
        read.push((*table, content));
    }
    for (sql, params) in later {
        to.execute(&sql, &params).await?;
    }
    to.count_on().await?;
    for (table, key) in TABLES {
        let mut content = Content::default();
        let mut after = None;
        while let Some(page) = next(to, table, key, &mut after).await? {
            page.iter().for_each(|row| content.add(row));
        }
        if !read.contains(&(*table, content)) {
            let problem = format!("what was written to {table} is not what was read");
            return Err(StoreError::Failed(problem.into()));
        }
    }
    to.commit().await?;
    from.commit().await?;
    let tables = read
        .into_iter()
        .map(|(table, content)| (table, content.rows));
    Ok(Copied {
        tables: tables.collect(),
    })
}

/// Whether there is nothing but the local user, whom every store has.
async fn is_empty(store: &mut Raw) -> Result<bool, StoreError> {
    for (table, _) in TABLES {
        let sql = match *table {
            "users" => "SELECT COUNT(*) FROM users WHERE id <> 'local'".to_owned(),
            table => format!("SELECT COUNT(*) FROM {table}"),
        };
        if store.number(&sql).await? > 0 {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The next rows of a table, after those of a key.
async fn next(
    from: &mut Raw,
    table: &str,
    key: &[&str],
    after: &mut Option<Vec<Field>>,
) -> Result<Option<Vec<Columns>>, StoreError> {
    let names = key.join(", ");
    let (condition, params) = match after.take() {
        Some(last) => {
            let marks: Vec<String> = (1..=last.len()).map(|n| format!("${n}")).collect();
            (format!(" WHERE ({names}) > ({})", marks.join(", ")), last)
        }
        None => (String::new(), Vec::new()),
    };
    let sql = format!("SELECT * FROM {table}{condition} ORDER BY {names} LIMIT {PAGE}");
    let rows = from.rows(&sql, &params).await?;
    let Some(last) = rows.last() else {
        return Ok(None);
    };
    let field = |name: &&str| {
        let found = last.iter().find(|(column, _)| column == name);
        found.map_or(Field::Null, |(_, field)| field.clone())
    };
    *after = Some(key.iter().map(field).collect());
    Ok(Some(rows))
}

/// Writes a row. What other rows' triggers change, or what refers to a row that may not be there
/// yet, is written later.
async fn write(
    to: &mut Raw,
    table: &str,
    key: &[&str],
    mut row: Columns,
    later: &mut Vec<(String, Vec<Field>)>,
) -> Result<(), StoreError> {
    let postponed: &[&str] = match table {
        "conversations" => &["use_seq", "parent"],
        "approval_rules" | "pending_interactions" | "runs" => &["seq"],
        _ => &[],
    };
    let id = row.iter().find(|(name, _)| name == "id").cloned();
    if let Some((_, id)) = id.filter(|_| !postponed.is_empty()) {
        let of = |name: &&str| row.iter().find(|(column, _)| column == name).cloned();
        let columns: Columns = postponed.iter().filter_map(of).collect();
        let sets = (1..).zip(&columns);
        let sets: Vec<String> = sets
            .map(|(n, (name, _))| format!("{name} = ${n}"))
            .collect();
        let place = columns.len() + 1;
        let sql = format!("UPDATE {table} SET {} WHERE id = ${place}", sets.join(", "));
        let params = columns.into_iter().map(|(_, field)| field).chain([id]);
        later.push((sql, params.collect()));
        row.retain(|(name, _)| !postponed.contains(&name.as_str()));
    }
    let names: Vec<&str> = row.iter().map(|(name, _)| name.as_str()).collect();
    let marks: Vec<String> = (1..=row.len()).map(|n| format!("${n}")).collect();
    let replace = match table {
        "users" => {
            let key = key.join(", ");
            let others = names.iter().filter(|name| !key.contains(**name));
            let sets: Vec<String> = others.map(|it| format!("{it} = excluded.{it}")).collect();
            format!(" ON CONFLICT ({key}) DO UPDATE SET {}", sets.join(", "))
        }
        _ => String::new(),
    };
    let (names, marks) = (names.join(", "), marks.join(", "));
    let sql = format!("INSERT INTO {table} ({names}) VALUES ({marks}){replace}");
    let params: Vec<Field> = row.into_iter().map(|(_, field)| field).collect();
    to.execute(&sql, &params).await.map(drop)
}

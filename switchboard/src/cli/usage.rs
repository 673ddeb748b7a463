//! `switchboard usage`: tokens and cost.

use std::time::Duration;

use clap::Args;
use serde_json::json;

use crate::chat::money;
use crate::cli::Global;
use crate::display::out::Out;
use crate::display::untrusted;
use crate::exit::{Exit, Failure};
use crate::home;
use crate::models::PriceTable;
use crate::store::{Timestamp, UsageTotal, UserId};

/// Tokens and cost, by model.
#[derive(Args, Debug)]
pub(crate) struct Usage {
    /// Only this conversation: its id, the beginning or end of it, or last
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Of the last N days only
    #[arg(long, value_name = "N")]
    days: Option<u64>,
}

impl Usage {
    pub(crate) async fn run(self, global: &Global, out: &Out) -> Result<Exit, Failure> {
        let store = global.store().await?;
        let user = UserId::local();
        let session = match &self.session {
            Some(name) => Some(super::session::find(&*store, name).await?),
            None => None,
        };
        let span = |days: u64| Duration::from_secs(days.saturating_mul(86_400));
        let since = self.days.map(|days| Timestamp::now().minus(span(days)));
        let totals = store.usage(&user, session.as_ref(), since).await?;
        let settings = home::settings(&*store, &user).await?;
        let as_of = PriceTable::new(&settings)?.as_of().to_owned();
        let text = format!("{}\nPrices as of {as_of}, or your own.", table(&totals));
        out.result(&json!({ "models": totals, "pricesAsOf": as_of }), text);
        store.close().await?;
        Ok(Exit::Done)
    }
}

/// The sums as a table.
pub(crate) fn table(totals: &[UsageTotal]) -> String {
    if totals.is_empty() {
        return "Nothing was used.".to_owned();
    }
    let mut lines = vec![format!(
        "{:<32} {:>7} {:>12} {:>7} {:>12} {:>10}",
        "model", "rounds", "in", "cached", "out", "cost"
    )];
    for total in totals {
        let cost = match total.unpriced_rounds == total.rounds {
            true => "unknown".to_owned(),
            false => money(total.cost_micros),
        };
        lines.push(format!(
            "{:<32} {:>7} {:>12} {:>7} {:>12} {cost:>10}",
            untrusted::line(&total.model),
            total.rounds,
            total.input,
            cached(total),
            total.output
        ));
    }
    lines.join("\n")
}

/// The share of the requests' tokens that came from the provider's cache.
fn cached(total: &UsageTotal) -> String {
    match total.input {
        0 => "–".to_owned(),
        input => format!("{} %", total.cache_read.min(input) * 100 / input),
    }
}

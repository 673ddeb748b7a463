//! The claims of the soak, and whether they hold.

/// One claim.
#[derive(Debug)]
pub(crate) struct Claim {
    about: &'static str,
    seen: String,
    bound: String,
    holds: bool,
}

impl Claim {
    /// A number that must not have grown by more than `most`.
    pub(crate) fn flat(about: &'static str, (early, late): (u64, u64), most: u64) -> Self {
        Self {
            about,
            seen: format!("{early} → {late}"),
            bound: format!("+{most}"),
            holds: late <= early + most,
        }
    }

    /// A number that must have returned to its earlier value.
    pub(crate) fn back(about: &'static str, before: u64, after: u64) -> Self {
        Self {
            about,
            seen: format!("{before} → {after}"),
            bound: format!("≤ {before}"),
            holds: after <= before,
        }
    }

    /// Calls that must not exist.
    pub(crate) fn none(about: &'static str, calls: &[u64]) -> Self {
        let some: Vec<String> = calls.iter().take(5).map(u64::to_string).collect();
        let seen = match calls.len() {
            0 => "0".to_owned(),
            count => format!("{count}: {} …", some.join(" ")),
        };
        Self {
            about,
            seen,
            bound: "0".to_owned(),
            holds: calls.is_empty(),
        }
    }

    /// An event that must have occurred; otherwise the soak proves nothing.
    pub(crate) fn happened(about: &'static str, times: u64, least: u64) -> Self {
        Self {
            about,
            seen: times.to_string(),
            bound: format!("≥ {least}"),
            holds: times >= least,
        }
    }

    pub(crate) fn holds(&self) -> bool {
        self.holds
    }
}

/// One line per claim.
pub(crate) fn table(claims: &[Claim]) -> String {
    let mut table = format!("{:<52} {:>22} {:>8}\n", "claim", "seen", "bound");
    for claim in claims {
        let verdict = if claim.holds { "ok" } else { "FAILED" };
        table.push_str(&format!(
            "{:<52} {:>22} {:>8}  {verdict}\n",
            claim.about, claim.seen, claim.bound
        ));
    }
    table
}

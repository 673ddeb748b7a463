//! What is done about findings.

use serde::{Deserialize, Serialize};

use super::{Alarm, Finding, Severity};

/// What is done about a finding, from the mildest.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ScanResponse {
    /// It is shown.
    Tell,
    /// A person is asked before the tool is called.
    Ask,
    /// The tool is not offered.
    Block,
}

/// What is done by severity. By default a low one is shown, and all others ask.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct ScanPolicy {
    /// For findings of low severity.
    pub low: ScanResponse,
    /// For those of medium severity.
    pub medium: ScanResponse,
    /// For those of high severity.
    pub high: ScanResponse,
}

impl Default for ScanPolicy {
    fn default() -> Self {
        Self {
            low: ScanResponse::Tell,
            medium: ScanResponse::Ask,
            high: ScanResponse::Ask,
        }
    }
}

impl ScanPolicy {
    /// Sets what is done about findings of this severity.
    #[must_use]
    pub fn with(mut self, severity: Severity, response: ScanResponse) -> Self {
        match severity {
            Severity::Low => self.low = response,
            Severity::Medium => self.medium = response,
            Severity::High => self.high = response,
        }
        self
    }

    /// What is done about all of them: the hardest response; `None` if there are none.
    pub fn respond(&self, findings: &[Finding]) -> Option<ScanResponse> {
        let responses = findings.iter().map(|finding| self.to(finding.severity));
        responses.max()
    }

    /// What is done about an alarm: the hardest response to any of its findings.
    pub fn answer(&self, alarm: &Alarm) -> ScanResponse {
        let others = alarm.severities.iter().map(|severity| self.to(*severity));
        others.fold(self.to(alarm.severity), ScanResponse::max)
    }

    fn to(&self, severity: Severity) -> ScanResponse {
        match severity {
            Severity::Low => self.low,
            Severity::Medium => self.medium,
            Severity::High => self.high,
        }
    }
}

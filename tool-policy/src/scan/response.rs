//! Responses to findings.

use serde::{Deserialize, Serialize};

use super::{Alarm, Finding, Severity};

/// The response to a finding, from the mildest.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ScanResponse {
    /// It is shown.
    Tell,
    /// A person is asked before the tool is called.
    Ask,
    /// The tool is not listed.
    Block,
}

/// The responses by severity. By default a finding of low severity is shown, and all others ask.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct ScanPolicy {
    /// The response to findings of low severity.
    pub low: ScanResponse,
    /// The response to findings of medium severity.
    pub medium: ScanResponse,
    /// The response to findings of high severity.
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
    /// Sets the response to findings of this severity.
    #[must_use]
    pub fn with(mut self, severity: Severity, response: ScanResponse) -> Self {
        match severity {
            Severity::Low => self.low = response,
            Severity::Medium => self.medium = response,
            Severity::High => self.high = response,
        }
        self
    }

    /// The response to all of these findings: the strictest one; `None` if there are none.
    pub fn respond(&self, findings: &[Finding]) -> Option<ScanResponse> {
        let responses = findings.iter().map(|finding| self.to(finding.severity));
        responses.max()
    }

    /// The response to an alarm.
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

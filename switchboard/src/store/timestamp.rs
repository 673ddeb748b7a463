//! Moments.

use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use crate::display::utc::{date, utc};

/// A moment: milliseconds since 1970 in UTC.
#[derive(
    Clone, Copy, Debug, Default, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize,
)]
#[serde(transparent)]
pub struct Timestamp(u64);

impl Timestamp {
    /// Now, by the machine's clock.
    pub fn now() -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        Self::from_millis(since.map_or(0, |since| since.as_millis() as u64))
    }

    /// From milliseconds since 1970.
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis)
    }

    /// Milliseconds since the beginning of 1970.
    pub const fn as_millis(self) -> u64 {
        self.0
    }

    /// As in `2026-07-28T09:30:00.125Z`.
    pub fn rfc3339(self) -> String {
        format!("{}.{:03}Z", self.utc(), self.0 % 1000)
    }

    /// As in `2026-07-28T09:30:00`.
    fn utc(self) -> String {
        let text = utc(i64::try_from(self.0).unwrap_or(i64::MAX));
        text.trim_end_matches('Z').to_owned()
    }

    /// Reads what [`rfc3339`](Self::rfc3339) writes; the time, or a part of it, may be left out.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.strip_suffix('Z').unwrap_or(text);
        let (date, time) = text.split_once('T').unwrap_or((text, "00:00:00"));
        let numbers = |text: &str, sign: char| -> Option<Vec<u64>> {
            let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
            let number = |part: &str| part.parse().ok().filter(|_| digits(part));
            text.split(sign).map(number).collect()
        };
        let (time, fraction) = time.split_once('.').unwrap_or((time, "0"));
        let millis: u64 = format!("{fraction:0<3}").get(..3)?.parse().ok()?;
        let (date, mut time) = (numbers(date, '-')?, numbers(time, ':')?);
        time.resize(3, 0);
        let ([year, month, day], [hour, minute, second]) = (date.as_slice(), time.as_slice())
        else {
            return None;
        };
        let days = days(*year, *month, *day)?;
        let fits = *hour < 24 && *minute < 60 && *second < 61;
        let seconds = days * 86_400 + hour * 3600 + minute * 60 + second;
        fits.then(|| Self(seconds * 1000 + millis))
    }

    /// The time since `earlier`; `None` if it is later.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(self.0.saturating_sub(earlier.0))
    }

    /// This moment, so much earlier.
    #[must_use]
    pub fn minus(self, span: Duration) -> Self {
        Self(self.0.saturating_sub(span.as_millis() as u64))
    }
}

impl fmt::Display for Timestamp {
    /// As in `2026-07-28 09:30:00` (UTC).
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.utc().replace('T', " "))
    }
}

/// The number of days from 1970-01-01 to a day; `None` if there is no such day.
fn days(year: u64, month: u64, day: u64) -> Option<u64> {
    if !(1970..=9999).contains(&year) || !(1..=12).contains(&month) {
        return None;
    }
    let shifted_year = year - u64::from(month <= 2);
    let (era, year_of_era) = (shifted_year / 400, shifted_year % 400);
    let shifted = (month + 9) % 12;
    let day_of_year = (153 * shifted + 2) / 5 + day.checked_sub(1)?;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    let days = (era * 146_097 + day_of_era).checked_sub(719_468)?;
    let same = date(days as i64) == (year as i64, month as i64, day as i64);
    same.then_some(days)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_prints_as_its_day_and_time_in_utc() {
        let show = |seconds: u64| Timestamp::from_millis(seconds * 1000).to_string();
        assert_eq!(show(0), "1970-01-01 00:00:00");
        assert_eq!(show(951_782_400), "2000-02-29 00:00:00");
        assert_eq!(show(1_709_251_199), "2024-02-29 23:59:59");
        assert_eq!(show(1_785_231_000), "2026-07-28 09:30:00");
        let moment = Timestamp::from_millis(1_785_231_000_125);
        assert_eq!(moment.rfc3339(), "2026-07-28T09:30:00.125Z");
    }

    #[test]
    fn what_is_written_can_be_read() {
        for millis in [
            0,
            1,
            951_782_400_000,
            1_785_230_999_125,
            253_402_300_799_999,
        ] {
            let moment = Timestamp::from_millis(millis);
            assert_eq!(Timestamp::parse(&moment.rfc3339()), Some(moment));
        }
        let day = Timestamp::parse("2026-02-28").map(Timestamp::rfc3339);
        assert_eq!(day.as_deref(), Some("2026-02-28T00:00:00.000Z"));
        let minute = Timestamp::parse("2024-02-29T09:30Z").map(Timestamp::rfc3339);
        assert_eq!(minute.as_deref(), Some("2024-02-29T09:30:00.000Z"));
        for odd in [
            "",
            "now",
            "2026-02-29",
            "2026-13-01",
            "2026-01-01T24:00:00Z",
            "1969-12-31",
            "2026-01-+1",
            "é",
        ] {
            assert_eq!(Timestamp::parse(odd), None, "{odd}");
        }
    }
}

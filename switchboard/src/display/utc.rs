//! UTC date and time formatting.

/// Milliseconds of a day.
const DAY: i64 = 86_400_000;

/// Milliseconds since 1970 as date and time in UTC, such as `2023-05-22T00:00:00Z`.
pub(crate) fn utc(millis: i64) -> String {
    let (year, month, day) = date(millis.div_euclid(DAY));
    let seconds = millis.rem_euclid(DAY) / 1000;
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// The date this many days after 1970-01-01. Years are counted from March, so that the day which
/// is there only sometimes comes last; 400 of them always have the same number of days.
pub(crate) fn date(days: i64) -> (i64, i64, i64) {
    let shifted = days.saturating_add(719_468);
    let (cycle, day) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, carry) = if month < 10 {
        (month + 3, 0)
    } else {
        (month - 9, 1)
    };
    (cycle.saturating_mul(400) + year + carry, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_written_as_dates() {
        for (millis, want) in [
            (0, "1970-01-01T00:00:00Z"),
            (1_684_713_600_000, "2023-05-22T00:00:00Z"),
            (951_782_399_999, "2000-02-28T23:59:59Z"),
            (951_782_400_000, "2000-02-29T00:00:00Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00Z"),
            (-1, "1969-12-31T23:59:59Z"),
            (-62_135_596_800_000, "0001-01-01T00:00:00Z"),
        ] {
            assert_eq!(utc(millis), want);
        }
    }
}

//! Times as numbers in a unit.

use std::time::Duration;

use serde_json::Value;

use crate::dialect::Unit;

/// A time rounded up to a whole number of its unit.
pub(crate) fn whole(time: Duration, unit: Unit) -> Duration {
    let (rest, unit) = match unit {
        Unit::Seconds => (time.subsec_nanos(), 1_000_000_000),
        Unit::Guess | Unit::Milliseconds => (time.subsec_nanos() % 1_000_000, 1_000_000),
    };
    let missing = if rest == 0 { 0 } else { unit - rest };
    time.saturating_add(Duration::from_nanos(missing.into()))
}

/// A time in a unit, without `.0` where it is whole.
pub(crate) fn amount(time: Duration, unit: Unit) -> Value {
    let number = match unit {
        Unit::Seconds => time.as_secs_f64(),
        Unit::Guess | Unit::Milliseconds => match u64::try_from(time.as_millis()) {
            Ok(whole) if Duration::from_millis(whole) == time => return Value::from(whole),
            _ => time.as_secs_f64() * 1000.0,
        },
    };
    let rounded = number.round();
    if rounded == number && rounded < 9e15 {
        Value::from(rounded as u64)
    } else {
        Value::from(number)
    }
}

//! Validates a filled-in form against its schema.

use std::fmt;

use serde_json::{Map, Number, Value};

use super::form::{FieldSchema, FormSchema, StringFormat, StringSchema, TitledValue};

/// An invalid field.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct FormProblem {
    /// The field's name.
    pub field: String,
    /// What is wrong, for the user.
    pub reason: String,
}

impl fmt::Display for FormProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field, self.reason)
    }
}

/// Completes an answer with the form's defaults and validates it.
///
/// `matches` decides whether a text (the second argument) matches a regular expression (the first); it returns `true`
/// for an expression it does not support. Strings that contain a number or a boolean are converted where the form
/// expects one. `null` counts as not filled in. The result has the form's order.
///
/// # Errors
///
/// Every invalid field, in the form's order; unknown fields come last.
pub fn check_form(
    form: &FormSchema,
    answer: &Map<String, Value>,
    matches: impl Fn(&str, &str) -> bool,
) -> Result<Map<String, Value>, Vec<FormProblem>> {
    let (mut checked, mut problems) = (Map::new(), Vec::new());
    let required = form.required.as_deref().unwrap_or_default();
    for (name, field) in form.properties.iter() {
        let given = answer.get(name).filter(|value| !value.is_null());
        let outcome = match given {
            Some(value) => check_field(field, value, &matches).map(Some),
            None => match default_of(field)
                .filter(|value| check_field(field, value, &matches).is_ok())
            {
                None if required.iter().any(|needed| needed == name) => {
                    Err("must be filled in".to_owned())
                }
                default => Ok(default),
            },
        };
        match outcome {
            Ok(Some(value)) => drop(checked.insert(name.to_owned(), value)),
            Ok(None) => {}
            Err(reason) => problems.push(FormProblem {
                field: name.to_owned(),
                reason,
            }),
        }
    }
    for name in answer
        .keys()
        .filter(|name| !form.properties.contains_key(name))
    {
        problems.push(FormProblem {
            field: name.clone(),
            reason: "is not in the form".to_owned(),
        });
    }
    if problems.is_empty() {
        Ok(checked)
    } else {
        Err(problems)
    }
}

fn default_of(field: &FieldSchema) -> Option<Value> {
    match field {
        FieldSchema::String(field) => field.default.clone().map(Value::from),
        FieldSchema::Number(field) => field.default.and_then(number),
        FieldSchema::Integer(field) => field.default.and_then(integer),
        FieldSchema::Boolean(field) => field.default.map(Value::from),
        FieldSchema::MultiSelect(field) => field.default.clone().map(Value::from),
        _ => None,
    }
}

fn check_field(
    field: &FieldSchema,
    value: &Value,
    matches: &impl Fn(&str, &str) -> bool,
) -> Result<Value, String> {
    match field {
        FieldSchema::String(field) => {
            let text = value.as_str().ok_or("must be a text")?;
            check_text(field, text, matches)?;
            Ok(value.clone())
        }
        FieldSchema::Number(field) => {
            let n = as_number(value).ok_or("must be a number")?;
            check_range(n, field.minimum, field.maximum)?;
            if value.is_number() {
                Ok(value.clone())
            } else {
                number(n).ok_or("must be a number".to_owned())
            }
        }
        FieldSchema::Integer(field) => {
            let whole = as_number(value)
                .filter(|n| n.fract() == 0.0)
                .ok_or("must be a whole number")?;
            check_range(whole, field.minimum, field.maximum)?;
            match value {
                Value::Number(n) if n.is_i64() || n.is_u64() => Ok(value.clone()),
                _ => integer(whole).ok_or("must be a whole number".to_owned()),
            }
        }
        FieldSchema::Boolean(_) => match value {
            Value::Bool(_) => Ok(value.clone()),
            Value::String(text) if text == "true" => Ok(Value::Bool(true)),
            Value::String(text) if text == "false" => Ok(Value::Bool(false)),
            _ => Err("must be true or false".to_owned()),
        },
        FieldSchema::MultiSelect(field) => {
            check_choices(
                value,
                &field.items.choices(),
                field.min_items,
                field.max_items,
            )?;
            Ok(value.clone())
        }
        _ => Ok(value.clone()),
    }
}

fn check_text(
    field: &StringSchema,
    text: &str,
    matches: &impl Fn(&str, &str) -> bool,
) -> Result<(), String> {
    let choices = field.choices();
    if !choices.is_empty() && !choices.iter().any(|choice| choice.value == text) {
        return Err(format!("must be one of {}", listed(&choices)));
    }
    let length = i64::try_from(text.chars().count()).unwrap_or(i64::MAX);
    if let Some(least) = field.min_length.filter(|least| length < *least) {
        return Err(format!("must have at least {least} characters"));
    }
    if let Some(most) = field.max_length.filter(|most| length > *most) {
        return Err(format!("must have at most {most} characters"));
    }
    if let Some(pattern) = &field.pattern
        && !matches(pattern, text)
    {
        return Err(format!("must match {pattern}"));
    }
    match &field.format {
        Some(StringFormat::Email) if !is_email(text) => Err("must be an e-mail address".to_owned()),
        Some(StringFormat::Uri) if !is_uri(text) => Err("must be a URI".to_owned()),
        Some(StringFormat::Date) if !is_date(text) => Err("must be a date: YYYY-MM-DD".to_owned()),
        Some(StringFormat::DateTime) if !is_date_time(text) => {
            Err("must be a date and time: YYYY-MM-DDThh:mm:ssZ".to_owned())
        }
        _ => Ok(()),
    }
}

fn check_choices(
    value: &Value,
    choices: &[TitledValue],
    least: Option<i64>,
    most: Option<i64>,
) -> Result<(), String> {
    let chosen = value.as_array().ok_or("must be a list of choices")?;
    let known = |item: &Value| {
        choices
            .iter()
            .any(|choice| Some(choice.value.as_str()) == item.as_str())
    };
    if !chosen.iter().all(known) {
        return Err(format!("must only have {}", listed(choices)));
    }
    let count = i64::try_from(chosen.len()).unwrap_or(i64::MAX);
    match (
        least.filter(|least| count < *least),
        most.filter(|most| count > *most),
    ) {
        (Some(least), _) => Err(format!("must have at least {least} choices")),
        (_, Some(most)) => Err(format!("must have at most {most} choices")),
        (None, None) => Ok(()),
    }
}

fn check_range(n: f64, least: Option<f64>, most: Option<f64>) -> Result<(), String> {
    match (
        least.filter(|least| n < *least),
        most.filter(|most| n > *most),
    ) {
        (Some(least), _) => Err(format!("must be at least {least}")),
        (_, Some(most)) => Err(format!("must be at most {most}")),
        (None, None) => Ok(()),
    }
}

fn listed(choices: &[TitledValue]) -> String {
    choices
        .iter()
        .map(|choice| choice.value.as_str())
        .collect::<Vec<_>>()
        .join(", ")
}

fn as_number(value: &Value) -> Option<f64> {
    match value {
        Value::Number(n) => n.as_f64(),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
    .filter(|n| n.is_finite())
}

fn number(n: f64) -> Option<Value> {
    Number::from_f64(n).map(Value::Number)
}

/// A float without fraction as a JSON integer.
fn integer(n: f64) -> Option<Value> {
    const BOUND: f64 = 9_223_372_036_854_775_808.0;
    #[expect(clippy::cast_possible_truncation, reason = "whole and in range")]
    (n.fract() == 0.0 && (-BOUND..BOUND).contains(&n)).then(|| Value::from(n as i64))
}

fn is_email(text: &str) -> bool {
    text.rsplit_once('@').is_some_and(|(who, at)| {
        let plain = !text.contains(|c: char| c.is_whitespace() || c.is_control());
        plain && !who.is_empty() && !at.is_empty() && !at.starts_with('.') && !at.ends_with('.')
    })
}

fn is_uri(text: &str) -> bool {
    text.split_once(':').is_some_and(|(scheme, rest)| {
        let named = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
        named && !rest.is_empty() && !rest.contains(|c: char| c.is_whitespace() || c.is_control())
    })
}

fn is_date(text: &str) -> bool {
    let mut parts = text.split('-').map(|part| (part.len(), digits(part)));
    let (Some((4, Some(year))), Some((2, Some(month))), Some((2, Some(day))), None) =
        (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return false;
    };
    let leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    let days = match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return false,
    };
    (1..=days).contains(&day)
}

fn is_date_time(text: &str) -> bool {
    let Some((date, time)) = text.split_once(['T', 't', ' ']) else {
        return false;
    };
    let Some(zone) = time.find(['Z', 'z', '+', '-']) else {
        return false;
    };
    let (time, zone) = time.split_at(zone);
    let zone_is_good = match zone.strip_prefix(['+', '-']) {
        Some(offset) => is_clock(offset, 2),
        None => zone.len() == 1,
    };
    let (clock, fraction) = time
        .split_once('.')
        .map_or((time, None), |(c, f)| (c, Some(f)));
    is_date(date)
        && is_clock(clock, 3)
        && fraction.is_none_or(|fraction| digits(fraction).is_some())
        && zone_is_good
}

/// `hh:mm` or `hh:mm:ss`, with room for a leap second.
fn is_clock(text: &str, parts: usize) -> bool {
    let limits = [23, 59, 60];
    text.split(':').count() == parts
        && text
            .split(':')
            .zip(limits)
            .all(|(part, most)| part.len() == 2 && digits(part).is_some_and(|n| n <= most))
}

fn digits(text: &str) -> Option<u64> {
    if !text.is_empty() && text.len() < 19 && text.bytes().all(|byte| byte.is_ascii_digit()) {
        text.parse().ok()
    } else {
        None
    }
}

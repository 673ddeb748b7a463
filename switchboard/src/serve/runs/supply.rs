//! An answer to what a server asked about a parked call.

use mcp_client::Parked;
use mcp_jsonrpc::model::{ElicitAction, ElicitParams, ElicitResult, FormSchema, InputRequest};
use serde_json::{Value, json};

use crate::conversation::{Turn, views};
use crate::serve::error::ApiError;
use crate::store::{PendingId, Store};

/// Gives the answer. The call goes on when all its questions are answered: whether it does.
pub(super) async fn supply(
    turn: &mut Turn<'_>,
    store: &dyn Store,
    question: &PendingId,
    result: ElicitResult,
) -> Result<bool, ApiError> {
    let answered = || ApiError::conflict("already_answered", "this question was answered already");
    let number = turn.recorder().asked_about(question).ok_or_else(answered)?;
    let row = store.question(question).await?.ok_or_else(answered)?;
    let parked: Result<Parked, _> = serde_json::from_value(row.payload);
    let mut parked = parked.map_err(|_| answered())?;
    let (key, _) = views::first_question(&parked).ok_or_else(answered)?;
    let form = match parked.questions.get(&key) {
        Some(InputRequest::Elicitation(asked)) => match &asked.params {
            ElicitParams::Form(form) => Some(&form.requested_schema),
            _ => None,
        },
        _ => None,
    };
    let result = check(form, result)?;
    let unfit = |error: serde_json::Error| ApiError::unfit(error.to_string());
    parked.answers.set(&key, &result).map_err(unfit)?;
    if views::first_question(&parked).is_some() {
        turn.supply_one(number, &parked).await?;
        return Ok(false);
    }
    turn.supply(number, parked.answers).await?;
    Ok(true)
}

/// What was filled in, completed and checked against the form.
pub(crate) fn check(
    form: Option<&FormSchema>,
    mut result: ElicitResult,
) -> Result<ElicitResult, ApiError> {
    let (Some(form), ElicitAction::Accept) = (form, &result.action) else {
        result.content = None;
        return Ok(result);
    };
    let content = result.content.take().unwrap_or_default();
    let checked = mcp_client::check_form(form, &content);
    result.content = Some(checked.map_err(|problems| {
        let fields: Vec<Value> = problems
            .iter()
            .map(|problem| json!({ "field": problem.field, "reason": problem.reason }))
            .collect();
        let message = "the form is not filled in as it should be";
        ApiError::unfit(message).with_details(json!({ "fields": fields }))
    })?);
    Ok(result)
}

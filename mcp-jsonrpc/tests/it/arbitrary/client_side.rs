//! What clients offer: roots, sampling, elicitation, and input in answer to a result.

use mcp_jsonrpc::model::*;
use mcp_jsonrpc::{OrderedMap, ResultType, Revision};
use serde_json::{Map, Value, json};

use super::content::{audio_content, block, image_content, role, text_content};
use super::lifecycle::{embedded_meta, result_meta};
use super::server_side::{has_experimental_tasks, task_metadata, tool};
use super::{Gen, made};

/// `_meta` of a result that may stand inside a request.
fn bare_meta(g: &mut Gen) -> Option<Meta> {
    if g.revision.is_modern() {
        None
    } else {
        result_meta(g)
    }
}

pub(crate) fn root(g: &mut Gen) -> Root {
    made!(g, Root::new(format!("file:///{}", g.below(9))), {
        name: g.maybe(Gen::text),
        meta: g.object_meta(),
    })
}

pub(crate) fn list_roots(g: &mut Gen) -> ListRootsResult {
    made!(g, ListRootsResult::new(g.list(root)), { meta: bare_meta(g) })
}

pub(crate) fn tool_use(g: &mut Gen) -> ToolUseContent {
    made!(g, ToolUseContent::new(g.text(), g.text(), g.raw_object()), { meta: g.object_meta() })
}

pub(crate) fn tool_result(g: &mut Gen) -> ToolResultContent {
    made!(g, ToolResultContent::new(g.text(), g.list(block)), {
        structured_content: g.maybe(|g| {
            if g.revision.has_any_structured_output() { g.raw() } else { g.raw_object().into() }
        }),
        is_error: g.maybe(Gen::bool),
        meta: g.object_meta(),
    })
}

pub(crate) fn sampling_content(g: &mut Gen) -> SamplingContent {
    match g.below(5) {
        0 => image_content(g).into(),
        1 if g.revision.has_audio() => audio_content(g).into(),
        2 if g.revision.has_sampling_tools() => tool_use(g).into(),
        3 if g.revision.has_sampling_tools() => tool_result(g).into(),
        _ => text_content(g).into(),
    }
}

fn sampling_contents(g: &mut Gen) -> SamplingContents {
    if g.revision.has_sampling_tools() && g.bool() {
        g.list(sampling_content).into()
    } else {
        SamplingContents::One(Box::new(sampling_content(g)))
    }
}

pub(crate) fn sampling_message(g: &mut Gen) -> SamplingMessage {
    made!(g, SamplingMessage::new(role(g), sampling_contents(g)), {
        meta: g.maybe_if(Revision::has_sampling_tools, Gen::meta),
    })
}

pub(crate) fn model_hint(g: &mut Gen) -> ModelHint {
    made!(g, ModelHint::default(), { name: g.maybe(Gen::text) })
}

pub(crate) fn model_preferences(g: &mut Gen) -> ModelPreferences {
    made!(g, ModelPreferences::default(), {
        hints: g.maybe(|g| g.list(model_hint)),
        cost_priority: g.maybe(Gen::share),
        speed_priority: g.maybe(Gen::share),
        intelligence_priority: g.maybe(Gen::share),
    })
}

pub(crate) fn tool_choice(g: &mut Gen) -> ToolChoice {
    use ToolChoiceMode::*;
    made!(g, ToolChoice::default(), { mode: g.maybe(|g| g.pick(&[Auto, Required, None])) })
}

pub(crate) fn create_message(g: &mut Gen) -> CreateMessageParams {
    made!(g, CreateMessageParams::new(g.list(sampling_message), g.size()), {
        model_preferences: g.maybe(model_preferences),
        system_prompt: g.maybe(Gen::text),
        include_context: g.maybe(|g| {
            use IncludeContext::*;
            g.pick(&[None, ThisServer, AllServers])
        }),
        temperature: g.maybe(Gen::float),
        stop_sequences: g.maybe(|g| g.list(Gen::text)),
        metadata: g.maybe(Gen::tame_object),
        tools: g.maybe_if(Revision::has_sampling_tools, |g| g.list(tool)),
        tool_choice: g.maybe_if(Revision::has_sampling_tools, tool_choice),
        task: g.maybe_if(has_experimental_tasks, task_metadata),
        meta: embedded_meta(g),
    })
}

pub(crate) fn message_result(g: &mut Gen) -> CreateMessageResult {
    made!(g, CreateMessageResult::new(role(g), sampling_contents(g), g.text()), {
        stop_reason: g.maybe(|g| {
            g.pick(&[StopReason::EndTurn, StopReason::ToolUse, StopReason::from("tired")])
        }),
        meta: g.maybe(Gen::meta),
    })
}

fn titled(g: &mut Gen) -> TitledValue {
    TitledValue::new(g.text(), g.text())
}

pub(crate) fn plain_string(g: &mut Gen) -> StringSchema {
    use StringFormat::*;
    made!(g, StringSchema::default(), {
        title: g.maybe(Gen::text),
        description: g.maybe(Gen::text),
        min_length: g.maybe(Gen::size),
        max_length: g.maybe(Gen::size),
        format: g.maybe(|g| g.pick(&[Date, DateTime, Email, Uri])),
        default: g.maybe_if(Revision::has_rich_forms, Gen::text),
    })
}

/// With `enum`; `enumNames` only where asked for.
pub(crate) fn untitled_select(g: &mut Gen) -> StringSchema {
    made!(g, StringSchema::default(), {
        title: g.maybe(Gen::text),
        description: g.maybe(Gen::text),
        values: Some(g.list(Gen::text)),
        default: g.maybe_if(Revision::has_rich_forms, Gen::text),
    })
}

pub(crate) fn named_select(g: &mut Gen) -> StringSchema {
    let mut schema = untitled_select(g);
    schema.value_names = g.maybe(|g| g.list(Gen::text));
    schema
}

pub(crate) fn titled_select(g: &mut Gen) -> StringSchema {
    made!(g, StringSchema::default(), {
        title: g.maybe(Gen::text),
        description: g.maybe(Gen::text),
        one_of: Some(g.list(titled)),
        default: g.maybe(Gen::text),
    })
}

pub(crate) fn number(g: &mut Gen) -> NumberSchema {
    made!(g, NumberSchema::default(), {
        title: g.maybe(Gen::text),
        description: g.maybe(Gen::text),
        minimum: g.maybe(bound),
        maximum: g.maybe(bound),
        default: g.maybe_if(Revision::has_rich_forms, bound),
    })
}

pub(crate) fn integer(g: &mut Gen) -> IntegerSchema {
    made!(g, IntegerSchema::default(), {
        title: g.maybe(Gen::text),
        description: g.maybe(Gen::text),
        minimum: g.maybe(bound),
        maximum: g.maybe(bound),
        default: g.maybe_if(Revision::has_rich_forms, bound),
    })
}

/// A bound of a number: the schemas of 2025-06-18 and 2025-11-25 want whole ones.
fn bound(g: &mut Gen) -> f64 {
    if g.revision.is_modern() {
        g.float()
    } else {
        g.size() as f64
    }
}

pub(crate) fn boolean(g: &mut Gen) -> BooleanSchema {
    made!(g, BooleanSchema::default(), {
        title: g.maybe(Gen::text),
        description: g.maybe(Gen::text),
        default: g.maybe(Gen::bool),
    })
}

pub(crate) fn untitled_multi(g: &mut Gen) -> MultiSelectSchema {
    let mut items = MultiSelectItems::default();
    items.kind = Some("string".to_owned());
    items.values = Some(g.list(Gen::text));
    multi(g, items)
}

pub(crate) fn titled_multi(g: &mut Gen) -> MultiSelectSchema {
    let mut items = MultiSelectItems::default();
    items.any_of = Some(g.list(titled));
    multi(g, items)
}

fn multi(g: &mut Gen, items: MultiSelectItems) -> MultiSelectSchema {
    made!(g, MultiSelectSchema::new(items), {
        title: g.maybe(Gen::text),
        description: g.maybe(Gen::text),
        min_items: g.maybe(Gen::size),
        max_items: g.maybe(Gen::size),
        default: g.maybe(|g| g.list(Gen::text)),
    })
}

pub(crate) fn field(g: &mut Gen) -> FieldSchema {
    match g.below(8) {
        0 => number(g).into(),
        1 => integer(g).into(),
        2 => boolean(g).into(),
        3 => named_select(g).into(),
        4 if g.revision.has_rich_forms() => titled_select(g).into(),
        5 if g.revision.has_rich_forms() => untitled_multi(g).into(),
        6 if g.revision.has_rich_forms() => titled_multi(g).into(),
        _ => plain_string(g).into(),
    }
}

fn form(g: &mut Gen) -> FormSchema {
    let fields: OrderedMap<FieldSchema> = g.map(field);
    made!(g, FormSchema::new(fields), {
        required: g.maybe(|g| g.list(Gen::name)),
        dialect: g.maybe_if(Revision::has_rich_forms, |_| {
            "https://json-schema.org/draft/2020-12/schema".to_owned()
        }),
    })
}

pub(crate) fn elicit_form(g: &mut Gen) -> ElicitFormParams {
    made!(g, ElicitFormParams::new(g.text(), form(g)), {
        mode: g.maybe_if(Revision::has_url_elicitation, |_| ElicitMode::Form),
        task: g.maybe_if(has_experimental_tasks, task_metadata),
        meta: embedded_meta(g),
    })
}

pub(crate) fn elicit_url(g: &mut Gen) -> ElicitUrlParams {
    made!(g, ElicitUrlParams::new(g.text(), g.uri()), {
        elicitation_id: g.always_if(has_experimental_tasks, Gen::text),
        task: g.maybe_if(has_experimental_tasks, task_metadata),
        meta: embedded_meta(g),
    })
}

pub(crate) fn elicit(g: &mut Gen) -> ElicitParams {
    if g.revision.has_url_elicitation() && g.bool() {
        elicit_url(g).into()
    } else {
        elicit_form(g).into()
    }
}

pub(crate) fn elicit_result(g: &mut Gen) -> ElicitResult {
    use ElicitAction::*;
    made!(g, ElicitResult::new(g.pick(&[Accept, Decline, Cancel])), {
        content: g.maybe(answers),
        meta: bare_meta(g),
    })
}

fn answers(g: &mut Gen) -> Map<String, Value> {
    let lists = g.revision.has_rich_forms();
    (0..g.below(4))
        .map(|_| {
            let answer = match g.below(4) {
                0 => json!(g.text()),
                1 => json!(g.size()),
                2 if lists => json!(g.list(Gen::text)),
                _ => json!(g.bool()),
            };
            (g.name(), answer)
        })
        .collect()
}

pub(crate) fn elicitation_complete(g: &mut Gen) -> ElicitationCompleteParams {
    made!(g, ElicitationCompleteParams::new(g.text()))
}

pub(crate) fn elicitation_input(g: &mut Gen) -> ElicitationInput {
    made!(g, ElicitationInput::new(elicit(g)))
}

pub(crate) fn sampling_input(g: &mut Gen) -> SamplingInput {
    made!(g, SamplingInput::new(create_message(g)))
}

pub(crate) fn roots_input(g: &mut Gen) -> RootsInput {
    made!(g, RootsInput::default(), {
        params: g.maybe(|g| made!(g, EmptyParams::default(), { meta: g.maybe(Gen::meta) })),
    })
}

pub(crate) fn input_requests(g: &mut Gen) -> InputRequests {
    g.map(|g| match g.below(3) {
        0 => elicitation_input(g).into(),
        1 => sampling_input(g).into(),
        _ => roots_input(g).into(),
    })
}

pub(crate) fn input_responses(g: &mut Gen) -> InputResponses {
    let mut responses = InputResponses::new();
    for _ in 0..g.below(3) {
        let key = g.name();
        match g.below(3) {
            0 => responses.set(key, &elicit_result(g)).unwrap(),
            1 => responses.set(key, &message_result(g)).unwrap(),
            _ => responses.set(key, &list_roots(g)).unwrap(),
        }
    }
    responses
}

pub(crate) fn input_required(g: &mut Gen) -> InputRequiredResult {
    made!(g, InputRequiredResult::default(), {
        result_type: Some(ResultType::InputRequired),
        input_requests: g.maybe(input_requests),
        request_state: g.maybe(Gen::text),
        meta: result_meta(g),
    })
}

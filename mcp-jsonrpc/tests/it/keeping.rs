//! What the crate does not know survives it.

use mcp_jsonrpc::model::*;
use mcp_jsonrpc::{Body, ErrorObject, RawJson, RawMap, RawRef};
use serde_json::{Value, json};

#[track_caller]
fn read<T: Body>(text: &str) -> T {
    T::read(RawRef::from_text(text).unwrap()).unwrap()
}

#[test]
fn unknown_members_come_back_in_their_order_and_byte_for_byte() {
    let text = r#"{"zeta":1.50,"name":"t","alpha":{"b":[1 , 2]},"inputSchema":{},"beta":null}"#;
    let tool: Tool = read(text);
    assert_eq!(
        tool.extra.keys().collect::<Vec<_>>(),
        ["zeta", "alpha", "beta"]
    );
    assert_eq!(
        serde_json::to_string(&tool).unwrap(),
        r#"{"name":"t","inputSchema":{},"zeta":1.50,"alpha":{"b":[1 , 2]},"beta":null}"#
    );
}

#[test]
fn a_tools_schemas_are_kept_byte_for_byte() {
    let schema = r#"{ "type":"object",  "properties":{"b":{"maximum":1e2},"a":{"default":18446744073709551616}}, "x":"\u00e9" }"#;
    let tool: Tool = read(&format!(
        r#"{{"name":"t","inputSchema":{schema},"outputSchema":{schema}}}"#
    ));
    assert_eq!(tool.input_schema.get(), schema);
    assert_eq!(tool.output_schema.unwrap().get(), schema);
}

#[test]
fn an_unknown_kind_of_content_is_kept_raw() {
    for text in [
        r#"{"type":"hologram","depth":3.0}"#,
        r#"{"depth":3.0,"type":"hologram"}"#,
        r#"{"no":"tag"}"#,
        r#"{"type":7}"#,
        r#"{}"#,
    ] {
        let block: ContentBlock = read(text);
        assert_eq!(
            block,
            ContentBlock::Unknown(RawJson::from_text(text.to_owned()).unwrap())
        );
        assert_eq!(serde_json::to_string(&block).unwrap(), text);
    }
}

#[test]
fn a_bad_block_of_a_known_kind_is_kept_raw_too() {
    let result: CallToolResult = read(
        r#"{"content":[{"type":"text"},{"type":"image","data":1},{"type":"text","text":"ok"}]}"#,
    );
    let [
        ContentBlock::Unknown(first),
        ContentBlock::Unknown(_),
        ContentBlock::Text(text),
    ] = &result.content[..]
    else {
        panic!("{result:?}")
    };
    assert_eq!(first.get(), r#"{"type":"text"}"#);
    assert_eq!(text.text, "ok");
}

#[test]
fn the_tag_may_stand_anywhere() {
    let block: ContentBlock = read(r#"{"text":"a\u0062","_meta":{"k":[1]},"type":"text","x":1}"#);
    let ContentBlock::Text(content) = &block else {
        panic!("{block:?}")
    };
    assert_eq!(content.text, "ab");
    assert_eq!(
        content.meta.as_ref().unwrap().get("k").unwrap().get(),
        "[1]"
    );
    assert_eq!(content.extra.get("x").unwrap().get(), "1");
}

#[test]
fn a_struct_refuses_the_tag_of_another_kind() {
    let raw = RawRef::from_text(r#"{"type":"image","text":"a"}"#).unwrap();
    let error = TextContent::read(raw).unwrap_err();
    assert_eq!(
        error.to_string(),
        "type: expected \"text\", found \"image\""
    );
}

#[test]
fn null_structured_content_is_something_else_than_none() {
    let null: CallToolResult = read(r#"{"content":[],"structuredContent":null}"#);
    assert!(null.structured_content.as_ref().unwrap().is_null());
    assert_eq!(
        serde_json::to_string(&null).unwrap(),
        r#"{"content":[],"structuredContent":null}"#
    );
    let none: CallToolResult = read(r#"{"content":[]}"#);
    assert_eq!(none.structured_content, None);
    assert_eq!(serde_json::to_string(&none).unwrap(), r#"{"content":[]}"#);
}

#[test]
fn null_means_none_elsewhere() {
    let page: ListToolsResult = read(r#"{"tools":[],"nextCursor":null,"_meta":null,"ttlMs":null}"#);
    assert_eq!(page, ListToolsResult::new([]));
    let result: CallToolResult = read(r#"{"content":null,"isError":null}"#);
    assert_eq!(result, CallToolResult::new([]));
}

#[test]
fn an_empty_cursor_is_a_cursor() {
    let page: ListToolsResult = read(r#"{"tools":[],"nextCursor":""}"#);
    assert_eq!(page.next_cursor.as_deref(), Some(""));
}

#[test]
fn a_task_without_limit_says_null() {
    let text =
        r#"{"taskId":"1","status":"working","createdAt":"a","lastUpdatedAt":"b","ttl":null}"#;
    let task: experimental_task::Task = read(text);
    assert_eq!(task.ttl, task::Ttl::Unlimited);
    assert_eq!(serde_json::to_string(&task).unwrap(), text);
    let task: task::Task = read(
        r#"{"taskId":"1","status":"completed","createdAt":"a","lastUpdatedAt":"b","ttlMs":5.0}"#,
    );
    assert_eq!(task.ttl, task::Ttl::Millis(5));
    assert!(task.status.is_terminal());
}

#[test]
fn integers_may_be_written_as_floats_but_not_as_fractions() {
    let result: CompleteResult = read(r#"{"completion":{"values":[],"total":60000.0}}"#);
    assert_eq!(result.completion.total, Some(60000));
    let raw = RawRef::from_text(r#"{"completion":{"values":[],"total":0.5}}"#).unwrap();
    let error = CompleteResult::read(raw).unwrap_err();
    assert_eq!(
        error.to_string(),
        "completion.total: expected a 64-bit integer, found 0.5"
    );
}

#[test]
fn open_words_are_kept_and_closed_ones_are_not() {
    let result: CreateMessageResult =
        read(r#"{"role":"assistant","content":[],"model":"m","stopReason":"tired"}"#);
    assert_eq!(
        result.stop_reason,
        Some(StopReason::Other("tired".to_owned()))
    );
    assert_eq!(
        serde_json::to_value(&result).unwrap()["stopReason"],
        "tired"
    );
    let raw = RawRef::from_text(r#"{"role":"system","content":{}}"#).unwrap();
    let error = SamplingMessage::read(raw).unwrap_err();
    assert_eq!(
        error.to_string(),
        r#"role: "system" is none of assistant user"#
    );
}

#[test]
fn sampling_content_keeps_its_shape() {
    for text in [
        r#"{"role":"user","content":{"type":"text","text":"a"}}"#,
        r#"{"role":"user","content":[{"type":"text","text":"a"}]}"#,
    ] {
        let message: SamplingMessage = read(text);
        assert_eq!(message.content.as_slice().len(), 1);
        assert_eq!(serde_json::to_string(&message).unwrap(), text);
    }
}

#[test]
fn a_form_without_a_mode_stays_without_one() {
    let form = r#""message":"m","requestedSchema":{"type":"object","properties":{}}"#;
    for text in [
        format!("{{{form}}}"),
        format!(r#"{{"mode":"form",{form}}}"#),
    ] {
        let params: ElicitParams = read(&text);
        assert!(matches!(params, ElicitParams::Form(_)), "{params:?}");
        let back: Value = serde_json::to_value(&params).unwrap();
        assert_eq!(back, serde_json::from_str::<Value>(&text).unwrap());
    }
    let params: ElicitParams = read(r#"{"mode":"telepathy","message":"m"}"#);
    assert!(matches!(params, ElicitParams::Unknown(_)));
}

#[test]
fn a_form_keeps_its_order_and_its_odd_fields() {
    let text = r#"{"type":"object","properties":{"z":{"type":"string"},"a":{"type":"date"},"m":{"type":"integer","minimum":"x"}}}"#;
    let form: FormSchema = read(text);
    assert_eq!(form.properties.keys().collect::<Vec<_>>(), ["z", "a", "m"]);
    assert!(matches!(
        form.properties.get("a"),
        Some(FieldSchema::Unknown(_))
    ));
    assert!(matches!(
        form.properties.get("m"),
        Some(FieldSchema::Unknown(_))
    ));
    assert_eq!(serde_json::to_string(&form).unwrap(), text);
}

#[test]
fn choices_are_found_in_every_way_to_write_them() {
    let shown = |schema: FieldSchema| -> Vec<String> {
        match schema {
            FieldSchema::String(schema) => schema.choices(),
            FieldSchema::MultiSelect(schema) => schema.items.choices(),
            other => panic!("{other:?}"),
        }
        .iter()
        .map(|choice| format!("{}={}", choice.value, choice.title))
        .collect()
    };
    for text in [
        r#"{"type":"string","oneOf":[{"const":"r","title":"Red"},{"const":"g","title":"Green"}]}"#,
        r#"{"type":"string","enum":["r","g"],"enumNames":["Red","Green"]}"#,
        r#"{"type":"array","items":{"anyOf":[{"const":"r","title":"Red"},{"const":"g","title":"Green"}]}}"#,
    ] {
        assert_eq!(shown(read(text)), ["r=Red", "g=Green"], "{text}");
    }
    assert_eq!(shown(read(r#"{"type":"string","enum":["r"]}"#)), ["r=r"]);
    assert_eq!(
        shown(read(
            r#"{"type":"array","items":{"type":"string","enum":["r"]}}"#
        )),
        ["r=r"]
    );
    assert!(shown(read(r#"{"type":"string"}"#)).is_empty());
}

#[test]
fn capabilities_are_open_sets() {
    let text = r#"{"tools":{"listChanged":true,"turbo":1},"experimental":{"odd":true},"extensions":{"com.example/x":{"a":1}},"teleport":{}}"#;
    let capabilities: ServerCapabilities = read(text);
    assert_eq!(
        capabilities
            .extensions
            .as_ref()
            .unwrap()
            .get("com.example/x")
            .unwrap()
            .get(),
        r#"{"a":1}"#
    );
    assert!(capabilities.extra.contains_key("teleport"));
    assert_eq!(serde_json::to_string(&capabilities).unwrap(), text);
}

#[test]
fn elicitation_without_details_means_forms() {
    let says = |text: &str| {
        let capability: ElicitationCapability = read(text);
        (capability.has_form(), capability.has_url())
    };
    assert_eq!(says("{}"), (true, false));
    assert_eq!(says(r#"{"url":{}}"#), (false, true));
    assert_eq!(says(r#"{"form":{},"url":{}}"#), (true, true));
}

#[test]
fn meta_gives_the_reserved_keys_and_keeps_the_others() {
    let mut meta: Meta =
        serde_json::from_str(r#"{"com.example/x":[1],"progressToken":7.0}"#).unwrap();
    assert_eq!(meta.progress_token(), Some(7.into()));
    assert_eq!(meta.log_level(), None);
    meta.set_protocol_version("2026-07-28").unwrap();
    meta.set_client_info(&Implementation::new("c", "1"))
        .unwrap();
    meta.set_client_capabilities(&ClientCapabilities::default())
        .unwrap();
    meta.set_log_level(&LoggingLevel::Warning).unwrap();
    meta.set_subscription_id(&"s".into()).unwrap();
    meta.set_traceparent("00-1-2-01").unwrap();
    assert_eq!(
        serde_json::to_value(&meta).unwrap(),
        json!({
            "com.example/x": [1],
            "progressToken": 7.0,
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "c", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/logLevel": "warning",
            "io.modelcontextprotocol/subscriptionId": "s",
            "traceparent": "00-1-2-01",
        })
    );
    meta.insert("io.modelcontextprotocol/serverInfo", RawJson::null());
    assert_eq!(meta.server_info(), None);
}

#[test]
fn of_members_with_the_same_name_the_last_counts_in_the_first_place() {
    let map: RawMap = read(r#"{"a":1,"b":2,"a":3}"#);
    assert_eq!(serde_json::to_string(&map).unwrap(), r#"{"a":3,"b":2}"#);
    let tool: Tool = read(r#"{"name":"a","x":1,"name":"b","inputSchema":{},"x":2}"#);
    assert_eq!(
        (tool.name.as_str(), tool.extra.get("x").unwrap().get()),
        ("b", "2")
    );
    let many: String = (0..5000)
        .map(|n| format!("\"k{}\":{n},", n % 2500))
        .collect();
    let map: RawMap = read(&format!("{{{}\"z\":0}}", many));
    assert_eq!(map.len(), 2501);
    assert_eq!(map.get("k7").unwrap().get(), "2507");
}

#[test]
fn the_data_of_an_error_is_kept_and_read() {
    let error: ErrorObject = read(
        r#"{"code":-32042,"message":"m","data":{"elicitations":[{"mode":"url","message":"m","url":"https://x.example","elicitationId":"1"}]},"trace":"t"}"#,
    );
    let data: UrlElicitationData = error.data_as().unwrap();
    assert_eq!(data.elicitations[0].elicitation_id.as_deref(), Some("1"));
    assert!(error.extra.contains_key("trace"));
}

#[test]
fn a_tools_name_for_people_is_its_title_or_its_annotation_or_its_name() {
    let name = |text: &str| read::<Tool>(text).display_name().to_owned();
    assert_eq!(
        name(r#"{"name":"n","inputSchema":{},"title":"t","annotations":{"title":"a"}}"#),
        "t"
    );
    assert_eq!(
        name(r#"{"name":"n","inputSchema":{},"annotations":{"title":"a"}}"#),
        "a"
    );
    assert_eq!(name(r#"{"name":"n","inputSchema":{}}"#), "n");
    let hints = ToolAnnotations::default();
    assert!(!hints.is_read_only() && hints.is_destructive());
    assert!(!hints.is_idempotent() && hints.is_open_world());
}

#[test]
fn serde_reads_what_the_reader_reads() {
    let text = r#"{"content":[{"text":"a","type":"text"}],"x":[1 ,2]}"#;
    let ours: CallToolResult = read(text);
    assert_eq!(serde_json::from_str::<CallToolResult>(text).unwrap(), ours);
    let value: Value = serde_json::from_str(text).unwrap();
    let from_value: CallToolResult = serde_json::from_value(value).unwrap();
    assert_eq!(from_value.content, ours.content);
    let from_reader: CallToolResult = serde_json::from_reader(text.as_bytes()).unwrap();
    assert_eq!(from_reader, ours);
    let error = serde_json::from_str::<Tool>(r#"{"name":7,"inputSchema":{}}"#).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("name: expected a string, found a number"),
        "{error}"
    );
}

//! Every text is parsed whole, and split in two at every position.

use proptest::prelude::*;

use super::super::tag::{FUNCTION_CALL, TOOL_CALL, TOOL_CALLS, TOOL_USE};
use super::*;

fn grammar() -> Grammar {
    Grammar {
        tags: &[FUNCTION_CALL, TOOL_USE, TOOL_CALL, TOOL_CALLS],
        fenced: true,
        names: Some(vec!["getTime".to_owned(), "say".to_owned()]),
    }
}

/// What was found, text joined: `text`, `name(arguments)`, `!name(problem)`.
fn read(pieces: &[&str], cut: bool, stopped: bool) -> Vec<String> {
    let mut parser = PromptParser::new(grammar());
    let mut out: Vec<String> = Vec::new();
    let mut text = String::new();
    {
        let mut sink = |found: Found<'_>| match found {
            Found::Text(more) => text.push_str(more),
            Found::Unclosed => {}
            other => {
                if !text.is_empty() {
                    out.push(std::mem::take(&mut text));
                }
                out.push(match other {
                    Found::Call { name, arguments } => format!("{name}({arguments})"),
                    Found::Rejected { name, problem, .. } => {
                        format!("!{name}({})", short(&problem))
                    }
                    _ => String::new(),
                });
            }
        };
        for piece in pieces {
            parser.push(piece, &mut sink);
        }
        parser.finish(cut, stopped, &mut sink);
    }
    if !text.is_empty() {
        out.push(text);
    }
    out
}

/// What is wrong, without the parser's own words.
fn short(problem: &CallProblem) -> String {
    match problem {
        CallProblem::Malformed { reason } => {
            reason.split(" (").next().unwrap_or_default().to_owned()
        }
        other => format!("{other:?}"),
    }
}

#[track_caller]
fn check_ended(text: &str, cut: bool, stopped: bool, want: &[&str]) {
    assert_eq!(read(&[text], cut, stopped), want, "whole: {text}");
    for (at, _) in text.char_indices() {
        let (left, right) = text.split_at(at);
        assert_eq!(
            read(&[left, right], cut, stopped),
            want,
            "cut at {at}: {text}"
        );
    }
    let single: Vec<&str> = text
        .char_indices()
        .map(|(at, c)| &text[at..at + c.len_utf8()])
        .collect();
    assert_eq!(read(&single, cut, stopped), want, "one by one: {text}");
}

#[track_caller]
fn check(text: &str, want: &[&str]) {
    check_ended(text, false, false, want);
}

#[test]
fn both_tag_dialects_are_read() {
    check(
        "I will look.\n<function_call>\n{\n\"name\": \"getTime\",\n\"arguments\": { \"offset_ms\": -86400000 }\n}\n</function_call>\n",
        &["I will look.\n", "getTime({ \"offset_ms\": -86400000 })"],
    );
    check(
        "<tool_use>\n  <name> getTime </name>\n  <arguments>{\"offset_ms\": 1}</arguments>\n</tool_use>",
        &["getTime({\"offset_ms\": 1})"],
    );
}

#[test]
fn fenced_json_is_a_call_if_it_names_a_tool() {
    check(
        "```json\n{\"name\":\"getTime\",\"arguments\":{}}\n```\nDone.",
        &["getTime({})", "Done."],
    );
    check(
        "```json\n{\"name\":\"getTime\",\"arguments\":{}}\n```",
        &["getTime({})"],
    );
    check(
        "~~~tool_call\n{\"name\":\"getTime\"}\n~~~\n",
        &["getTime({})"],
    );
    for text in [
        "```json\n{\"name\":\"Zoë\",\"age\":4}\n```\n",
        "```json\n{\"city\":\"Paris\"}\n```\n",
        "```json\n[1]\n```\nx",
        "```json\n{\"name\":\"getTime\"",
        "```\n{\"name\":\"getTime\",\"arguments\":{}}\n```\n",
    ] {
        check(text, &[text]);
    }
    check(
        "```tool_call\nnot json\n```\n",
        &["!(the call is not a JSON object)"],
    );
}

#[test]
fn several_calls_stand_in_one_turn() {
    check(
        "a<function_call>{\"name\":\"say\",\"arguments\":{\"n\":1}}</function_call>\n<tool_use><name>say</name><arguments></arguments></tool_use>b",
        &["a", "say({\"n\":1})", "say()", "b"],
    );
    check(
        "[TOOL_CALLS][{\"name\":\"say\",\"arguments\":{\"n\":1}},{\"name\":\"getTime\"}]",
        &["say({\"n\":1})", "getTime({})"],
    );
    check("[TOOL_CALLS]say[ARGS]{\"n\":1}", &["say({\"n\":1})"]);
    check(
        "<tool_call>\n{\"name\":\"say\",\"arguments\":\"{}\"}\n</tool_call>",
        &["say(\"{}\")"],
    );
}

#[test]
fn an_end_inside_a_string_is_data() {
    check(
        "<function_call>{\"name\":\"say\",\"arguments\":{\"t\":\"</function_call> \\\" <tool_use>\"}}</function_call>",
        &["say({\"t\":\"</function_call> \\\" <tool_use>\"})"],
    );
    check(
        "<tool_use><name>say</name><arguments>{\"t\":\"</arguments></tool_use>\"}</arguments></tool_use>.",
        &["say({\"t\":\"</arguments></tool_use>\"})", "."],
    );
}

#[test]
fn arguments_may_be_fenced_empty_or_the_whole_call_again() {
    check(
        "<tool_use><name>say</name><arguments>\n```json\n{\"n\":1}\n```\n</arguments></tool_use>",
        &["say({\"n\":1})"],
    );
    check(
        "<function_call>\n```json\n{\"name\":\"say\"}\n```\n</function_call>",
        &["say({})"],
    );
    check("<tool_use><name>say</name></tool_use>", &["say()"]);
    check(
        "<tool_use><name>say</name><arguments>{\"name\":\"say\",\"arguments\":{\"n\":1}}</arguments></tool_use>",
        &["say({\"n\":1})"],
    );
    check(
        "<tool_use>{\"name\":\"say\",\"arguments\":{}}</tool_use>",
        &["say({})"],
    );
}

#[test]
fn a_closed_call_that_is_wrong_becomes_a_rejected_call() {
    check(
        "<function_call>{\"name\":\"nope\"}</function_call>",
        &["!nope(UnknownTool)"],
    );
    check(
        "<tool_use><name>nope</name><arguments>{}</arguments></tool_use>",
        &["!nope(UnknownTool)"],
    );
    check(
        "<function_call>{\"name\": \"say\", \"arguments\": {</function_call>!",
        &["!say(the call is not a JSON object)", "!"],
    );
    check(
        "<function_call>{}</function_call>",
        &["!(the call has no \"name\")"],
    );
    check(
        "<function_call>{\"name\": \"say\", \"arguments\": {\"t\": \"a\" b\"}}</function_call> after",
        &["!say(the quotes in the call do not match)", " after"],
    );
    check(
        "<function_call>{\"name\": \"say\", \"arguments\": {\"t\": \"two\nlines\"}}</function_call>",
        &["!say(the call is not a JSON object)"],
    );
}

#[test]
fn an_unclosed_call_is_text_or_cut() {
    let text = "See <function_call> {\"name\": \"say\"";
    check(text, &[text]);
    check_ended(text, true, false, &["See ", "!say(Cut)"]);
    check_ended("<tool_use><name>say</na", true, false, &["!(Cut)"]);
    check_ended(
        "x <function_call>{\"name\":\"say\"}",
        false,
        true,
        &["x ", "say({})"],
    );
    check(
        "<function_call>{}</function_cal>",
        &["<function_call>{}</function_cal>"],
    );
    check(
        "The tag <function_call> begins a call. <tool_use><name>say</name><arguments>{}</arguments></tool_use>",
        &["The tag <function_call> begins a call. ", "say({})"],
    );
}

#[test]
fn code_and_thoughts_are_left_alone() {
    for text in [
        "```\n<function_call>{\"name\":\"say\"}</function_call>\n```\nx",
        "````md\n```\n<tool_use>\n```\n````\n",
        "  ~~~ xml\n<tool_use><name>say</name><arguments>{}</arguments></tool_use>\n",
        "Write `<function_call>{\"name\":\"say\"}</function_call>` to call.",
        "``a ` <tool_use>`` b",
        "<think>maybe <function_call>{\"name\":\"say\"}</function_call></think>no",
        "<thinking><tool_use></thinking>",
        "a < b << c <tool_user> <function_call",
        "    code\n   \n [x](y) [TOOL",
    ] {
        check(text, &[text]);
    }
    check(
        "`x` <function_call>{\"name\":\"say\"}</function_call>",
        &["`x` ", "say({})"],
    );
    check(
        "it`s\n<function_call>{\"name\":\"say\"}</function_call>",
        &["it`s\n", "say({})"],
    );
    check(
        "<think>x</think><function_call>{\"name\":\"say\"}</function_call>",
        &["<think>x</think>", "say({})"],
    );
}

#[test]
fn a_result_the_model_makes_up_is_dropped() {
    check(
        "<tool_use><name>say</name><arguments>{}</arguments></tool_use>\n<tool_use_result>42</tool_use_result> So 42.",
        &["say({})"],
    );
    let text = "The tag <tool_use_result> holds results.";
    check(text, &[text]);
}

#[test]
fn many_starts_without_an_end_stay_fast() {
    let text = "<function_call>".repeat(20_000);
    assert_eq!(read(&[&text], false, false), [text]);
}

fn words() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        Just("<function_call>"),
        Just("</function_call>"),
        Just("<tool_use>"),
        Just("</tool_use>"),
        Just("<name>say</name>"),
        Just("<arguments>"),
        Just("</arguments>"),
        Just("{\"name\":\"say\"}"),
        Just("{\"n\":\"</tool_use>\"}"),
        Just("```json\n"),
        Just("```\n"),
        Just("```"),
        Just("`"),
        Just("\n"),
        Just("<think>"),
        Just("</think>"),
        Just("<tool_use_result>"),
        Just("[TOOL_CALLS]"),
        Just("["),
        Just("\""),
        Just("é"),
        Just(" "),
        Just("<"),
        Just("text"),
        Just("\\"),
    ];
    proptest::collection::vec(word, 0..24).prop_map(|words| words.concat())
}

proptest! {
    #[test]
    fn where_the_pieces_are_cut_makes_no_difference(text in words(), cut: bool, size in 1usize..9) {
        let whole = read(&[&text], cut, false);
        let chars: Vec<char> = text.chars().collect();
        let pieces: Vec<String> = chars.chunks(size).map(|piece| piece.iter().collect()).collect();
        let pieces: Vec<&str> = pieces.iter().map(String::as_str).collect();
        prop_assert_eq!(read(&pieces, cut, false), whole);
    }

    #[test]
    fn text_without_tags_comes_back_unchanged(text in "[a-z <>`\n~\\[\\]{}\"]{0,60}") {
        let found = read(&[&text], false, false).concat();
        prop_assert_eq!(found, text);
    }
}

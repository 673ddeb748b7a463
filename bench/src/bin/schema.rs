//! Tool schemas for providers: `tool-schema` against `genai`'s public sanitiser, on the same real
//! schemas in one run; and what a hostile schema costs at most.

use std::time::Duration;

use bench::allocations::Counted;
use bench::contest::{Contest, Plan};
use bench::cpu_time::cpu_time;
use bench::table::{Table, number};
use genai::chat::{JsonSchemaDialect, sanitize_json_schema};
use serde_json::{Map, Value, json};
use tool_schema::{Target, compile};

#[global_allocator]
static HEAP: Counted = Counted;

fn main() {
    // One round compiles nine hundred schemas: few rounds are enough.
    let plan = Plan {
        rounds: 11,
        slice: Duration::from_millis(20),
    };
    let corpus = corpus();
    let bytes: usize = corpus.iter().map(|schema| schema.to_string().len()).sum();
    let schemas = corpus.len();
    println!("{schemas} schemas of real servers, {bytes} bytes of compact JSON");
    for (title, target, dialect) in [
        (
            "OpenAI, strict",
            &Target::OPENAI_STRICT,
            JsonSchemaDialect::OpenAiStrictTool,
        ),
        (
            "Anthropic, strict",
            &Target::ANTHROPIC_STRICT,
            JsonSchemaDialect::AnthropicStructured,
        ),
    ] {
        contest(format!("the corpus for {title}"), corpus.len(), bytes)
            .entrant("tool-schema, losses and inverse", || ours(&corpus, target))
            .entrant("genai, schema only", || theirs(&corpus, dialect))
            .run(plan);
    }
    let targets = Target::ALL.len();
    contest(format!("the corpus for all {targets} targets"), corpus.len() * targets, bytes * targets)
        .entrant("tool-schema, losses and inverse", || {
            for target in Target::ALL {
                std::hint::black_box(ours(&corpus, target));
            }
        })
        .run(plan);
    hostile();
}

fn corpus() -> Vec<Value> {
    [
        include_str!("../../../tool-schema/tests/it/inputs/hard.json"),
        include_str!("../../../tool-schema/tests/it/inputs/spread.json"),
    ]
    .iter()
    .flat_map(|text| serde_json::from_str::<Vec<Value>>(text).unwrap())
    .map(|mut row| row["schema"].take())
    .collect()
}

fn ours(corpus: &[Value], target: &Target) -> usize {
    corpus
        .iter()
        .filter(|schema| compile(schema, target).is_ok())
        .count()
}

fn theirs(corpus: &[Value], dialect: JsonSchemaDialect) -> usize {
    corpus
        .iter()
        .map(|schema| sanitize_json_schema(schema, dialect))
        .filter(Value::is_object)
        .count()
}

/// A contest over a number of tools and bytes.
fn contest<'a>(title: String, tools: usize, bytes: usize) -> Contest<'a> {
    Contest::new(title)
        .rate("tools/s", tools as f64)
        .rate("MB/s", bytes as f64 / 1e6)
}

/// Each hostile schema once for every target: the slowest, and what came out.
fn hostile() {
    let columns = ["slowest ms", "for", "most bytes", "quarantined"];
    let mut table = Table::new("hostile schemas, once for each target", &columns);
    for (title, schema) in hostile_schemas() {
        let (mut slowest, mut who, mut most, mut quarantined) = (Duration::ZERO, "", 0, 0);
        for target in Target::ALL {
            let start = cpu_time();
            let compiled = compile(&schema, target);
            let time = cpu_time() - start;
            if time > slowest {
                (slowest, who) = (time, target.name());
            }
            match compiled {
                Ok(compiled) => {
                    most = most.max(compiled.schema.map_or(0, |schema| schema.to_string().len()));
                }
                Err(_) => quarantined += 1,
            }
        }
        let slowest = number(slowest.as_secs_f64() * 1e3);
        table.row(title, [slowest, who.to_owned(), most.to_string(), quarantined.to_string()]);
    }
    table.print();
}

fn hostile_schemas() -> Vec<(&'static str, Value)> {
    let object = |pairs: Vec<(String, Value)>| {
        let properties: Map<String, Value> = pairs.into_iter().collect();
        json!({"type": "object", "properties": properties})
    };
    let wide = object(
        (0..10_000)
            .map(|n| (format!("p{n}"), json!({"type": ["string", "null"]})))
            .collect(),
    );
    let deep = (0..100).fold(json!({"type": "string"}), |inner, _| {
        object(vec![("a".to_owned(), inner)])
    });
    let recursive = json!({"type": "object", "properties": {"tree": {"$ref": "#/$defs/node"}}, "required": ["tree"],
        "$defs": {"node": {"type": "object", "required": ["left"], "properties": {
            "left": {"$ref": "#/$defs/node"}, "right": {"$ref": "#/$defs/node"},
            "more": {"type": "array", "items": {"$ref": "#/$defs/node"}}}}}});
    let fan_out = |key: &str| {
        let mut definitions = Map::new();
        for level in 0..30 {
            let next = json!({"$ref": format!("#/$defs/d{}", level + 1)});
            let body = if key == "properties" {
                object(vec![("a".to_owned(), next.clone()), ("b".to_owned(), next)])
            } else {
                json!({"type": "object", "properties": {format!("p{level}"): {"type": "string"}}, key: [next, next]})
            };
            definitions.insert(format!("d{level}"), body);
        }
        definitions.insert("d30".to_owned(), json!({"type": "object"}));
        json!({"type": "object", "properties": {"x": {"$ref": "#/$defs/d0"}}, "$defs": definitions})
    };
    vec![
        ("10,000 nodes", wide),
        ("100 levels", deep),
        ("self-recursive", recursive),
        ("2^30 by $ref", fan_out("properties")),
        ("2^30 by anyOf", fan_out("anyOf")),
        ("2^30 by allOf", fan_out("allOf")),
    ]
}

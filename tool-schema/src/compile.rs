//! Compilation of one schema for one target.

pub(crate) mod limits;
pub(crate) mod list;
pub(crate) mod quarantine;
pub(crate) mod strictness;
pub(crate) mod tokens;

use serde_json::{Value, json};

use crate::{
    Action, CompileLimits, Loss, NotStrict, Quarantine, Restore, Target,
    compile::strictness::Use,
    graph::{
        Graph,
        plain::is_deeper,
        read::read,
        write::{size, write},
    },
    pass::Work,
    report::Report,
};

/// A schema compiled for a target, with a report of the changes.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Compiled {
    /// The schema to send. `None` if the target omits the schema of a tool without parameters.
    pub schema: Option<Value>,
    /// The root's description, if the target does not accept one in the schema: append it to the tool's description.
    pub description: Option<String>,
    /// The differences from the original, ordered by pointer.
    pub losses: Vec<Loss>,
    /// Converts arguments that match the compiled schema to arguments that match the original.
    pub restore: Restore,
    /// Whether to ask the provider to enforce the schema: the target supports that and nothing is lost. Otherwise see
    /// [`why_not_strict`](Self::why_not_strict).
    pub strict: bool,
    pub(crate) uses: Use,
    pub(crate) not_strict: Vec<NotStrict>,
}

impl Compiled {
    /// Whether the set of possible calls differs from the original's.
    pub fn is_lossy(&self) -> bool {
        self.losses.iter().any(|loss| loss.lossy)
    }

    /// The reasons why the provider is not asked to enforce the schema. Empty if it is, or if the target does not
    /// support it.
    ///
    /// ```
    /// use serde_json::json;
    /// use tool_schema::{Target, compile};
    ///
    /// let schema = json!({"type": "object", "properties": {"q": {"type": "string", "minLength": 1}}});
    /// let compiled = compile(&schema, &Target::OPENAI_STRICT)?;
    /// assert!(!compiled.strict);
    /// assert_eq!(
    ///     compiled.why_not_strict()[0].to_string(),
    ///     "#/properties/q: `minLength` would be described"
    /// );
    /// # Ok::<(), tool_schema::Quarantine>(())
    /// ```
    pub fn why_not_strict(&self) -> &[NotStrict] {
        &self.not_strict
    }
}

/// Compiles a tool's input schema for a target, within default [`CompileLimits`].
///
/// The function is total: for any `schema`, the result is a schema the target accepts, or the reason why there is none.
/// A `schema` that is neither an object nor `true`, such as null, is treated as a tool without parameters.
///
/// # Errors
/// [`Quarantine`] if the schema is too large, or no arguments would match it.
pub fn compile(schema: &Value, target: &Target) -> Result<Compiled, Quarantine> {
    compile_within(schema, target, &CompileLimits::default())
}

/// Like [`compile`], with custom limits.
///
/// # Errors
/// [`Quarantine`] if the schema exceeds `limits`, or no arguments would match it.
pub fn compile_within(
    schema: &Value,
    target: &Target,
    limits: &CompileLimits,
) -> Result<Compiled, Quarantine> {
    let Some((strict_limits, otherwise)) = &target.strict else {
        return attempt(schema, target, limits);
    };
    let reasons = match attempt(schema, target, limits) {
        Ok(compiled) => {
            let lost = compiled.losses.iter();
            let lost = lost.filter(|loss| loss.lossy && !(target.output && is_bearable(loss)));
            let lost = lost.cloned();
            let mut reasons: Vec<NotStrict> = lost.map(NotStrict::Loss).collect();
            reasons.extend(compiled.uses.excess(strict_limits));
            if reasons.is_empty() {
                return Ok(Compiled {
                    strict: true,
                    ..compiled
                });
            }
            reasons
        }
        Err(quarantine) => vec![NotStrict::Quarantined(quarantine)],
    };
    not_strict(schema, otherwise, limits, reasons)
}

/// Whether a reply can be enforced despite a loss: validation of the reply catches what was weakened, and a key that is
/// always present loses nothing.
fn is_bearable(loss: &Loss) -> bool {
    loss.action != Action::Narrowed || loss.keyword == "required"
}

/// Compiles for the non-strict fallback of a strict target.
pub(crate) fn not_strict(
    schema: &Value,
    otherwise: &Target,
    limits: &CompileLimits,
    reasons: Vec<NotStrict>,
) -> Result<Compiled, Quarantine> {
    let mut compiled = compile_within(schema, otherwise, limits)?;
    if !compiled.strict {
        compiled.not_strict.extend(reasons);
    }
    Ok(compiled)
}

fn attempt(
    schema: &Value,
    target: &Target,
    limits: &CompileLimits,
) -> Result<Compiled, Quarantine> {
    let mut report = Report::default();
    let (nothing, anything) = (json!({"type": "object", "properties": {}}), json!({}));
    let schema = match schema {
        Value::Object(_) => schema,
        Value::Bool(true) => &anything,
        other => {
            if other.is_null() {
                report.lossless(0, "schema", Action::Rewritten);
            } else {
                report.lossy(0, "schema", Action::Rewritten);
            }
            &nothing
        }
    };
    measure(schema, limits)?;
    let graph = read(schema, limits, &mut report)?;
    let mut work = Work::new(graph, report, target, limits);
    work.run()?;
    let Work {
        graph,
        report,
        aside,
        ..
    } = work;
    let written = write(&graph, target, limits)?;
    let losses = report.finish(&graph, limits)?;
    let omitted = target.omits_empty_root && has_no_parameters(&graph);
    let words = graph.node(graph.root).description().map(str::to_owned);
    let uses = Use::of(&graph);
    Ok(Compiled {
        description: aside.or(words.filter(|_| omitted)),
        schema: (!omitted).then_some(written),
        losses,
        restore: Restore::new(graph),
        strict: false,
        uses,
        not_strict: Vec::new(),
    })
}

/// Rejects a schema that is too large to process. Plain values nest too: one level of schema is at most four levels of
/// JSON.
fn measure(schema: &Value, limits: &CompileLimits) -> Result<(), Quarantine> {
    if size(schema) > limits.bytes {
        return Err(Quarantine::TooLarge {
            limit: limits.bytes,
        });
    }
    if is_deeper(schema, limits.depth * 4) {
        return Err(Quarantine::TooDeep {
            limit: limits.depth,
        });
    }
    Ok(())
}

fn has_no_parameters(graph: &Graph) -> bool {
    graph.node(graph.root).properties().is_empty()
}

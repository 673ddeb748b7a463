//! The rules, with their explanations.

use super::Severity::{High, Low, Medium};
use super::{ScanRule, Severity};

const POISONING: &str = "MCP03 Tool Poisoning";
const SECRETS: &str = "MCP01 Token Mismanagement & Secret Exposure";
const INJECTION: &str = "MCP06 Prompt Injection via Contextual Payloads";
const SHADOWING: &str = "MCP09 Shadow MCP Servers";

/// Every rule, for lists and explanations.
#[rustfmt::skip]
pub const SCAN_RULES: &[ScanRule] = &[
    rule("hidden-text", High, POISONING, "Characters that people do not see and models read."),
    rule("reversed-text", High, POISONING, "Characters that turn the direction of text, so that people read another text than the model."),
    rule("divided-words", High, POISONING, "Invisible characters inside words, which hide them from filters."),
    rule("terminal-control", High, POISONING, "Control sequences that hide or rewrite text in a terminal."),
    rule("terminal-colour", Low, POISONING, "Colours for a terminal in a result, as many programs print them."),
    rule("control-characters", Medium, POISONING, "Control characters that have no place in a description."),
    rule("look-alike-letters", High, POISONING, "Letters of several scripts in one word, so that it looks like another."),
    rule("look-alike-name", High, SHADOWING, "The name looks like that of another server's tool, and is not the same."),
    rule("override-instructions", High, INJECTION, "Text that wants to replace the instructions the model has."),
    rule("conceal-from-user", High, INJECTION, "Text that asks the model to keep something from the user."),
    rule("role-marker", High, INJECTION, "Text that pretends to come from the system or from the user."),
    rule("emphatic-block", Medium, POISONING, "A marked block that commands the model, as in published attacks."),
    rule("hidden-comment", Medium, POISONING, "A comment that a page would not show, and that a model reads."),
    rule("addresses-model", Medium, INJECTION, "A result that speaks to the model instead of answering."),
    rule("sensitive-file", High, POISONING, "Text that wants files with keys or passwords to be read or passed on."),
    rule("asks-for-conversation", Medium, POISONING, "A parameter or text that wants the conversation or the system prompt."),
    rule("asks-for-secret", High, SECRETS, "Text that wants passwords, keys or the environment from the user or the machine."),
    rule("exfiltration", High, POISONING, "Text that wants data to be sent elsewhere."),
    rule("collector-address", High, POISONING, "An address that only collects what is sent to it."),
    rule("other-servers-tool", High, SHADOWING, "Text that commands what is done with another server's tool."),
    rule("displaces-others", Medium, SHADOWING, "Text that wants this tool in place of all others, or before them."),
    rule("claims-consent", Medium, INJECTION, "Text that says the user has agreed, or that no one need be asked."),
    rule("encoded-instructions", Medium, INJECTION, "Text that wants the model to decode something and to act on it."),
    rule("too-much-text", Medium, POISONING, "A definition or instructions with more text than is scanned: the rest was not looked at."),
    rule("long-result", Low, INJECTION, "A result with more text than is scanned: the rest was not looked at."),
];

const fn rule(
    id: &'static str,
    severity: Severity,
    owasp: &'static str,
    explanation: &'static str,
) -> ScanRule {
    ScanRule {
        id,
        severity,
        owasp,
        explanation,
    }
}

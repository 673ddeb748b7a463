//! The words that each rule looks for.

use super::Applies::{self, Definitions, Everywhere, Parameters, Results};
use super::Phrase;

const fn phrase(gap: usize, groups: &'static [&'static [&'static str]]) -> Phrase {
    Phrase { gap, groups }
}

#[rustfmt::skip]
const NOT: &[&str] = &[
    "not", "never", "dont", "without", "cannot", "mustnt", "shouldnt",
];
const USER: &[&str] = &[
    "user", "users", "human", "person", "customer", "operator", "them",
];
const MODEL: &[&str] = &[
    "assistant",
    "assistants",
    "ai",
    "agent",
    "agents",
    "model",
    "llm",
    "claude",
    "chatgpt",
    "gpt",
    "copilot",
];
const OBEY: &[&str] = &["must", "should", "shall", "needs", "has", "please", "need"];
const READ: &[&str] = &[
    "read", "open", "list", "load", "cat", "fetch", "collect", "gather", "search", "access",
];
const SEND: &[&str] = &[
    "send",
    "sends",
    "post",
    "upload",
    "forward",
    "transmit",
    "append",
    "email",
    "mail",
    "leak",
    "exfiltrate",
    "copy",
    "deliver",
    "report",
    "bcc",
    "submit",
    "relay",
];
const PRIVATE: &[&str] = &[
    "conversation",
    "conversations",
    "credential",
    "credentials",
    "password",
    "passwords",
    "secrets",
    "keys",
    "key",
    "token",
    "tokens",
    "history",
    "chats",
    "inbox",
    "env",
    "environment",
    "cookies",
    "wallet",
];

/// The phrases of each rule.
#[rustfmt::skip]
pub(super) const PHRASES: &[(&str, Applies, &[Phrase])] = &[
    ("override-instructions", Everywhere, &[
        phrase(3, &[&["ignore", "disregard", "forget", "override", "overrides", "overriding", "bypass",
            "discard", "supersede", "supersedes"], &["previous", "prior", "earlier", "above", "preceding",
            "existing", "original", "system", "safety", "former", "its", "your"], &["instruction", "instructions",
            "rules", "rule", "prompt", "prompts", "guidelines", "directives", "task", "constraints", "safety",
            "policies", "policy", "commands"]]),
        phrase(3, &[&["new", "these", "following"], &["rules", "instructions", "directives", "guidelines"],
            &["override", "overrides", "replace", "replaces", "supersede", "supersedes", "precedence"]]),
        phrase(4, &[MODEL, &["obey", "obeys", "obeying"], &["only"]]),
        phrase(3, &[&["reveal", "print", "output", "repeat", "answer", "leak", "disclose", "show", "return"],
            &["your", "the", "its"], &["system", "hidden", "initial"], &["prompt", "instructions"]]),
    ]),
    ("conceal-from-user", Everywhere, &[
        phrase(2, &[NOT, &["mention", "mentioning", "tell", "telling", "reveal", "inform", "informing",
            "notify", "notifying", "disclose", "alert", "alerting"], USER]),
        phrase(4, &[NOT, &["mention", "reveal", "disclose", "tell"], &["these", "this", "that", "it"], USER]),
        phrase(5, &[&["hide", "conceal", "hidden", "keep", "secret"], &["from"], &["user", "users", "human"]]),
        phrase(2, &[&["silently", "secretly", "quietly", "covertly"], &["call", "calls", "send", "sends",
            "read", "reads", "invoke", "run", "copy", "uploads", "include", "add", "forward", "upload", "execute",
            "append"]]),
        phrase(3, &[NOT, &["user", "users"], &["noticing", "knowing", "knowledge", "seeing", "awareness"]]),
    ]),
    ("addresses-model", Results, &[
        phrase(3, &[&["to", "note", "attention", "dear", "hey", "message", "instruction", "instructions"],
            MODEL, &["reading", "processing", "assistant", "who", "model", "agent", "agents", "must", "you"]]),
        phrase(1, &[MODEL, OBEY, &["read", "call", "send", "open", "run", "execute", "now", "first", "also",
            "include", "use", "invoke", "fetch"]]),
        phrase(2, &[&["you", "assistant"], &["must", "should"], &["now"], &["call", "read", "send", "run",
            "execute", "use", "invoke"]]),
    ]),
    ("asks-for-conversation", Definitions, &[
        phrase(2, &[&["complete", "full", "entire", "whole", "all"], &["conversation", "dialogue",
            "transcript"], &["history", "far", "verbatim", "word", "context", "with", "including"]]),
        phrase(2, &[&["your", "its", "own"], &["system"], &["prompt", "message", "instructions"]]),
        phrase(3, &[&["include", "pass", "copy", "provide", "paste", "attach", "send"], &["conversation",
            "chat", "dialogue"], &["history", "transcript", "log", "far"]]),
        phrase(3, &[&["include", "pass", "copy", "provide", "send", "attach"], &["system"], &["prompt"]]),
        phrase(3, &[SEND, &["last", "previous", "every", "each", "recent", "users"], &["message", "messages",
            "prompt", "prompts"]]),
    ]),
    ("asks-for-conversation", Parameters, &[
        phrase(3, &[&["conversation", "chat"], &["history", "so"], &["verbatim", "far", "complete", "full",
            "messages"]]),
        phrase(2, &[&["previous", "last", "all"], &["user"], &["messages", "prompts"]]),
    ]),
    ("asks-for-secret", Definitions, &[
        phrase(1, &[&["seed", "recovery", "mnemonic"], &["phrase", "words"], &["of", "from", "for", "in", "to",
            "users"]]),
        phrase(4, &[&["users", "user"], &["password", "passwords", "passphrase", "pin"], &["ask", "their",
            "account", "login"]]),
        phrase(4, &[&["ask", "prompt", "request"], USER, &["password", "passwords", "passphrase", "pin",
            "credentials", "secret"]]),
        phrase(3, &[&["users", "user", "your", "their", "owners"], &["private", "ssh", "secret"], &["key",
            "keys"]]),
        phrase(3, &[&["api", "access", "secret"], &["keys", "tokens"], &["found", "available", "known",
            "stored"]]),
    ]),
    ("asks-for-secret", Parameters, &[
        phrase(3, &[&["all", "every", "complete", "full"], &["environment", "env"], &["variables", "vars"]]),
    ]),
    ("exfiltration", Everywhere, &[
        phrase(6, &[SEND, PRIVATE, &["to", "with", "along", "as"], &["http", "https", "url", "server",
            "endpoint", "attacker", "address", "webhook", "example", "public"]]),
        phrase(5, &[READ, &["all", "every", "private", "each", "users", "internal"], &["repositories", "repos",
            "files", "messages", "emails", "keys", "documents", "issues", "chats"], &["send", "put", "post",
            "include", "pass", "upload", "append", "share"]]),
        phrase(5, &[READ, &["every", "all"], &["file", "files"], &["home", "root", "desktop", "documents"]]),
        phrase(4, &[&["include", "attach", "append", "add"], &["whole", "entire", "complete", "full", "all"],
            &["list", "history", "inbox", "content", "contents", "log"], &["chats", "messages", "contacts",
            "emails", "conversations", "files"]]),
        phrase(4, &[&["a", "one"], &["copy"], &["every", "each", "all"], &["message", "messages", "email",
            "emails", "file", "files", "request", "requests"]]),
        phrase(2, &[&["bcc"], &["to", "address", "every"], &["all", "every", "each", "the"]]),
    ]),
    ("displaces-others", Definitions, &[
        phrase(2, &[&["before", "precede", "precedes"], &["any", "every", "all", "each"], &["other", "another"],
            &["tool", "tools", "call", "action", "server"]]),
        phrase(4, &[&["never", "not", "dont", "avoid", "stop"], &["use", "using", "call", "calling"], &["other",
            "another", "any"], &["server", "servers", "tools"]]),
        phrase(3, &[&["start", "beginning", "end"], &["each", "every"], &["conversation", "chat", "session",
            "answer", "reply", "message", "turn"]]),
        phrase(3, &[&["after", "before", "for", "on", "with"], &["each", "every"], &["answer", "reply",
            "message", "response"], &["call", "silently", "invoke", "send", "run"]]),
        phrase(3, &[&["instead"], &["of"], &["other", "any", "all"], &["tool", "tools", "servers"]]),
        phrase(4, &[&["other"], &["tools", "servers"], &["deprecated", "unsafe", "broken", "insecure",
            "disabled", "outdated", "malicious"]]),
    ]),
    ("claims-consent", Everywhere, &[
        phrase(2, &[&["user", "users", "owner", "administrator"], &["already"],
            &["approved", "consented", "authorized", "authorised", "agreed", "granted", "confirmed", "allowed"]]),
        phrase(2, &[&["user", "users", "owner", "administrator"], &["has", "have"],
            &["approved", "consented", "authorized", "authorised", "agreed", "granted", "confirmed", "allowed"],
            &["every", "all", "any", "full", "everything"]]),
        phrase(2, &[&["never", "not", "dont", "without", "no"], &["ask", "asking", "request", "requesting",
            "wait", "prompt"], &["for"], &["confirmation", "permission", "approval", "consent", "confirmations"]]),
        phrase(2, &[&["skip", "skips", "bypass", "bypasses", "suppress", "disable"], &["every", "all", "any",
            "the", "user"], &["confirmation", "confirmations", "approval", "approvals", "consent"]]),
    ]),
    ("encoded-instructions", Everywhere, &[
        phrase(4, &[&["decode", "decipher", "decrypt", "unscramble"], &["base64", "hex", "rot13", "cipher",
            "it", "this", "string", "text"], &["follow", "execute", "obey", "run", "instructions", "carry", "act",
            "do"]]),
    ]),
];

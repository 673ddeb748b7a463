//! The differences between servers compatible with Chat Completions, as data.

use tool_schema::Target;

use crate::adapter::Environment;
use crate::adapter::wire_id::IdRule;

/// A server's dialect of Chat Completions.
///
/// Start from the closest one and change the differences:
///
/// ```
/// use provider_adapters::Dialect;
///
/// let mut mine = Dialect::VLLM;
/// mine.name = "my-gateway";
/// mine.base_url = "https://llm.example.com/v1";
/// mine.images = false;
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Dialect {
    /// The dialect's name. A server's own items are sent back only to the same name.
    pub name: &'static str,
    /// The server's usual address; `/chat/completions` follows.
    pub base_url: &'static str,
    /// The header that carries the key, if it is not a bearer token in `authorization`.
    pub key_header: Option<&'static str>,
    /// The environment variables that hold the key and the base URL.
    pub environment: Environment<'static>,
    /// The role of instructions.
    pub system_role: &'static str,
    /// The name of the output limit.
    pub max_tokens: &'static str,
    /// Whether usage must be requested for a stream.
    pub asks_usage: bool,
    /// Whether `parallel_tool_calls` is supported.
    pub parallel_switch: bool,
    /// The value that forces a tool call, if there is one.
    pub required_choice: Option<&'static str>,
    /// Whether a single tool can be forced.
    pub named_choice: bool,
    /// Whether `strict` is allowed in a tool's definition.
    pub strict: bool,
    /// How a reply in a JSON schema is requested.
    pub output: OutputFormat,
    /// Whether `prompt_cache_key` is supported.
    pub cache_key: bool,
    /// Whether `reasoning_effort` is supported.
    pub effort: bool,
    /// The call ids that are accepted.
    pub ids: IdRule,
    /// Whether content may be a list of parts; if not, it is always a string.
    pub parts: bool,
    /// Whether images are accepted.
    pub images: bool,
    /// Whether audio is accepted.
    pub audio: bool,
    /// Whether files are accepted.
    pub files: bool,
    /// Where reasoning arrives.
    pub thoughts: Thoughts,
    /// Whether the model's reasoning, and the server's other additions to a turn, are sent back.
    pub echo: bool,
    /// Whether a user's turn is allowed after a tool's result.
    pub user_after_tool: bool,
    /// The tool schemas that are accepted.
    pub target: Target,
}

/// How a reply in a JSON schema is requested from a server.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum OutputFormat {
    /// `response_format` of type `json_schema`, with `strict`.
    Strict,
    /// `response_format` of type `json_schema`, without `strict`.
    Schema,
    /// `response_format` of type `json_object`; the schema is in the instructions.
    Object,
    /// Instructions only.
    Instruction,
}

impl OutputFormat {
    /// Whether the instructions have to describe the schema.
    pub(crate) fn is_instructed(self) -> bool {
        matches!(self, Self::Object | Self::Instruction)
    }
}

/// A key in one of these variables.
const fn keys(keys: &'static [&'static str]) -> Environment<'static> {
    Environment {
        keys,
        google: false,
        aws_region: None,
        base_url: None,
    }
}

/// Where a server puts the model's reasoning.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Thoughts {
    /// In separate fields, if anywhere.
    Fields,
    /// In separate fields, or in `<think>` at the start of the text.
    Tags,
}

impl Dialect {
    /// OpenAI itself.
    pub const OPENAI: Self = Self {
        name: "openai",
        base_url: "https://api.openai.com/v1",
        key_header: None,
        environment: Environment {
            keys: &["OPENAI_API_KEY"],
            google: false,
            aws_region: None,
            base_url: Some("OPENAI_BASE_URL"),
        },
        system_role: "developer",
        max_tokens: "max_completion_tokens",
        asks_usage: true,
        parallel_switch: true,
        required_choice: Some("required"),
        named_choice: true,
        strict: true,
        output: OutputFormat::Strict,
        cache_key: true,
        effort: true,
        ids: IdRule::upto(40),
        parts: true,
        images: true,
        audio: true,
        files: true,
        thoughts: Thoughts::Fields,
        echo: false,
        user_after_tool: true,
        target: Target::OPENAI,
    };

    /// What most compatible servers understand; the base of the other dialects.
    const COMPATIBLE: Self = Self {
        name: "compatible",
        environment: Environment {
            keys: &[],
            google: false,
            aws_region: None,
            base_url: None,
        },
        base_url: "http://localhost:8000/v1",
        system_role: "system",
        max_tokens: "max_tokens",
        strict: false,
        output: OutputFormat::Schema,
        cache_key: false,
        effort: false,
        audio: false,
        files: false,
        thoughts: Thoughts::Tags,
        ..Self::OPENAI
    };

    /// Azure OpenAI.
    pub const AZURE: Self = Self {
        name: "azure",
        environment: keys(&["AZURE_OPENAI_API_KEY"]),
        base_url: "https://YOUR-RESOURCE.openai.azure.com/openai/v1",
        key_header: Some("api-key"),
        ..Self::OPENAI
    };

    /// DeepSeek: text only, requires its reasoning back.
    pub const DEEPSEEK: Self = Self {
        name: "deepseek",
        environment: keys(&["DEEPSEEK_API_KEY"]),
        output: OutputFormat::Object,
        target: Target::DEEPSEEK,
        base_url: "https://api.deepseek.com",
        parallel_switch: false,
        images: false,
        echo: true,
        thoughts: Thoughts::Fields,
        ..Self::COMPATIBLE
    };

    /// Gemini's compatible server: signatures are attached to the calls.
    pub const GEMINI: Self = Self {
        name: "gemini",
        environment: keys(&["GEMINI_API_KEY", "GOOGLE_API_KEY"]),
        base_url: "https://generativelanguage.googleapis.com/v1beta/openai",
        parallel_switch: false,
        effort: true,
        audio: true,
        echo: true,
        thoughts: Thoughts::Fields,
        ..Self::COMPATIBLE
    };

    /// Groq.
    pub const GROQ: Self = Self {
        name: "groq",
        environment: keys(&["GROQ_API_KEY"]),
        target: Target::GROQ,
        base_url: "https://api.groq.com/openai/v1",
        max_tokens: "max_completion_tokens",
        effort: true,
        ..Self::COMPATIBLE
    };

    /// llama.cpp's server.
    pub const LLAMA_CPP: Self = Self {
        name: "llama.cpp",
        base_url: "http://localhost:8080/v1",
        audio: true,
        ..Self::COMPATIBLE
    };

    /// LM Studio: cannot force a single tool.
    pub const LM_STUDIO: Self = Self {
        name: "lm-studio",
        base_url: "http://localhost:1234/v1",
        named_choice: false,
        parallel_switch: false,
        ..Self::COMPATIBLE
    };

    /// Mistral: its own value for a forced call, short ids, no unknown fields.
    pub const MISTRAL: Self = Self {
        name: "mistral",
        environment: keys(&["MISTRAL_API_KEY"]),
        output: OutputFormat::Strict,
        target: Target::MISTRAL,
        base_url: "https://api.mistral.ai/v1",
        asks_usage: false,
        required_choice: Some("any"),
        ids: IdRule::exactly(9),
        thoughts: Thoughts::Fields,
        user_after_tool: false,
        ..Self::COMPATIBLE
    };

    /// Ollama: cannot force a call.
    pub const OLLAMA: Self = Self {
        name: "ollama",
        target: Target::OLLAMA,
        base_url: "http://localhost:11434/v1",
        parallel_switch: false,
        required_choice: None,
        named_choice: false,
        effort: true,
        ..Self::COMPATIBLE
    };

    /// OpenRouter: requires the details of the reasoning back.
    pub const OPENROUTER: Self = Self {
        name: "openrouter",
        environment: keys(&["OPENROUTER_API_KEY"]),
        output: OutputFormat::Strict,
        base_url: "https://openrouter.ai/api/v1",
        strict: true,
        effort: true,
        audio: true,
        files: true,
        echo: true,
        thoughts: Thoughts::Fields,
        ..Self::COMPATIBLE
    };

    /// Qwen at DashScope: can force a single tool, but not any tool.
    pub const QWEN: Self = Self {
        name: "qwen",
        environment: keys(&["DASHSCOPE_API_KEY"]),
        output: OutputFormat::Object,
        base_url: "https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
        required_choice: None,
        thoughts: Thoughts::Fields,
        ..Self::COMPATIBLE
    };

    /// Together.
    pub const TOGETHER: Self = Self {
        name: "together",
        environment: keys(&["TOGETHER_API_KEY"]),
        base_url: "https://api.together.xyz/v1",
        parallel_switch: false,
        ..Self::COMPATIBLE
    };

    /// vLLM.
    pub const VLLM: Self = Self {
        name: "vllm",
        audio: true,
        ..Self::COMPATIBLE
    };

    /// xAI.
    pub const XAI: Self = Self {
        name: "xai",
        environment: keys(&["XAI_API_KEY"]),
        output: OutputFormat::Strict,
        target: Target::XAI,
        base_url: "https://api.x.ai/v1",
        max_tokens: "max_completion_tokens",
        effort: true,
        thoughts: Thoughts::Fields,
        ..Self::COMPATIBLE
    };

    /// Every dialect.
    pub const ALL: [Self; 14] = [
        Self::OPENAI,
        Self::AZURE,
        Self::DEEPSEEK,
        Self::GEMINI,
        Self::GROQ,
        Self::LLAMA_CPP,
        Self::LM_STUDIO,
        Self::MISTRAL,
        Self::OLLAMA,
        Self::OPENROUTER,
        Self::QWEN,
        Self::TOGETHER,
        Self::VLLM,
        Self::XAI,
    ];

    /// The dialect with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|dialect| dialect.name == name)
    }
}

//! Providers, as data.

use provider_adapters::{Dialect, Wire};

/// Who runs models, and how they are reached.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Provider {
    /// Its name, as in `openai/gpt-5`.
    pub name: &'static str,
    /// The wire it speaks.
    pub speaks: Speaks,
    /// Environment variables that may hold its key, the first found wins.
    pub keys: &'static [&'static str],
    /// The environment variable that may hold another address.
    pub base_url: Option<&'static str>,
    /// The model to use where none is named.
    pub model: Option<&'static str>,
    /// Prefixes of its models' names, if distinctive.
    pub prefixes: &'static [&'static str],
    /// Whether it runs on this machine and wants no key.
    pub local: bool,
}

/// Which wire a provider speaks.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Speaks {
    /// OpenAI Responses, or Chat Completions at another address than OpenAI's own.
    OpenAi,
    /// Chat Completions in this dialect.
    Chat(&'static Dialect),
    /// Anthropic Messages.
    Anthropic,
    /// Gemini's `generateContent`.
    Gemini,
    /// Any wire: the demo model.
    Demo,
}

const NONE: Provider = Provider {
    name: "",
    speaks: Speaks::Demo,
    keys: &[],
    base_url: None,
    model: None,
    prefixes: &[],
    local: false,
};

pub(super) const OPENAI: Provider = Provider {
    name: "openai",
    speaks: Speaks::OpenAi,
    keys: &["OPENAI_API_KEY"],
    base_url: Some("OPENAI_BASE_URL"),
    model: Some("gpt-5-mini"),
    prefixes: &["gpt-", "o1", "o3", "o4", "chatgpt-"],
    ..NONE
};

pub(super) const OLLAMA: Provider = Provider {
    name: "ollama",
    speaks: Speaks::Chat(&Dialect::OLLAMA),
    local: true,
    ..NONE
};

pub(super) const DEMO: Provider = Provider {
    name: "demo",
    model: Some("demo"),
    local: true,
    ..NONE
};

/// Every provider. Where keys of several are found, the first here is used.
static ALL: [Provider; 16] = [
    Provider {
        name: "anthropic",
        speaks: Speaks::Anthropic,
        keys: &["ANTHROPIC_API_KEY"],
        base_url: Some("ANTHROPIC_BASE_URL"),
        model: Some("claude-sonnet-5"),
        prefixes: &["claude-"],
        ..NONE
    },
    OPENAI,
    Provider {
        name: "gemini",
        speaks: Speaks::Gemini,
        keys: &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
        base_url: Some("GOOGLE_GEMINI_BASE_URL"),
        model: Some("gemini-3.8-flash"),
        prefixes: &["gemini-", "gemma-"],
        ..NONE
    },
    Provider {
        name: "openrouter",
        speaks: Speaks::Chat(&Dialect::OPENROUTER),
        keys: &["OPENROUTER_API_KEY"],
        model: Some("openrouter/auto"),
        ..NONE
    },
    Provider {
        name: "mistral",
        speaks: Speaks::Chat(&Dialect::MISTRAL),
        keys: &["MISTRAL_API_KEY"],
        model: Some("mistral-medium-latest"),
        prefixes: &[
            "mistral-",
            "magistral-",
            "codestral-",
            "devstral-",
            "ministral-",
        ],
        ..NONE
    },
    Provider {
        name: "deepseek",
        speaks: Speaks::Chat(&Dialect::DEEPSEEK),
        keys: &["DEEPSEEK_API_KEY"],
        model: Some("deepseek-chat"),
        prefixes: &["deepseek-"],
        ..NONE
    },
    Provider {
        name: "xai",
        speaks: Speaks::Chat(&Dialect::XAI),
        keys: &["XAI_API_KEY"],
        model: Some("grok-4"),
        prefixes: &["grok-"],
        ..NONE
    },
    Provider {
        name: "groq",
        speaks: Speaks::Chat(&Dialect::GROQ),
        keys: &["GROQ_API_KEY"],
        model: Some("openai/gpt-oss-120b"),
        ..NONE
    },
    Provider {
        name: "together",
        speaks: Speaks::Chat(&Dialect::TOGETHER),
        keys: &["TOGETHER_API_KEY"],
        ..NONE
    },
    Provider {
        name: "qwen",
        speaks: Speaks::Chat(&Dialect::QWEN),
        keys: &["DASHSCOPE_API_KEY"],
        model: Some("qwen-plus"),
        ..NONE
    },
    Provider {
        name: "azure",
        speaks: Speaks::Chat(&Dialect::AZURE),
        keys: &["AZURE_OPENAI_API_KEY"],
        base_url: Some("AZURE_OPENAI_BASE_URL"),
        ..NONE
    },
    OLLAMA,
    Provider {
        name: "lm-studio",
        speaks: Speaks::Chat(&Dialect::LM_STUDIO),
        local: true,
        ..NONE
    },
    Provider {
        name: "llama.cpp",
        speaks: Speaks::Chat(&Dialect::LLAMA_CPP),
        model: Some("default"),
        local: true,
        ..NONE
    },
    Provider {
        name: "vllm",
        speaks: Speaks::Chat(&Dialect::VLLM),
        local: true,
        ..NONE
    },
    DEMO,
];

impl Provider {
    /// Every provider.
    pub fn all() -> &'static [Self] {
        &ALL
    }

    /// The provider of this name.
    pub fn named(name: &str) -> Option<&'static Self> {
        ALL.iter().find(|provider| provider.name == name)
    }

    /// The provider that has models of such a name.
    pub fn of_model(model: &str) -> Option<&'static Self> {
        let begins = |provider: &&Self| {
            let mut prefixes = provider.prefixes.iter();
            prefixes.any(|prefix| model.starts_with(prefix))
        };
        ALL.iter().find(begins)
    }

    /// Whether it is the demo model, which is not an AI.
    pub fn is_demo(&self) -> bool {
        matches!(self.speaks, Speaks::Demo)
    }

    /// The wire it is spoken to on, at its own address or another one.
    pub fn wire(&self, elsewhere: bool) -> Wire {
        match self.speaks {
            Speaks::OpenAi if !elsewhere => Wire::OpenAiResponses,
            Speaks::OpenAi | Speaks::Chat(_) | Speaks::Demo => Wire::OpenAiChat,
            Speaks::Anthropic => Wire::Anthropic,
            Speaks::Gemini => Wire::Gemini,
        }
    }
}

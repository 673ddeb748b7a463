//! Each dialect's keys for the settings of an entry.

use crate::dialect::{Dialect, Unit};

/// A dialect's keys; `None` for unsupported settings.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Keys {
    /// The program.
    pub(crate) program: &'static str,
    /// The key that holds the servers.
    pub(crate) container: &'static str,
    /// Whether that is a list whose entries contain their `name`.
    pub(crate) is_list: bool,
    /// Further members that a file requires.
    pub(crate) preamble: &'static [(&'static str, &'static str)],
    pub(crate) command: &'static str,
    /// Whether `args` is required.
    pub(crate) needs_args: bool,
    /// The key of a URL.
    pub(crate) url: &'static str,
    pub(crate) env: &'static str,
    /// The values of `type` for a program and for Streamable HTTP; HTTP+SSE is `sse` everywhere.
    pub(crate) stdio_type: Option<&'static str>,
    pub(crate) http_type: Option<&'static str>,
    /// Whether a URL requires a `type`.
    pub(crate) needs_type: bool,
    /// Whether it supports HTTP+SSE.
    pub(crate) has_sse: bool,
    /// Variables that are passed on by name.
    pub(crate) inherited: Option<&'static str>,
    pub(crate) env_policy: Option<&'static str>,
    pub(crate) env_file: Option<&'static str>,
    pub(crate) cwd: Option<&'static str>,
    /// The key that disables a server, and its value then.
    pub(crate) off: Option<(&'static str, bool)>,
    pub(crate) required: Option<&'static str>,
    pub(crate) lazy: Option<&'static str>,
    pub(crate) parallel: Option<&'static str>,
    pub(crate) always_load: Option<&'static str>,
    pub(crate) connect_time: Option<(&'static str, Unit)>,
    pub(crate) call_idle_timeout: Option<(&'static str, Unit)>,
    /// Whether its times are whole numbers.
    pub(crate) whole_times: bool,
    pub(crate) tool_times: Option<&'static str>,
    pub(crate) only: Option<&'static str>,
    pub(crate) disabled: Option<&'static str>,
    pub(crate) auto_approve: Option<&'static str>,
    /// The key of a sandbox's profile.
    pub(crate) sandbox: Option<&'static str>,
    /// The only further keys its program accepts, where an unknown key makes it reject the whole file.
    pub(crate) others: Option<&'static [&'static str]>,
}

/// The keys that every dialect has.
const FEW: Keys = Keys {
    program: "",
    container: "mcpServers",
    is_list: false,
    preamble: &[],
    command: "command",
    needs_args: false,
    url: "url",
    env: "env",
    stdio_type: None,
    http_type: Some("http"),
    needs_type: false,
    has_sse: true,
    inherited: None,
    env_policy: None,
    env_file: None,
    cwd: None,
    off: None,
    required: None,
    lazy: None,
    parallel: None,
    always_load: None,
    connect_time: None,
    call_idle_timeout: None,
    whole_times: false,
    tool_times: None,
    only: None,
    disabled: None,
    auto_approve: None,
    sandbox: None,
    others: None,
};

const PLAIN: Keys = Keys {
    program: "Switchboard",
    inherited: Some("inheritEnv"),
    env_policy: Some("envPolicy"),
    env_file: Some("envFile"),
    cwd: Some("cwd"),
    off: Some(("disabled", true)),
    required: Some("required"),
    lazy: Some("lazy"),
    parallel: Some("parallel"),
    always_load: Some("alwaysLoad"),
    connect_time: Some(("connectTimeoutMs", Unit::Milliseconds)),
    // The unit of `timeout` would be a guess.
    call_idle_timeout: Some(("tool_timeout_sec", Unit::Seconds)),
    tool_times: Some("toolTimeoutsMs"),
    only: Some("enabledTools"),
    disabled: Some("disabledTools"),
    auto_approve: Some("autoApprove"),
    sandbox: Some("sandboxProfile"),
    ..FEW
};

const CLAUDE_DESKTOP: Keys = Keys {
    program: "Claude Desktop",
    ..FEW
};

const CLAUDE_CODE: Keys = Keys {
    program: "Claude Code",
    stdio_type: Some("stdio"),
    needs_type: true,
    always_load: Some("alwaysLoad"),
    call_idle_timeout: Some(("timeout", Unit::Milliseconds)),
    ..FEW
};

const VS_CODE: Keys = Keys {
    program: "VS Code",
    container: "servers",
    stdio_type: Some("stdio"),
    needs_type: true,
    env_file: Some("envFile"),
    cwd: Some("cwd"),
    ..FEW
};

const CURSOR: Keys = Keys {
    program: "Cursor",
    env_file: Some("envFile"),
    ..FEW
};

const CLINE: Keys = Keys {
    program: "Cline",
    http_type: Some("streamableHttp"),
    needs_type: true,
    cwd: Some("cwd"),
    off: Some(("disabled", true)),
    call_idle_timeout: Some(("timeout", Unit::Seconds)),
    auto_approve: Some("autoApprove"),
    ..FEW
};

const GEMINI: Keys = Keys {
    program: "Gemini CLI",
    cwd: Some("cwd"),
    call_idle_timeout: Some(("timeout", Unit::Milliseconds)),
    only: Some("includeTools"),
    disabled: Some("excludeTools"),
    others: Some(&[
        "trust",
        "description",
        "tcp",
        "extension",
        "oauth",
        "authProviderType",
        "targetAudience",
        "targetServiceAccount",
    ]),
    ..FEW
};

const OPENCODE: Keys = Keys {
    program: "opencode",
    container: "mcp",
    stdio_type: Some("local"),
    env: "environment",
    cwd: Some("cwd"),
    off: Some(("enabled", false)),
    call_idle_timeout: Some(("timeout", Unit::Milliseconds)),
    ..FEW
};

const WINDSURF: Keys = Keys {
    program: "Windsurf",
    url: "serverUrl",
    off: Some(("disabled", true)),
    disabled: Some("disabledTools"),
    ..FEW
};

const ZED: Keys = Keys {
    program: "Zed",
    container: "context_servers",
    needs_args: true,
    whole_times: true,
    call_idle_timeout: Some(("timeout", Unit::Seconds)),
    off: Some(("enabled", false)),
    ..FEW
};

#[cfg(feature = "toml")]
const CODEX: Keys = Keys {
    program: "Codex",
    container: "mcp_servers",
    http_type: None,
    has_sse: false,
    inherited: Some("env_vars"),
    cwd: Some("cwd"),
    off: Some(("enabled", false)),
    required: Some("required"),
    parallel: Some("supports_parallel_tool_calls"),
    connect_time: Some(("startup_timeout_sec", Unit::Seconds)),
    call_idle_timeout: Some(("tool_timeout_sec", Unit::Seconds)),
    only: Some("enabled_tools"),
    disabled: Some("disabled_tools"),
    ..FEW
};

const LM_STUDIO: Keys = Keys {
    program: "LM Studio",
    ..FEW
};

const ROO: Keys = Keys {
    program: "Roo Code",
    http_type: Some("streamable-http"),
    needs_type: true,
    cwd: Some("cwd"),
    off: Some(("disabled", true)),
    call_idle_timeout: Some(("timeout", Unit::Seconds)),
    disabled: Some("disabledTools"),
    auto_approve: Some("alwaysAllow"),
    ..FEW
};

const AMAZON_Q: Keys = Keys {
    program: "Amazon Q",
    has_sse: false,
    needs_type: true,
    off: Some(("disabled", true)),
    call_idle_timeout: Some(("timeout", Unit::Milliseconds)),
    whole_times: true,
    ..FEW
};

const COPILOT_CLI: Keys = Keys {
    program: "Copilot CLI",
    stdio_type: Some("local"),
    needs_type: true,
    cwd: Some("cwd"),
    call_idle_timeout: Some(("timeout", Unit::Milliseconds)),
    whole_times: true,
    only: Some("tools"),
    ..FEW
};

#[cfg(feature = "yaml")]
const GOOSE: Keys = Keys {
    program: "goose",
    container: "extensions",
    command: "cmd",
    needs_args: true,
    url: "uri",
    env: "envs",
    stdio_type: Some("stdio"),
    http_type: Some("streamable_http"),
    needs_type: true,
    has_sse: false,
    inherited: Some("env_keys"),
    off: Some(("enabled", false)),
    call_idle_timeout: Some(("timeout", Unit::Seconds)),
    whole_times: true,
    only: Some("available_tools"),
    ..FEW
};

#[cfg(feature = "yaml")]
const CONTINUE: Keys = Keys {
    program: "Continue",
    is_list: true,
    preamble: &[
        ("name", "MCP servers"),
        ("version", "1.0.0"),
        ("schema", "v1"),
    ],
    http_type: Some("streamable-http"),
    needs_type: true,
    cwd: Some("cwd"),
    connect_time: Some(("connectionTimeout", Unit::Milliseconds)),
    ..FEW
};

#[cfg(feature = "yaml")]
const LIBRE_CHAT: Keys = Keys {
    program: "LibreChat",
    preamble: &[("version", "1.3.17")],
    needs_args: true,
    http_type: Some("streamable-http"),
    needs_type: true,
    cwd: Some("cwd"),
    connect_time: Some(("initTimeout", Unit::Milliseconds)),
    call_idle_timeout: Some(("timeout", Unit::Milliseconds)),
    whole_times: true,
    ..FEW
};

const REGISTRY: Keys = Keys {
    program: "server.json",
    ..FEW
};

const BUNDLE: Keys = Keys {
    program: "MCPB",
    has_sse: false,
    ..FEW
};

impl Dialect {
    pub(crate) const fn keys(self) -> &'static Keys {
        match self {
            Self::Plain => &PLAIN,
            Self::ClaudeDesktop => &CLAUDE_DESKTOP,
            Self::ClaudeCode => &CLAUDE_CODE,
            Self::VsCode => &VS_CODE,
            Self::Cursor => &CURSOR,
            Self::Cline => &CLINE,
            Self::Gemini => &GEMINI,
            Self::OpenCode => &OPENCODE,
            Self::Windsurf => &WINDSURF,
            Self::Zed => &ZED,
            Self::LmStudio => &LM_STUDIO,
            Self::Roo => &ROO,
            Self::AmazonQ => &AMAZON_Q,
            Self::CopilotCli => &COPILOT_CLI,
            #[cfg(feature = "yaml")]
            Self::Goose => &GOOSE,
            #[cfg(feature = "yaml")]
            Self::Continue => &CONTINUE,
            #[cfg(feature = "yaml")]
            Self::LibreChat => &LIBRE_CHAT,
            #[cfg(feature = "toml")]
            Self::Codex => &CODEX,
            Self::Registry => &REGISTRY,
            Self::Bundle => &BUNDLE,
        }
    }
}

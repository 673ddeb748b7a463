//! Each dialect's keys for what an entry says.

use crate::dialect::{Dialect, Unit};

/// A dialect's keys; `None` where it has none.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Keys {
    /// Whose they are.
    pub(crate) program: &'static str,
    /// The key that holds the servers.
    pub(crate) container: &'static str,
    /// The key of an address.
    pub(crate) url: &'static str,
    pub(crate) env: &'static str,
    /// Variables that are passed on by name.
    pub(crate) inherited: Option<&'static str>,
    pub(crate) env_policy: Option<&'static str>,
    pub(crate) env_file: Option<&'static str>,
    pub(crate) cwd: Option<&'static str>,
    /// The key that switches a server off, and its value then.
    pub(crate) off: Option<(&'static str, bool)>,
    pub(crate) required: Option<&'static str>,
    pub(crate) lazy: Option<&'static str>,
    pub(crate) parallel: Option<&'static str>,
    pub(crate) always_load: Option<&'static str>,
    pub(crate) connect_time: Option<(&'static str, Unit)>,
    pub(crate) call_idle_timeout: Option<(&'static str, Unit)>,
    pub(crate) tool_times: Option<&'static str>,
    pub(crate) only: Option<&'static str>,
    pub(crate) disabled: Option<&'static str>,
    pub(crate) auto_approve: Option<&'static str>,
    /// The only further keys its program accepts, where an unknown key makes it reject the whole file.
    pub(crate) others: Option<&'static [&'static str]>,
}

/// The least that everybody has.
const FEW: Keys = Keys {
    program: "",
    container: "mcpServers",
    url: "url",
    env: "env",
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
    tool_times: None,
    only: None,
    disabled: None,
    auto_approve: None,
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
    // What `timeout` counts would be guessed.
    call_idle_timeout: Some(("tool_timeout_sec", Unit::Seconds)),
    tool_times: Some("toolTimeoutsMs"),
    only: Some("enabledTools"),
    disabled: Some("disabledTools"),
    auto_approve: Some("autoApprove"),
    ..FEW
};

const CLAUDE_DESKTOP: Keys = Keys {
    program: "Claude Desktop",
    ..FEW
};

const CLAUDE_CODE: Keys = Keys {
    program: "Claude Code",
    always_load: Some("alwaysLoad"),
    call_idle_timeout: Some(("timeout", Unit::Milliseconds)),
    ..FEW
};

const VS_CODE: Keys = Keys {
    program: "VS Code",
    container: "servers",
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
    off: Some(("enabled", false)),
    ..FEW
};

#[cfg(feature = "toml")]
const CODEX: Keys = Keys {
    program: "Codex",
    container: "mcp_servers",
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
            #[cfg(feature = "toml")]
            Self::Codex => &CODEX,
        }
    }
}

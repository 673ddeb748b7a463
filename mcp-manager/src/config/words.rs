//! Each dialect's words for what an entry says.

use super::dialect::{Dialect, Unit};

/// A dialect's words; `None` where it has none.
#[derive(Clone, Copy, Debug)]
pub(super) struct Words {
    /// Whose they are.
    pub(super) program: &'static str,
    /// What the servers are under.
    pub(super) container: &'static str,
    pub(super) env: &'static str,
    /// Variables that are passed on by name.
    pub(super) inherited: Option<&'static str>,
    pub(super) env_policy: Option<&'static str>,
    pub(super) env_file: Option<&'static str>,
    pub(super) cwd: Option<&'static str>,
    /// The word that switches a server off, and its value then.
    pub(super) off: Option<(&'static str, bool)>,
    pub(super) required: Option<&'static str>,
    pub(super) lazy: Option<&'static str>,
    pub(super) parallel: Option<&'static str>,
    pub(super) always_load: Option<&'static str>,
    pub(super) connect_time: Option<(&'static str, Unit)>,
    pub(super) call_idle_timeout: Option<(&'static str, Unit)>,
    pub(super) tool_times: Option<&'static str>,
    pub(super) only: Option<&'static str>,
    pub(super) disabled: Option<&'static str>,
    pub(super) auto_approve: Option<&'static str>,
    /// The only words beside these that its owner takes, if others spoil the whole file.
    pub(super) others: Option<&'static [&'static str]>,
}

/// The least that everybody has.
const FEW: Words = Words {
    program: "",
    container: "mcpServers",
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

const PLAIN: Words = Words {
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

const CLAUDE_DESKTOP: Words = Words {
    program: "Claude Desktop",
    ..FEW
};

const CLAUDE_CODE: Words = Words {
    program: "Claude Code",
    always_load: Some("alwaysLoad"),
    call_idle_timeout: Some(("timeout", Unit::Milliseconds)),
    ..FEW
};

const VS_CODE: Words = Words {
    program: "VS Code",
    container: "servers",
    env_file: Some("envFile"),
    cwd: Some("cwd"),
    ..FEW
};

const CURSOR: Words = Words {
    program: "Cursor",
    env_file: Some("envFile"),
    ..FEW
};

const CLINE: Words = Words {
    program: "Cline",
    cwd: Some("cwd"),
    off: Some(("disabled", true)),
    call_idle_timeout: Some(("timeout", Unit::Seconds)),
    auto_approve: Some("autoApprove"),
    ..FEW
};

const GEMINI: Words = Words {
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

const OPENCODE: Words = Words {
    program: "opencode",
    container: "mcp",
    env: "environment",
    cwd: Some("cwd"),
    off: Some(("enabled", false)),
    call_idle_timeout: Some(("timeout", Unit::Milliseconds)),
    ..FEW
};

#[cfg(feature = "toml")]
const CODEX: Words = Words {
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
    pub(super) const fn words(self) -> &'static Words {
        match self {
            Self::Plain => &PLAIN,
            Self::ClaudeDesktop => &CLAUDE_DESKTOP,
            Self::ClaudeCode => &CLAUDE_CODE,
            Self::VsCode => &VS_CODE,
            Self::Cursor => &CURSOR,
            Self::Cline => &CLINE,
            Self::Gemini => &GEMINI,
            Self::OpenCode => &OPENCODE,
            #[cfg(feature = "toml")]
            Self::Codex => &CODEX,
        }
    }
}

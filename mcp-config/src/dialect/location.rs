//! The locations of the programs' files.

use crate::dialect::Dialect;

/// A location of a program's servers.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Location {
    /// The folder the path is relative to.
    pub base: Base,
    /// The path, with `/` between its parts.
    pub path: &'static str,
}

/// The base of a [`Location`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Base {
    /// The user's home folder.
    Home,
    /// The platform's folder for the configuration of programs: `~/.config`, or the value of `XDG_CONFIG_HOME`,
    /// `~/Library/Application Support`, `%APPDATA%`.
    Config,
    /// A project's folder: the file's author may be a stranger.
    Project,
}

const fn home(path: &'static str) -> Location {
    let base = Base::Home;
    Location { base, path }
}

const fn config(path: &'static str) -> Location {
    let base = Base::Config;
    Location { base, path }
}

const fn project(path: &'static str) -> Location {
    let base = Base::Project;
    Location { base, path }
}

const ROO: &str = "Code/User/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json";
const ROO_INSIDERS: &str =
    "Code - Insiders/User/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json";
const CLINE: &str =
    "Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json";
const CLINE_INSIDERS: &str =
    "Code - Insiders/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json";

impl Dialect {
    /// The locations of the program's servers on this platform: the user's own files first, in the program's order of
    /// preference, then those of a project.
    ///
    /// ```
    /// use mcp_config::{Base, Dialect};
    ///
    /// let [cursor, of_project] = Dialect::Cursor.locations() else { unreachable!() };
    /// assert_eq!((cursor.base, cursor.path), (Base::Home, ".cursor/mcp.json"));
    /// assert_eq!(of_project.base, Base::Project);
    /// ```
    pub const fn locations(self) -> &'static [Location] {
        match self {
            // A bundle or a package may be anywhere.
            Self::Plain | Self::Registry | Self::Bundle => const { &[] },
            Self::ClaudeDesktop => const { &[config("Claude/claude_desktop_config.json")] },
            Self::ClaudeCode => const { &[home(".claude.json"), project(".mcp.json")] },
            Self::VsCode => {
                const {
                    &[
                        config("Code/User/mcp.json"),
                        config("Code/User/settings.json"),
                        config("Code - Insiders/User/mcp.json"),
                        config("Code - Insiders/User/settings.json"),
                        project(".vscode/mcp.json"),
                    ]
                }
            }
            Self::Cursor => const { &[home(".cursor/mcp.json"), project(".cursor/mcp.json")] },
            Self::Cline => const { &[config(CLINE), config(CLINE_INSIDERS)] },
            Self::Gemini => {
                const {
                    &[
                        home(".gemini/settings.json"),
                        project(".gemini/settings.json"),
                    ]
                }
            }
            // Its folder is there on every system.
            Self::OpenCode => {
                const {
                    &[
                        home(".config/opencode/opencode.json"),
                        home(".config/opencode/opencode.jsonc"),
                        project("opencode.json"),
                        project("opencode.jsonc"),
                    ]
                }
            }
            Self::Windsurf => const { &[home(".codeium/windsurf/mcp_config.json")] },
            Self::Zed => match cfg!(windows) {
                true => const { &[config("Zed/settings.json"), project(".zed/settings.json")] },
                false => {
                    const {
                        &[
                            home(".config/zed/settings.json"),
                            project(".zed/settings.json"),
                        ]
                    }
                }
            },
            Self::LmStudio => {
                const {
                    &[
                        home(".lmstudio/mcp.json"),
                        home(".cache/lm-studio/mcp.json"),
                    ]
                }
            }
            Self::Roo => const { &[config(ROO), config(ROO_INSIDERS), project(".roo/mcp.json")] },
            Self::AmazonQ => {
                const { &[home(".aws/amazonq/mcp.json"), project(".amazonq/mcp.json")] }
            }
            Self::CopilotCli => {
                const {
                    &[
                        home(".copilot/mcp-config.json"),
                        project(".github/mcp.json"),
                    ]
                }
            }
            #[cfg(feature = "yaml")]
            Self::Goose => match cfg!(windows) {
                true => const { &[config("Block/goose/config/config.yaml")] },
                false => const { &[home(".config/goose/config.yaml")] },
            },
            #[cfg(feature = "yaml")]
            Self::Continue => const { &[home(".continue/config.yaml")] },
            #[cfg(feature = "yaml")]
            Self::LibreChat => const { &[project("librechat.yaml")] },
            #[cfg(feature = "toml")]
            Self::Codex => const { &[home(".codex/config.toml"), project(".codex/config.toml")] },
        }
    }
}

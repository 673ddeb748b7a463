//! Servers: stored rows, configuration entries, and connections.
//!
//! A stored server keeps its entry as written: variables (`${NAME}`) are resolved when it is
//! connected, and secrets are references.

mod ad_hoc;
mod built_in;
mod connection;
mod connector;
pub(crate) mod doctor;
mod entry;
mod export;
mod host;
pub(crate) mod import;
pub(crate) mod install;
mod log;
mod login;
mod lookup;
mod naming;
mod oauth_flags;
pub(crate) mod roots;
pub(crate) mod sandbox;
pub(crate) mod scan;
mod secret;
mod seen;
mod select;
mod shared;
mod shown;
mod skills;
pub(crate) mod suggest;
mod tokens;
mod tool_policy;
mod update;

pub(crate) use ad_hoc::{AdHoc, Kind, is_url, shown_url, split_header};
pub(crate) use built_in::{built_in, is_built_in, make_own};
pub(crate) use connection::{ConnectedServer, Connection, interruptible, one_off};
pub(crate) use connector::{NetworkOf, Reaching, connector};
pub(crate) use entry::{CLAIMED, answer, answers, from_config, to_config, to_entry};
pub(crate) use export::{Exported, Program, export};
pub(crate) use host::{Host, PRIVATE_NETWORK, advice as host_advice};
pub(crate) use log::{ServerLog, log_text};
pub(crate) use login::{LOGIN_TIMEOUT, ShowLogin, log_in, log_out, on_this_machine};
pub(crate) use lookup::reach;
pub(crate) use naming::{check_name, next_place};
pub(crate) use secret::{
    PlainSecrets, Unstorable, forget_unused, has_open_secret, keep_all, keep_answer, stored_value,
};
pub(crate) use seen::{auto_approved, seen, transport};
pub(crate) use select::{demo, find, of_file, pending};
pub(crate) use shared::follow as follow_shared;
pub(crate) use shown::{review, shown_endpoint, shown_endpoint_of};
pub(crate) use skills::{load_skill, skill_file, skills};
pub(crate) use tool_policy::{Approval, Switch, ToolPolicy, decide, identity, switch};
pub(crate) use update::{Updated, update};

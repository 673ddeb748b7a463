//! Model selection from flags, settings and the environment.
//!
//! `choose` decides and does no IO; `build` makes the model.

mod accepted;
mod audience;
mod build;
mod capability;
mod choice;
mod endpoint;
mod key;
mod migrate;
mod ollama;
mod overview;
mod prices;
mod provider;

pub(crate) use audience::Audience;
pub(crate) use build::list_models;
pub use build::{Cassette, Retries, build};
pub use capability::Capabilities;
pub(crate) use choice::is_spoken;
pub use choice::{Choice, ChoiceError, Found, Origin, Wanted, choose};
pub use endpoint::{AddressError, Endpoint};
pub(crate) use endpoint::{is_of_environment, origin};
pub use key::{KeyError, find_key, keep_key};
pub(crate) use key::{forget_key, forget_model_key, keep_model_key, key_prefix, keyring_works};
pub(crate) use migrate::migrate;
pub(crate) use ollama::context as ollama_context;
pub use ollama::ollama_models;
pub(crate) use overview::{described, overview};
pub use prices::{Price, PriceTable};
pub use provider::{Provider, Speaks};

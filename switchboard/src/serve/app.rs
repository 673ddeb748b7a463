//! What all requests share.

use std::sync::Arc;

use tokio::sync::watch;

use crate::demo::DemoModel;
use crate::serve::access::Access;
use crate::serve::events::Feeds;
use crate::serve::fleet::Fleet;
use crate::serve::questions::Questions;
use crate::serve::rate::Rates;
use crate::serve::runs::Runs;
use crate::store::{Store, UserId};

/// What all requests share: a cheap clone.
#[derive(Clone, Debug)]
pub(crate) struct App {
    pub(crate) store: Arc<dyn Store>,
    /// The users' servers.
    pub(crate) fleet: Fleet,
    /// Conversations under way.
    pub(crate) runs: Runs,
    /// What servers ask.
    pub(crate) questions: Questions,
    pub(crate) access: Arc<Access>,
    pub(crate) rates: Arc<Rates>,
    /// The users' live events.
    pub(crate) feeds: Feeds,
    pub(crate) port: u16,
    /// True once the program ends.
    pub(crate) closing: watch::Receiver<bool>,
}

impl App {
    pub(crate) fn new(
        store: Arc<dyn Store>,
        access: Access,
        demo: DemoModel,
        port: u16,
        closing: watch::Receiver<bool>,
        trusted: Arc<[UserId]>,
    ) -> Self {
        let questions = Questions::default();
        let fleet = Fleet::new(Arc::clone(&store), questions.clone(), trusted);
        let demo = Arc::new(demo);
        let runs = Runs::new(Arc::clone(&store), fleet.clone(), demo, closing.clone());
        questions.ask_in(runs.downgrade());
        Self {
            store,
            fleet,
            runs,
            questions,
            access: Arc::new(access),
            rates: Arc::default(),
            feeds: Feeds::default(),
            port,
            closing,
        }
    }
}

/// Waits until the program ends. Cancel safe.
pub(crate) async fn closed(closing: &mut watch::Receiver<bool>) {
    // Either it is told, or nobody can tell any more.
    let _ = closing.wait_for(|closing| *closing).await;
}

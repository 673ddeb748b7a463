//! What all requests share.

use std::sync::Arc;

use tokio::sync::watch;

use crate::demo::DemoModel;
use crate::serve::access::Access;
use crate::serve::events::Feeds;
use crate::serve::operate::Metrics;
use crate::serve::questions::Questions;
use crate::serve::rate::Rates;
use crate::serve::runs::Runs;
use crate::serve::server_pool::ServerPool;
use crate::store::{Store, UserId};

/// What all requests share: a cheap clone.
#[derive(Clone, Debug)]
pub(crate) struct App {
    pub(crate) store: Arc<dyn Store>,
    /// The users' servers.
    pub(crate) server_pool: ServerPool,
    /// Conversations under way.
    pub(crate) runs: Runs,
    pub(crate) metrics: Metrics,
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
        let server_pool = ServerPool::new(Arc::clone(&store), questions.clone(), trusted);
        let (demo, metrics) = (Arc::new(demo), Metrics::default());
        let runs = Runs::new(
            Arc::clone(&store),
            server_pool.clone(),
            demo,
            closing.clone(),
            metrics.clone(),
        );
        questions.ask_in(runs.downgrade());
        runs.answer_by(questions);
        Self {
            store,
            server_pool,
            runs,
            metrics,
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
    // An error means that the sender is gone, which is the same.
    let _ = closing.wait_for(|closing| *closing).await;
}

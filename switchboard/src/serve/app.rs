//! What all requests share.

use std::sync::Arc;

use tokio::sync::watch;

use crate::demo::DemoModel;
use crate::serve::access::Access;
use crate::serve::callbacks::Callbacks;
use crate::serve::events::Feeds;
use crate::serve::limits::UserLimits;
use crate::serve::logins::Logins;
use crate::serve::operate::Metrics;
use crate::serve::people::People;
use crate::serve::questions::Questions;
use crate::serve::rate::Rates;
use crate::serve::reach::Reach;
use crate::serve::runs::Runs;
use crate::serve::server_pool::ServerPool;
use crate::store::Store;

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
    /// Who is served.
    pub(crate) people: People,
    /// How users come in.
    pub(crate) logins: Arc<Logins>,
    /// Logins to servers that wait for their browser.
    pub(crate) callbacks: Callbacks,
    pub(crate) rates: Arc<Rates>,
    /// What each user may use.
    pub(crate) limits: UserLimits,
    /// The users' live events.
    pub(crate) feeds: Feeds,
    /// The names by which it may be asked for, each with the origin of its page.
    pub(crate) names: Arc<[(String, String)]>,
    /// What tells the store from others on this machine.
    pub(crate) database: Arc<str>,
    /// Who can reach it.
    pub(crate) reach: Arc<Reach>,
    /// True once the program ends.
    pub(crate) closing: watch::Receiver<bool>,
}

impl App {
    pub(crate) fn new(
        store: Arc<dyn Store>,
        access: Access,
        demo: DemoModel,
        (reach, names, database): (Arc<Reach>, Vec<(String, String)>, String),
        closing: watch::Receiver<bool>,
        (people, logins, limits): (People, Logins, UserLimits),
    ) -> Self {
        let questions = Questions::default();
        let server_pool = ServerPool::new(Arc::clone(&store), questions.clone(), people.clone());
        let (demo, metrics) = (Arc::new(demo), Metrics::default());
        let runs = Runs::new(
            Arc::clone(&store),
            server_pool.clone(),
            demo,
            closing.clone(),
            metrics.clone(),
        );
        let callbacks = Callbacks::new(Arc::clone(&store), &logins.url);
        questions.ask_in(runs.downgrade());
        runs.answer_by(questions);
        Self {
            store,
            server_pool,
            runs,
            metrics,
            access: Arc::new(access),
            people,
            callbacks,
            logins: Arc::new(logins),
            rates: Arc::new(Rates::new(limits.requests_per_second)),
            limits,
            feeds: Feeds::default(),
            names: names.into(),
            database: database.into(),
            reach,
            closing,
        }
    }
}

/// Waits until the program ends. Cancel safe.
pub(crate) async fn closed(closing: &mut watch::Receiver<bool>) {
    // An error means that the sender is gone, which is the same.
    let _ = closing.wait_for(|closing| *closing).await;
}

//! What all requests share.

use std::sync::Arc;

use tokio::sync::watch;

use crate::demo::DemoModel;
use crate::serve::access::Access;
use crate::serve::fleet::Fleet;
use crate::serve::questions::Questions;
use crate::serve::rate::Rates;
use crate::store::Store;

/// What all requests share: a cheap clone.
#[derive(Clone, Debug)]
pub(crate) struct App {
    pub(crate) store: Arc<dyn Store>,
    /// The users' servers.
    pub(crate) fleet: Fleet,
    /// What servers ask.
    pub(crate) questions: Questions,
    pub(crate) access: Arc<Access>,
    pub(crate) rates: Arc<Rates>,
    pub(crate) demo: Arc<DemoModel>,
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
    ) -> Self {
        let questions = Questions::new(Arc::clone(&store));
        let fleet = Fleet::new(Arc::clone(&store), questions.clone());
        Self {
            store,
            fleet,
            questions,
            access: Arc::new(access),
            rates: Arc::default(),
            demo: Arc::new(demo),
            port,
            closing,
        }
    }
}

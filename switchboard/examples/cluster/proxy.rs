//! A way to the database that can be cut: what is sent is swallowed, and no connection is closed.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

#[derive(Clone)]
pub(crate) struct Proxy {
    pub(crate) address: SocketAddr,
    cut: Arc<AtomicBool>,
}

impl Proxy {
    pub(crate) async fn start(database: String) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let proxy = Self {
            address: listener.local_addr().unwrap(),
            cut: Arc::default(),
        };
        let cut = Arc::clone(&proxy.cut);
        tokio::spawn(async move {
            loop {
                let Ok((near, _)) = listener.accept().await else {
                    continue;
                };
                let (cut, database) = (Arc::clone(&cut), database.clone());
                tokio::spawn(async move {
                    let Ok(far) = TcpStream::connect(database).await else {
                        return;
                    };
                    let (near_in, near_out) = near.into_split();
                    let (far_in, far_out) = far.into_split();
                    tokio::select! {
                        () = carry(near_in, far_out, &cut) => {}
                        () = carry(far_in, near_out, &cut) => {}
                    }
                });
            }
        });
        proxy
    }

    pub(crate) fn cut(&self, cut: bool) {
        self.cut.store(cut, Ordering::SeqCst);
    }
}

async fn carry(
    mut from: tokio::net::tcp::OwnedReadHalf,
    mut to: tokio::net::tcp::OwnedWriteHalf,
    cut: &AtomicBool,
) {
    let mut piece = vec![0; 1 << 16];
    let mut lost = false;
    while let Ok(read) = from.read(&mut piece).await {
        // A stream that has lost bytes cannot be healed: it stays silent.
        lost |= cut.load(Ordering::SeqCst);
        if read == 0 {
            return;
        }
        if !lost && to.write_all(&piece[..read]).await.is_err() {
            return;
        }
    }
}

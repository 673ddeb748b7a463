//! Between a program and its PostgreSQL server: passes on what the program says, and changes what the
//! server answers.

use std::sync::Arc;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// What becomes of an answer.
pub(super) enum Passed {
    On,
    /// The connection is closed after it.
    Last,
}

/// An answer that is an error with this code.
pub(super) fn error(code: &str, message: &str) -> (u8, Vec<u8>) {
    let body = format!("SFATAL\0VFATAL\0C{code}\0M{message}\0\0");
    (b'E', body.into_bytes())
}

/// Passes on each answer as `change` leaves it. Returns the port.
pub(super) async fn meddle(
    server: &str,
    change: impl Fn(&mut u8, &mut Vec<u8>) -> Passed + Send + Sync + 'static,
) -> u16 {
    let server: tokio_postgres::Config = server.parse().unwrap();
    let port = server.get_ports()[0];
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let own = listener.local_addr().unwrap().port();
    let change = Arc::new(change);
    tokio::spawn(async move {
        while let Ok((client, _)) = listener.accept().await {
            let server = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
            let change = Arc::clone(&change);
            tokio::spawn(async move {
                // Either end ends both.
                let _ = pass(client, server, &*change).await;
            });
        }
    });
    own
}

async fn pass(
    client: TcpStream,
    server: TcpStream,
    change: &(impl Fn(&mut u8, &mut Vec<u8>) -> Passed + Sync),
) -> std::io::Result<()> {
    let (mut from_client, mut to_client) = client.into_split();
    let (mut from_server, mut to_server) = server.into_split();
    let asked = tokio::io::copy(&mut from_client, &mut to_server);
    let answered = async {
        loop {
            let mut kind = from_server.read_u8().await?;
            let length = from_server.read_u32().await?;
            let mut body = vec![0; length as usize - 4];
            from_server.read_exact(&mut body).await?;
            let passed = change(&mut kind, &mut body);
            to_client.write_u8(kind).await?;
            to_client.write_u32(body.len() as u32 + 4).await?;
            to_client.write_all(&body).await?;
            if let Passed::Last = passed {
                return Ok(());
            }
        }
    };
    tokio::select! {
        _ = asked => Ok(()),
        answered = answered => answered,
    }
}

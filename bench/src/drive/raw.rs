//! No client at all: the same bytes through the same kind of pipe or HTTP library, unread. What is
//! left of this is the price of a client.

use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::Stdio;
use std::time::{Duration, Instant};

use socket2::SockRef;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::{Place, Work, keep_going, report};
use crate::latency::Latencies;
use crate::usage::process_cpu_time;

/// Sends and receives.
pub async fn drive(place: Place, work: Work, in_flight: usize, time: Duration) -> String {
    match place {
        // A task, as the callers of the other entrants are.
        Place::Program(words) => tokio::spawn(pipe(words, request(work), in_flight, time)).await.unwrap(),
        Place::Url(url) => {
            let _ = rustls::crypto::ring::default_provider().install_default();
            let client = reqwest::Client::builder().no_proxy().build().unwrap();
            keep_going(in_flight, time, (client, url, request(work)), post).await
        }
    }
}

fn request(work: Work) -> String {
    let params = match work {
        Work::Echo => r#"tools/call","params":{"name":"echo","arguments":{"text":"hello"}}"#,
        Work::Big => r#"tools/call","params":{"name":"big","arguments":{}}"#,
        Work::List => r#"tools/list","params":{}"#,
    };
    format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{params}}}"#)
}

async fn post((client, url, body): &'static (reqwest::Client, String, String)) {
    let request = client.post(url).header("content-type", "application/json").body(body.as_str());
    request.send().await.unwrap().bytes().await.unwrap();
}

/// Keeps `in_flight` lines on the pipe. A reply is a line; whose does not matter here.
async fn pipe(words: Vec<String>, line: String, in_flight: usize, time: Duration) -> String {
    let (ours, theirs) = UnixStream::pair().unwrap();
    let _ = SockRef::from(&theirs).set_send_buffer_size(1 << 20);
    ours.set_nonblocking(true).unwrap();
    let mut output = tokio::net::UnixStream::from_std(ours).unwrap();
    let mut child = tokio::process::Command::new(&words[0])
        .args(&words[1..])
        .stdin(Stdio::piped())
        .stdout(OwnedFd::from(theirs))
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let line = format!("{line}\n");
    let mut buffer = vec![0; 256 << 10];
    let (mut start, mut cpu, mut latencies) = (Instant::now(), process_cpu_time(), Latencies::default());
    let (begin, mut warm) = (start, false);
    input.write_all(line.repeat(in_flight).as_bytes()).await.unwrap();
    let mut now = Instant::now();
    while start.elapsed() < time {
        let read = output.read(&mut buffer).await.unwrap();
        let replies = memchr::memchr_iter(b'\n', &buffer[..read]).count();
        input.write_all(line.repeat(replies).as_bytes()).await.unwrap();
        if replies > 0 {
            let then = std::mem::replace(&mut now, Instant::now());
            latencies.add(now - then, replies as u32);
        }
        if !warm && begin.elapsed() > time / 4 {
            (start, cpu, warm) = (Instant::now(), process_cpu_time(), true);
            latencies = Latencies::default();
        }
    }
    report(&latencies, start.elapsed(), process_cpu_time() - cpu, Duration::ZERO)
}

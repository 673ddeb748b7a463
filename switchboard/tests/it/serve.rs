//! `switchboard serve`, over real sockets.

mod answer;
mod consent;
mod crash;
#[cfg(all(feature = "postgres", unix))]
mod deploy;
mod ends;
mod events;
mod guard;
mod house;
mod law;
mod limits;
mod live;
mod networks;
mod openid;
#[cfg(unix)]
mod operate;
mod ownership;
mod question;
#[cfg(all(feature = "postgres", unix))]
mod replicas;
mod roots;
mod server_login;
mod storage;
mod team;
mod tls;
mod two;
mod whole;

pub(crate) use house::House;

//! `switchboard serve`, over real sockets.

mod answer;
mod consent;
mod crash;
mod deploy;
mod ends;
mod events;
mod guard;
mod house;
mod law;
mod live;
mod networks;
mod openid;
#[cfg(unix)]
mod operate;
mod question;
mod roots;
mod storage;
mod team;
mod tls;
mod two;
mod whole;

pub(crate) use house::House;

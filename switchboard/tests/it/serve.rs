//! `switchboard serve`, over real sockets.

mod answer;
mod consent;
mod crash;
mod events;
mod guard;
mod house;
mod law;
mod openid;
mod question;
mod storage;
mod team;
mod tls;
mod two;
mod whole;

pub(crate) use house::House;

//! `switchboard serve`, over real sockets.

mod answer;
mod consent;
mod crash;
mod events;
mod guard;
mod house;
mod law;
mod question;
mod storage;
mod tls;
mod two;
mod whole;

pub(crate) use house::House;

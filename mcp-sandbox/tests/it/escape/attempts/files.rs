//! Files that are not the server's.

use std::fs;
use std::io::{self, Read};
use std::os::fd::FromRawFd;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt, symlink};
use std::path::PathBuf;

use super::super::c;
use super::{got, world};

fn key() -> PathBuf {
    world().join("home/.ssh/id_rsa")
}

fn own(name: &str) -> PathBuf {
    world().join("own").join(name)
}

fn precious() -> PathBuf {
    world().join("world/precious")
}

pub(super) fn read_key() -> io::Result<String> {
    fs::read_to_string(key())
}

pub(super) fn list_keys() -> io::Result<String> {
    fs::read_dir(world().join("home/.ssh")).map(|all| format!("{} files", all.count()))
}

pub(super) fn read_by_symlink() -> io::Result<String> {
    symlink(key(), own("link"))?;
    fs::read_to_string(own("link"))
}

pub(super) fn read_by_hard_link() -> io::Result<String> {
    fs::hard_link(key(), own("hard"))?;
    fs::read_to_string(own("hard"))
}

/// A name that leads now to an allowed file and now to the key, opened over and over.
pub(super) fn read_by_race() -> io::Result<String> {
    fs::write(own("allowed"), "allowed")?;
    let (name, other) = (own("name"), own("other"));
    std::thread::spawn(move || {
        for round in 0_u32.. {
            let target = if round.is_multiple_of(2) {
                key()
            } else {
                own("allowed")
            };
            let _ = fs::remove_file(&other);
            let _ = symlink(target, &other).and_then(|()| fs::rename(&other, &name));
        }
    });
    let mut error = None;
    for _ in 0..5000 {
        // The other thread has to run, too, however busy the machine is.
        std::thread::yield_now();
        match fs::read_to_string(own("name")) {
            Ok(text) if text.contains("secret") => return Ok(text),
            Err(denied) if denied.kind() == io::ErrorKind::PermissionDenied => error = Some(denied),
            _ => {}
        }
    }
    Err(error.unwrap_or_else(|| io::Error::other("the race was never lost or won")))
}

pub(super) fn read_by_proc_root() -> io::Result<String> {
    let key = key();
    let below = key.strip_prefix("/").unwrap();
    fs::read_to_string(PathBuf::from("/proc/self/root").join(below))
}

pub(super) fn move_key() -> io::Result<String> {
    fs::rename(key(), own("moved"))?;
    fs::read_to_string(own("moved"))
}

pub(super) fn read_system() -> io::Result<String> {
    fs::read_to_string("/etc/shells").or_else(|_| fs::read_to_string("/etc/profile"))
}

pub(super) fn write_outside() -> io::Result<String> {
    fs::write(world().join("world/new"), "new").map(|()| "written".to_owned())
}

pub(super) fn cut() -> io::Result<String> {
    // SAFETY: a C string and a number.
    got(unsafe { libc::truncate(c(&precious()).as_ptr(), 0) }, "cut")
}

pub(super) fn delete() -> io::Result<String> {
    fs::remove_file(precious()).map(|()| "deleted".to_owned())
}

pub(super) fn run_program() -> io::Result<String> {
    let status = std::process::Command::new(world().join("world/program")).status()?;
    Ok(status.to_string())
}

pub(super) fn change_permissions() -> io::Result<String> {
    fs::set_permissions(key(), fs::Permissions::from_mode(0o666)).map(|()| "open".to_owned())
}

pub(super) fn change_times() -> io::Result<String> {
    let path = c(&key());
    // SAFETY: a C string; null means the present.
    let done = unsafe { libc::utimensat(libc::AT_FDCWD, path.as_ptr(), std::ptr::null(), 0) };
    got(done, "touched")
}

pub(super) fn change_attributes() -> io::Result<String> {
    let path = c(&key());
    // SAFETY: C strings, and one byte with its length.
    let done = unsafe {
        libc::setxattr(
            path.as_ptr(),
            c"user.x".as_ptr(),
            c"x".as_ptr().cast(),
            1,
            0,
        )
    };
    got(done, "set")
}

pub(super) fn write_large() -> io::Result<String> {
    fs::create_dir_all(world().join("own"))?;
    let file = fs::File::create(own("large"))?;
    file.set_len(2 << 30)?;
    Ok("2 GiB".to_owned())
}

pub(super) fn read_inherited() -> io::Result<String> {
    for number in 3..256 {
        // SAFETY: a number that may be open; nothing else in this process uses what it names.
        let mut file = std::mem::ManuallyDrop::new(unsafe { fs::File::from_raw_fd(number) });
        let mut text = [0; 14];
        let is_file = file.metadata().is_ok_and(|it| it.is_file());
        if is_file && file.read_exact(&mut text).is_ok() && text == *b"the secret key" {
            return Ok(format!("descriptor {number}"));
        }
    }
    Err(io::Error::other("none is open"))
}

pub(super) fn open_terminal() -> io::Result<String> {
    let mut options = fs::OpenOptions::new();
    options.read(true).write(true).custom_flags(libc::O_NOCTTY);
    options.open("/dev/ptmx").map(|_| "a terminal".to_owned())
}

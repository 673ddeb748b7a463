//! `switchboard man`: manual pages.

use std::path::{Path, PathBuf};

use clap::{Args, Command};
use clap_mangen::Man as Page;
use serde_json::json;

use crate::cli::failure::unwritable;
use crate::display::out::Out;
use crate::exit::{Exit, Failure};

/// Prints the manual page, or writes the pages of all verbs.
#[derive(Args, Debug)]
pub(crate) struct Man {
    /// Write every page into this folder
    #[arg(long, short, value_name = "FOLDER")]
    output: Option<PathBuf>,
}

impl Man {
    pub(crate) fn run(self, mut command: Command, out: &Out) -> Result<Exit, Failure> {
        command.build();
        let Some(folder) = &self.output else {
            let page = rendered(command)?;
            out.result(&json!({ "page": page }), page.trim_end());
            return Ok(Exit::Done);
        };
        std::fs::create_dir_all(folder).map_err(|error| unwritable(folder, error))?;
        let mut written = Vec::new();
        write_all(command, "", folder, &mut written)?;
        let text = crate::lang::t!(
            "{pages} in {folder}",
            pages = crate::lang::count(written.len(), "1 page", "{n} pages"),
            folder = folder.display()
        );
        out.result(&json!({ "written": written }), text);
        Ok(Exit::Done)
    }
}

/// The pages of a command and of all below it: `switchboard-servers-add.1`.
fn write_all(
    command: Command,
    above: &str,
    folder: &Path,
    written: &mut Vec<String>,
) -> Result<(), Failure> {
    let name = match above {
        "" => command.get_name().to_owned(),
        above => format!("{above}-{}", command.get_name()),
    };
    let inner: Vec<Command> = command.get_subcommands().cloned().collect();
    let file = folder.join(format!("{name}.1"));
    let page = rendered(command.name(&name).display_name(&name))?;
    std::fs::write(&file, page).map_err(|error| unwritable(&file, error))?;
    written.push(file.display().to_string());
    for command in inner {
        if command.get_name() != "help" {
            write_all(command, &name, folder, written)?;
        }
    }
    Ok(())
}

fn rendered(command: Command) -> Result<String, Failure> {
    let mut page = Vec::new();
    let made = Page::new(command).render(&mut page);
    made.map_err(|error| Failure::new(Exit::Other, "the page cannot be made").caused_by(error))?;
    Ok(String::from_utf8_lossy(&page).into_owned())
}

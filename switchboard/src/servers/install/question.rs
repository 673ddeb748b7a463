//! What an installation asks for, and whether an answer fits.

use std::path::{Path, PathBuf};

use mcp_config::{Input, InputKind};

use crate::servers::stored_value;
use crate::store::StoredValue;

/// The most values of one input.
pub(super) const VALUES: usize = 50;

/// The value that an answer means, or why it does not fit. A reference (`env:NAME`) is taken as it is. The
/// path of a file is one in the folder `here`, if there is one.
pub(crate) fn check(input: &Input, text: &str, here: Option<&Path>) -> Result<StoredValue, String> {
    let value = stored_value(text.trim());
    let StoredValue::Plain(text) = &value else {
        return Ok(value);
    };
    if let Some(options) = &input.options {
        return match options.contains(text) {
            true => Ok(value),
            false => Err(format!("it is one of {}", options.join(", "))),
        };
    }
    let meant = match input.kind {
        InputKind::Number => number(input, text)?,
        InputKind::Boolean => match text.to_ascii_lowercase().as_str() {
            "true" | "yes" | "y" => "true".to_owned(),
            "false" | "no" | "n" => "false".to_owned(),
            _ => return Err("it is true or false".to_owned()),
        },
        InputKind::File | InputKind::Folder => path(input.kind, text, here)?,
        _ => text.clone(),
    };
    Ok(StoredValue::Plain(meant))
}

fn number(input: &Input, text: &str) -> Result<String, String> {
    let number = text.parse::<f64>().ok().filter(|number| number.is_finite());
    let number = number.ok_or_else(|| "it is a number".to_owned())?;
    match (input.min, input.max) {
        (Some(min), _) if number < min => Err(format!("it is at least {min}")),
        (_, Some(max)) if number > max => Err(format!("it is at most {max}")),
        _ => Ok(text.to_owned()),
    }
}

fn path(kind: InputKind, text: &str, here: Option<&Path>) -> Result<String, String> {
    let path = match text.strip_prefix("~/") {
        Some(rest) => home_folder().unwrap_or_default().join(rest),
        None => here.unwrap_or(Path::new("")).join(text),
    };
    if !path.is_absolute() {
        return Err("it is an absolute path".to_owned());
    }
    match (kind, path.metadata()) {
        (InputKind::Folder, Ok(found)) if !found.is_dir() => Err("it is a folder".to_owned()),
        (InputKind::File, Ok(found)) if found.is_dir() => Err("it is a file".to_owned()),
        (InputKind::Folder, Err(_)) => Err("it is a folder, and there is none".to_owned()),
        // A file may be made by the server.
        _ => Ok(path.to_string_lossy().into_owned()),
    }
}

/// The values of an input that no one was asked for.
pub(crate) fn default_values(input: &Input) -> Vec<StoredValue> {
    let given = input.default.iter().chain(&input.defaults).take(VALUES);
    let plain = given.map(|text| StoredValue::Plain(with_folders(text)));
    plain.collect()
}

/// The kind of a value as the page and scripts know it.
pub(crate) fn shown_kind(kind: InputKind) -> &'static str {
    match kind {
        InputKind::Number => "number",
        InputKind::Boolean => "boolean",
        InputKind::File => "file",
        InputKind::Folder => "folder",
        _ => "text",
    }
}

/// A default in which the user's folders are spelt out.
fn with_folders(text: &str) -> String {
    let Some(home) = home_folder() else {
        return text.to_owned();
    };
    let home = home.to_string_lossy().into_owned();
    let folders = ["DESKTOP", "DOCUMENTS", "DOWNLOADS"].map(|name| {
        let (first, rest) = name.split_at(1);
        (name, format!("{home}/{first}{}", rest.to_ascii_lowercase()))
    });
    let text = text.replace("${HOME}", &home);
    let replaced = folders.iter().fold(text, |text, (name, folder)| {
        text.replace(&format!("${{{name}}}"), folder)
    });
    replaced.replace("${/}", std::path::MAIN_SEPARATOR_STR)
}

fn home_folder() -> Option<PathBuf> {
    Some(directories::BaseDirs::new()?.home_dir().to_owned())
}

#[cfg(test)]
mod tests {
    use mcp_config::{ConfigFile, Dialect};
    use serde_json::{Value, json};

    use super::*;

    /// An input as a bundle describes it.
    fn input(mut option: Value) -> Input {
        option["title"] = json!("It");
        option["description"] = json!("It");
        let manifest = json!({"name": "it", "version": "1",
            "server": {"mcp_config": {"command": "run"}}, "user_config": {"it": option}});
        let file = ConfigFile::read(&manifest.to_string(), Dialect::Bundle).unwrap();
        file.inputs()[0].clone()
    }

    #[test]
    fn an_answer_fits_the_type_and_the_range_of_its_input() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("file"), "").unwrap();
        let here = Some(folder.path());
        let number = input(json!({"type": "number", "min": 1, "max": 9}));
        for (text, want) in [
            ("3", Some("3")),
            (" 1.5 ", Some("1.5")),
            ("0", None),
            ("10", None),
            ("inf", None),
            ("x", None),
            ("", None),
        ] {
            let fits = check(&number, text, here).ok();
            assert_eq!(
                fits,
                want.map(|it| StoredValue::Plain(it.to_owned())),
                "{text}"
            );
        }
        let flag = input(json!({"type": "boolean"}));
        assert_eq!(
            check(&flag, "Yes", None),
            Ok(StoredValue::Plain("true".to_owned()))
        );
        assert!(check(&flag, "1", None).is_err());
        let dir = input(json!({"type": "directory"}));
        assert!(check(&dir, ".", here).is_ok());
        for bad in ["file", "none"] {
            assert!(check(&dir, bad, here).is_err(), "{bad}");
        }
        assert!(check(&dir, "relative", None).is_err());
        let file = input(json!({"type": "file"}));
        assert!(check(&file, "new.db", here).is_ok());
        assert!(check(&file, ".", here).is_err());
        let secret = input(json!({"type": "string", "sensitive": true}));
        let reference = StoredValue::Env("KEY".to_owned());
        assert_eq!(check(&secret, "env:KEY", None), Ok(reference));
    }

    #[test]
    fn a_choice_is_one_of_its_options() {
        let mut choice = input(json!({"type": "string"}));
        choice.options = Some(vec!["c".to_owned(), "f".to_owned()]);
        assert!(check(&choice, "c", None).is_ok());
        assert_eq!(check(&choice, "k", None).unwrap_err(), "it is one of c, f");
    }

    #[test]
    fn defaults_name_the_users_folders() {
        let many =
            input(json!({"type": "directory", "multiple": true, "default": ["${HOME}/a", "/b"]}));
        let home = home_folder().unwrap().to_string_lossy().into_owned();
        let want = [format!("{home}/a"), "/b".to_owned()].map(StoredValue::Plain);
        assert_eq!(default_values(&many), want);
        assert_eq!(with_folders("${DOWNLOADS}"), format!("{home}/Downloads"));
    }
}

//! `server-filesystem`: files, media of every kind, and roots that replace its arguments.

use std::fs;

use mcp_client::{EraMode, HostCapabilities};
use mcp_jsonrpc::model::Root;
use serde_json::{Value, json};

use crate::folder::Folder;
use crate::installed::node;
use crate::session::{Session, structured};

#[tokio::test]
async fn files_are_written_changed_and_read() {
    let folder = Folder::new("files");
    let session = start(&folder).await;
    assert_eq!(session.tools().await.len(), 14);
    let (draft, letter) = (folder.path("draft.txt"), folder.path("mail/letter.txt"));

    session
        .call("create_directory", json!({"path": folder.path("mail")}))
        .await;
    session
        .call(
            "write_file",
            json!({"path": draft, "content": "one\ntwo\n"}),
        )
        .await;
    assert_eq!(fs::read_to_string(&draft).unwrap(), "one\ntwo\n");
    let edits = json!([{"oldText": "two", "newText": "zwei"}]);
    let diff = session
        .say("edit_file", json!({"path": draft, "edits": edits}))
        .await;
    assert!(diff.contains("\n-two\n+zwei\n"), "{diff}");
    session
        .call("move_file", json!({"source": draft, "destination": letter}))
        .await;
    assert_eq!(fs::read_to_string(&letter).unwrap(), "one\nzwei\n");

    let head = session
        .call("read_text_file", json!({"path": letter, "head": 1}))
        .await;
    assert_eq!(structured(&head), json!({"content": "one"}));
    let listed = session
        .say("list_directory", json!({"path": folder.itself()}))
        .await;
    assert_eq!(listed, "[DIR] mail");
    let tree = session
        .say("directory_tree", json!({"path": folder.itself()}))
        .await;
    let letters = json!([{"name": "letter.txt", "type": "file"}]);
    let expected = json!([{"name": "mail", "type": "directory", "children": letters}]);
    assert_eq!(serde_json::from_str::<Value>(&tree).unwrap(), expected);
    let arguments = json!({"path": folder.itself(), "pattern": "**/*.txt"});
    assert_eq!(session.say("search_files", arguments).await, letter);
    let info = session.say("get_file_info", json!({"path": letter})).await;
    assert!(info.starts_with("size: 9\n"), "{info}");
    session.close().await;
}

#[tokio::test]
async fn media_arrive_as_what_they_are() {
    let folder = Folder::new("media");
    let files = [
        (folder.write("sound.wav", "RIFF"), "audio"),
        (folder.write("picture.png", b"\x89PNG"), "image"),
        (folder.write("other.bin", "abc"), "resource"),
    ];
    let session = start(&folder).await;
    let mut content = Vec::new();
    for (path, kind) in &files {
        let result = session.call("read_media_file", json!({"path": path})).await;
        let block = serde_json::to_value(&result.content[0]).unwrap();
        assert_eq!(block["type"], *kind);
        content.push(block);
    }
    let uri = format!("file://{}", files[2].0);
    let mime = "application/octet-stream";
    assert_eq!(
        content,
        [
            json!({"type": "audio", "data": "UklGRg==", "mimeType": "audio/wav"}),
            json!({"type": "image", "data": "iVBORw==", "mimeType": "image/png"}),
            json!({"type": "resource", "resource": {"uri": uri, "mimeType": mime, "blob": "YWJj"}}),
        ]
    );
    session.close().await;
}

#[tokio::test]
async fn a_file_of_four_megabytes_arrives_whole() {
    let folder = Folder::new("large");
    let text = "0123456789abcde\n".repeat(4 << 16);
    let path = folder.write("large.txt", &text);
    let session = start(&folder).await;
    let read = session.say("read_text_file", json!({"path": path})).await;
    assert!(read == text, "{} bytes came", read.len());
    session.close().await;
}

#[tokio::test]
async fn what_lies_outside_is_refused() {
    let folder = Folder::new("outside");
    let session = start(&folder).await;
    let arguments = json!({"path": "/etc/hostname"});
    let refusal = session.complaint("read_text_file", arguments).await;
    assert!(refusal.starts_with("Access denied"), "{refusal}");
    session.close().await;
}

/// The server asks for them when it likes; until it knows them, its argument holds.
#[tokio::test]
async fn roots_replace_the_folder_of_the_command_line() {
    let (argument, root) = (Folder::new("argument"), Folder::new("root"));
    let command = node("server-filesystem").with_arg(argument.itself());
    let can = HostCapabilities::default().with_roots();
    let session = Session::start_with(command, EraMode::Auto, can).await;
    session
        .host
        .set_roots([Root::new(format!("file://{}", root.itself()))]);
    session.client.roots_changed().await.unwrap();
    let allowed = format!("Allowed directories:\n{}", root.itself());
    let mut said = String::new();
    for _ in 0..1000 {
        said = session.say("list_allowed_directories", json!({})).await;
        if said == allowed {
            break;
        }
    }
    assert_eq!(said, allowed);
    session.close().await;
}

async fn start(folder: &Folder) -> Session {
    let command = node("server-filesystem").with_arg(folder.itself());
    Session::start(command, EraMode::Auto).await
}

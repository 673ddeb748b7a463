//! Server names.

use mcp_config::ServerName;

#[test]
fn a_server_name_has_a_length_and_no_control_characters() {
    for bad in ["", "a\nb", "\u{7f}", &"x".repeat(129)] {
        let error = bad.parse::<ServerName>().unwrap_err();
        assert_eq!(error.text, bad);
        assert!(!error.to_string().contains('\n'));
    }
    for good in ["a", "天气 ☂", &"ü".repeat(128)] {
        assert_eq!(good.parse::<ServerName>().unwrap().as_str(), good);
    }
}

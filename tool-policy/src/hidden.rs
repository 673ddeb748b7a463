//! Characters that are not what they seem, wherever foreign text is shown or judged.

/// Whether a character turns the direction of the text around it, or breaks its line.
pub fn is_bidi_control(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Whether a character is not seen as itself: control characters, those that [turn](is_bidi_control) the
/// text, those without a width, fillers, tags and variation selectors of the supplement. A name or
/// an argument that has one may look like another one.
///
/// ```
/// use tool_policy::is_hidden;
///
/// assert!("pay\u{200b}ment".contains(is_hidden));
/// assert!(!"Zahlung — 支払い 😀".contains(is_hidden));
/// ```
pub fn is_hidden(c: char) -> bool {
    c.is_control()
        || is_bidi_control(c)
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200d}' | '\u{2060}'..='\u{206f}'
            | '\u{3164}' | '\u{feff}' | '\u{ffa0}' | '\u{e0000}'..='\u{e007f}'
            | '\u{e0100}'..='\u{e01ef}')
}

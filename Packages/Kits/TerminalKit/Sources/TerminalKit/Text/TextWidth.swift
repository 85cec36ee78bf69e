import CUTF8Proc

/// How many terminal columns text takes, counted by grapheme and not by scalar.
///
/// A grapheme is as wide as its widest scalar; an emoji presentation selector or a pair of regional indicators
/// makes it two columns. Control characters count nothing, a tab counts the eight columns it can take at most.
public enum TextWidth {
    /// The columns that `text` takes.
    public static func of(_ text: String) -> Int { isSimple(text.utf8.span) ? text.utf8.count : sum(text) }

    /// The columns that `text` takes.
    public static func of(_ text: Substring) -> Int { isSimple(text.utf8.span) ? text.utf8.count : sum(text) }

    /// The columns that one grapheme takes.
    public static func of(_ character: Character) -> Int {
        if let ascii = character.asciiValue {
            if ascii == 0x09 { return tabWidth }
            return ascii >= 0x20 && ascii < 0x7F ? 1 : 0
        }
        var widest = 0
        var regionalIndicators = 0
        var wantsEmoji = false
        for scalar in character.unicodeScalars {
            switch scalar.value {
            case 0xFE0F: wantsEmoji = true
            case 0x1F1E6...0x1F1FF: regionalIndicators += 1
            default: break
            }
            widest = max(widest, Int(utf8proc_charwidth(Int32(bitPattern: scalar.value))))
        }
        // A selector without anything to select draws nothing.
        return (wantsEmoji && widest > 0) || regionalIndicators == 2 ? 2 : widest
    }

    static let tabWidth = 8

    /// Most text is printable ASCII, where the columns are the bytes.
    private static func isSimple(_ bytes: Span<UInt8>) -> Bool {
        for index in bytes.indices where bytes[index] < 0x20 || bytes[index] >= 0x7F { return false }
        return true
    }

    private static func sum(_ text: some StringProtocol) -> Int {
        var width = 0
        for character in text { width += of(character) }
        return width
    }
}

/// The format of ids: lower-case words with digits and hyphens, joined by dots.
///
/// Compares bytes for speed, because every name of every action is checked when the program starts.
enum DottedName {
    static func isValid(_ name: String) -> Bool {
        isWords(name.utf8, separator: UInt8(ascii: "."))
    }

    /// One word of an id; parameter names have the same format.
    static func isWord(_ word: String) -> Bool {
        isWords(word.utf8, separator: nil)
    }

    /// Each word begins with a letter, continues with letters, digits and hyphens, and does not end with a hyphen.
    private static func isWords(_ bytes: String.UTF8View, separator: UInt8?) -> Bool {
        let hyphen = UInt8(ascii: "-")
        var last: UInt8?
        for byte in bytes {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"): break
            case UInt8(ascii: "0")...UInt8(ascii: "9"), hyphen: if last == nil { return false }
            default:
                guard byte == separator, last != nil, last != hyphen else { return false }
                last = nil
                continue
            }
            last = byte
        }
        return last != nil && last != hyphen
    }
}

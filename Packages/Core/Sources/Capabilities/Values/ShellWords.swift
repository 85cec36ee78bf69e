/// Words as a person would type them for a POSIX shell.
public enum ShellWords {
    /// Words with spaces between them.
    public static func line(_ words: [String]) -> String { words.map(quoted).joined(separator: " ") }

    /// A word as a shell needs it: as it is, or in quotes.
    public static func quoted(_ word: String) -> String {
        let isPlain =
            !word.isEmpty
            && word.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"):
                    true
                default: "-_./:=@%+,".utf8.contains(byte)
                }
            }
        return isPlain
            ? word : "'\(word.split(separator: "'", omittingEmptySubsequences: false).joined(separator: #"'\''"#))'"
    }
}

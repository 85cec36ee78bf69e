import CYAML

/// A position in a text.
struct YAMLPlace: Sendable, Hashable {
    /// Both counted from 1.
    var line = 1
    var column = 1
}

extension YAMLPlace {
    init(_ mark: yaml_mark_t) {
        self.init(line: Int(mark.line) + 1, column: Int(mark.column) + 1)
    }

    /// The position after a text. libyaml counts only bytes when it decodes characters.
    init(after bytes: [UInt8]) {
        self.init()
        for byte in bytes {
            if byte == UInt8(ascii: "\n") {
                line += 1
                column = 1
            } else if byte & 0xC0 != 0x80 {
                column += 1
            }
        }
    }
}

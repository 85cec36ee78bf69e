import Capabilities
import JSON

/// Reads a document from the beginning to the end.
struct TOMLReader {
    let bytes: [UInt8]
    let limits: TOMLLimits
    /// The next byte.
    var at = 0
    var tree: TOMLTree
    private var count = 0

    init(_ bytes: [UInt8], limits: TOMLLimits) throws(TOMLError) {
        self.bytes = bytes
        self.limits = limits
        tree = TOMLTree(deepest: limits.depth)
        guard bytes.count <= limits.bytes else {
            throw error(.limit, "the text is larger than \(ByteCount(limits.bytes).words)", at: 0)
        }
        try checkEncoding()
    }

    private func checkEncoding() throws(TOMLError) {
        guard String(validating: bytes, as: UTF8.self) == nil else { return }
        var decoder = UTF8()
        var iterator = bytes.makeIterator()
        var valid = 0
        while case .scalarValue(let scalar) = decoder.decode(&iterator) { valid += UTF8.width(scalar) }
        throw error(.syntax, "the text is not UTF-8", at: valid)
    }

    // MARK: Errors

    func error(_ kind: TOMLError.Kind, _ message: String, at offset: Int? = nil) -> TOMLError {
        TOMLError(kind, message, at: offset ?? at, in: bytes)
    }

    /// What comes next, for a message.
    var found: String {
        guard at < bytes.count else { return "the end of the text" }
        if bytes[at] == UInt8(ascii: "\n") || bytes[at] == UInt8(ascii: "\r") { return "the end of the line" }
        let rest = String(decoding: bytes[at...].prefix(8), as: UTF8.self)
        return PlainText.escape(String(rest.prefix(1))).quotedForMessage
    }

    private func error(_ conflict: TOMLTree.Conflict, _ path: [String], at offset: Int) -> TOMLError {
        let name = PlainText.escape(path.joined(separator: "."), limit: 100).quotedForMessage
        return switch conflict {
        case .repeated: error(.duplicateKey, "\(name) is defined twice", at: offset)
        case .isValue: error(.duplicateKey, "\(name) extends something that has a value already", at: offset)
        case .isClosed: error(.duplicateKey, "\(name) extends a table that has a header", at: offset)
        case .isList: error(.duplicateKey, "\(name) extends an array of tables, which needs [[…]]", at: offset)
        case .tooDeep: error(.limit, "\(name) is nested deeper than \(limits.depth) levels", at: offset)
        }
    }

    /// Counts a value.
    mutating func countValue() throws(TOMLError) {
        count += 1
        try checkCount()
    }

    private func checkCount() throws(TOMLError) {
        guard count + tree.count <= limits.values else {
            throw error(.limit, "the text has more than \(limits.values) values and tables")
        }
    }

    // MARK: Lines

    mutating func document() throws(TOMLError) -> JSON {
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { at = 3 }
        var table = TOMLTree.root
        while true {
            skipBlanks()
            guard let byte = peek else { break }
            if try skipNewline() { continue }
            switch byte {
            case UInt8(ascii: "#"): try skipComment()
            case UInt8(ascii: "["):
                table = try header()
                try endLine()
            default:
                let start = at
                let (path, value) = try pair(depth: tree.depth(of: table))
                try define(path, value, in: table, at: start)
                try endLine()
            }
        }
        return tree.json(of: TOMLTree.root)
    }

    private mutating func header() throws(TOMLError) -> Int {
        let start = at
        let isList = has(0x5B, 0x5B)
        at += isList ? 2 : 1
        let path = try dottedKey()
        guard isList ? has(0x5D, 0x5D) : peek == UInt8(ascii: "]") else {
            throw error(.syntax, "a header ends with \(isList ? "']]'" : "']'"), not with \(found)")
        }
        at += isList ? 2 : 1
        try checkCount()
        do throws(TOMLTree.Conflict) {
            return isList ? try tree.append(path) : try tree.open(path)
        } catch {
            throw self.error(error, path, at: start)
        }
    }

    /// A key with its value.
    mutating func pair(depth: Int) throws(TOMLError) -> (path: [String], value: JSON) {
        let path = try dottedKey()
        guard peek == UInt8(ascii: "=") else { throw error(.syntax, "a key needs '=' and a value, not \(found)") }
        at += 1
        skipBlanks()
        return (path, try value(depth: depth + path.count))
    }

    mutating func define(_ path: [String], _ value: JSON, in table: Int, at start: Int) throws(TOMLError) {
        do throws(TOMLTree.Conflict) { try tree.set(path, in: table, to: value) } catch {
            throw self.error(error, path, at: start)
        }
    }

    private mutating func endLine() throws(TOMLError) {
        skipBlanks()
        if peek == UInt8(ascii: "#") { return try skipComment() }
        let isOver = try skipNewline()
        guard isOver || at == bytes.count else {
            throw error(.syntax, "the line should end here, not go on with \(found)")
        }
    }

    // MARK: Keys

    /// A key of one or more parts, with the blanks around it.
    private mutating func dottedKey() throws(TOMLError) -> [String] {
        var path: [String] = []
        while true {
            skipBlanks()
            path.append(try simpleKey())
            // Checked as it grows, since a path of a million parts is a million tables.
            guard path.count <= limits.depth else {
                throw error(.limit, "the key is nested deeper than \(limits.depth) levels")
            }
            skipBlanks()
            guard peek == UInt8(ascii: ".") else { return path }
            at += 1
        }
    }

    private mutating func simpleKey() throws(TOMLError) -> String {
        switch peek {
        case UInt8(ascii: "\"")?: return try basicString()
        case UInt8(ascii: "'")?: return try literalString()
        default:
            let start = at
            while let byte = peek, Self.isBare(byte) { at += 1 }
            guard at > start else { throw error(.syntax, "there should be a key, not \(found)") }
            return String(decoding: bytes[start..<at], as: UTF8.self)
        }
    }

    private static func isBare(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
            true
        default: false
        }
    }

    // MARK: Bytes

    var peek: UInt8? { at < bytes.count ? bytes[at] : nil }

    func has(_ wanted: UInt8...) -> Bool { bytes[at...].starts(with: wanted) }

    mutating func skipBlanks() {
        while let byte = peek, byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") { at += 1 }
    }

    /// Skips a line break, if there is one.
    mutating func skipNewline() throws(TOMLError) -> Bool {
        switch peek {
        case UInt8(ascii: "\n")?: at += 1
        case UInt8(ascii: "\r")?:
            guard has(0x0D, 0x0A) else {
                throw error(.syntax, "a carriage return is not followed by a line feed")
            }
            at += 2
        default: return false
        }
        return true
    }

    /// Skips a comment up to the end of its line.
    mutating func skipComment() throws(TOMLError) {
        while let byte = peek, byte != UInt8(ascii: "\n"), !has(0x0D, 0x0A) {
            guard !Self.isControl(byte) else { throw error(.syntax, "a comment has a control character") }
            at += 1
        }
    }

    /// Whether it may be in no text and no comment.
    static func isControl(_ byte: UInt8) -> Bool { byte < 0x20 && byte != UInt8(ascii: "\t") || byte == 0x7F }
}

/// Reads a message from start to end without building a tree. The caller reads the values it needs and skips the rest.
///
/// It is as lenient as `JSONReading.stream`. A value that a closure does not read is skipped, but still checked.
///
///     let text = try JSONPullReader.read(bytes) { reader in
///         var text = ""
///         try reader.object { reader, key in
///             switch key {
///             case "text" where !reader.isNull: text = try reader.string()
///             default: break
///             }
///         }
///         return text
///     }
///
/// A reader borrows the bytes: only `read` creates one, it cannot be copied, and it is valid only inside the closure.
@safe public struct JSONPullReader: ~Copyable {
    var cursor: JSONCursor
    var depth = 0
    static let reading = JSONReading.stream

    private init(_ cursor: JSONCursor) {
        self.cursor = cursor
    }

    /// Passes a reader at the start of the one value in a text to `body`, and checks the text to its end.
    ///
    /// Throws a `JSONError`, or the error of the closure.
    public static func read<Result>(
        _ bytes: RawSpan, _ body: (inout JSONPullReader) throws -> Result
    ) throws -> Result {
        try unsafe bytes.withUnsafeBytes { buffer in
            var reader = JSONPullReader(try unsafe JSONCursor(buffer, reading))
            let result = try reader.lend(body)
            try reader.cursor.expectEnd()
            return result
        }
    }

    /// Passes a reader at the start of the one value in a text to `body`, and checks the text to its end.
    ///
    /// Throws a `JSONError`, or the error of the closure.
    public static func read<Result>(
        _ bytes: Span<UInt8>, _ body: (inout JSONPullReader) throws -> Result
    ) throws -> Result {
        // Bytes have no padding, so the raw view is safe.
        try unsafe read(bytes.bytes, body)
    }

    /// Passes a reader at the start of the one value in a text to `body`, and checks the text to its end.
    ///
    /// Throws a `JSONError`, or the error of the closure.
    public static func read<Result>(
        _ bytes: [UInt8], _ body: (inout JSONPullReader) throws -> Result
    ) throws -> Result {
        try read(bytes.span, body)
    }

    /// The number of bytes read: the start of the current value, or the end of the last one.
    public var offset: Int { cursor.offset }

    /// Passes the value that starts here to `body`, and skips it if `body` does not read it.
    @inline(__always)
    mutating func lend<Result>(_ body: (inout JSONPullReader) throws -> Result) throws -> Result {
        _ = cursor.skipSpace()
        let start = cursor.offset
        let result = try body(&self)
        if cursor.offset == start { try skip() }
        return result
    }

    @inline(__always)
    mutating func enter(_ kind: JSONKind, _ bracket: UInt8) throws(JSONError) {
        try expect(cursor.byte == bracket, kind)
        if depth == Self.reading.maxDepth { throw cursor.failure(.tooDeep(depth)) }
        depth += 1
        cursor.offset += 1
    }

    @inline(__always)
    func expect(_ isThere: Bool, _ kind: JSONKind) throws(JSONError) {
        if !isThere { throw wrongType(kind) }
    }

    @inline(never)
    private func wrongType(_ expected: JSONKind) -> JSONError {
        guard let kind else { return cursor.failure(.expectedValue) }
        return cursor.failure(.wrongType(expected: expected.name, found: kind.name))
    }
}

extension JSONPullReader {
    /// Steps through an object and passes each member's value with its key to the closure.
    public mutating func object(_ body: (inout JSONPullReader, JSONKey) throws -> Void) throws {
        try enter(.object, JSONByte.openBrace)
        if cursor.skipSpace() != JSONByte.closeBrace {
            while true {
                try member(body)
                guard cursor.skipSpace() == JSONByte.comma else { break }
                cursor.offset += 1
            }
        }
        guard cursor.byte == JSONByte.closeBrace else { throw cursor.failure(.expectedCommaOrBrace) }
        cursor.offset += 1
        depth -= 1
    }

    /// Steps through an array and passes each element to the closure.
    public mutating func array(_ body: (inout JSONPullReader) throws -> Void) throws {
        try enter(.array, JSONByte.openBracket)
        var place = 0
        if cursor.skipSpace() != JSONByte.closeBracket {
            while true {
                do {
                    try lend(body)
                } catch let error as JSONError {
                    throw error.inside(String(place))
                }
                place += 1
                guard cursor.skipSpace() == JSONByte.comma else { break }
                cursor.offset += 1
            }
        }
        guard cursor.byte == JSONByte.closeBracket else { throw cursor.failure(.expectedCommaOrBracket) }
        cursor.offset += 1
        depth -= 1
    }

    /// Skips the current value, whatever it is, and checks it.
    public mutating func skip() throws {
        switch cursor.byte {
        case JSONByte.quote: _ = try cursor.scanString(repairing: true)
        case JSONByte.openBrace: try object { _, _ in }
        case JSONByte.openBracket: try array { _ in }
        case UInt8(ascii: "t"): try cursor.skip("true")
        case UInt8(ascii: "f"): try cursor.skip("false")
        case UInt8(ascii: "n"): try cursor.skip("null")
        default:
            try expect(kind == .number, .number)
            _ = try cursor.number()
        }
    }

    @inline(__always)
    private mutating func member(_ body: (inout JSONPullReader, JSONKey) throws -> Void) throws {
        guard cursor.skipSpace() == JSONByte.quote else { throw cursor.failure(.expectedQuotedKey) }
        let token = try cursor.scanString(repairing: true)
        guard cursor.skipSpace() == JSONByte.colon else { throw cursor.failure(.expectedColon) }
        cursor.offset += 1
        if token.isASCII, !token.hasEscapes {
            let bytes = unsafe cursor.units(token.content)
            try lendValue(of: unsafe UTF8Span(unchecked: bytes.span, isKnownASCII: true), body)
        } else {
            let key = cursor.text(of: token)
            try lendValue(of: key.utf8Span, body)
        }
    }

    @inline(__always)
    private mutating func lendValue(of key: JSONKey, _ body: (inout JSONPullReader, JSONKey) throws -> Void) throws {
        do {
            try lend { reader in try body(&reader, key) }
        } catch let error as JSONError {
            throw error.inside(String(copying: key))
        }
    }
}

extension JSONPullReader {
    /// The kind of the current value, or nil if no value starts here.
    public var kind: JSONKind? { JSONKind(first: cursor.byte) }

    /// Whether the current value is `null`.
    public var isNull: Bool { cursor.byte == UInt8(ascii: "n") }

    /// Reads a string.
    public mutating func string() throws(JSONError) -> String {
        try expect(cursor.byte == JSONByte.quote, .string)
        return try cursor.string(repairing: true)
    }

    /// Reads a string and passes it on as it lies there, so that none is made of it.
    public mutating func text<Result>(_ body: (JSONKey) throws -> Result) throws -> Result {
        try expect(cursor.byte == JSONByte.quote, .string)
        let token = try cursor.scanString(repairing: true)
        guard token.isASCII, !token.hasEscapes else { return try body(cursor.text(of: token).utf8Span) }
        let bytes = unsafe cursor.units(token.content)
        return try body(unsafe UTF8Span(unchecked: bytes.span, isKnownASCII: true))
    }

    /// Reads a number that is a 64-bit integer, however it is written.
    public mutating func int() throws(JSONError) -> Int {
        try expect(kind == .number, .number)
        let start = cursor.offset
        switch try cursor.number() {
        case .int(let value): return value
        case .double(let value):
            if let value = Int(exactly: value) { return value }
            throw cursor.failure(.notAnInteger, at: start)
        default: throw cursor.failure(.notAnInteger, at: start)
        }
    }

    /// Reads a number. An integer that a `Double` cannot hold is rounded.
    public mutating func double() throws(JSONError) -> Double {
        try expect(kind == .number, .number)
        let start = cursor.offset
        guard let value = try cursor.number().double, value.isFinite else {
            throw cursor.failure(.infiniteNumber, at: start)
        }
        return value
    }

    /// Reads `true` or `false`.
    public mutating func bool() throws(JSONError) -> Bool {
        try expect(kind == .boolean, .boolean)
        let value = cursor.byte == UInt8(ascii: "t")
        try cursor.skip(value ? "true" : "false")
        return value
    }

    /// Reads the current value as a tree.
    public mutating func value() throws(JSONError) -> JSON {
        var parser = JSONTreeParser(cursor, Self.reading, depth: depth)
        let value = try parser.value()
        cursor.offset = parser.offset
        return value
    }
}

/// The key of a member, valid only in the closure that reads the member. `String(copying:)` copies it.
public typealias JSONKey = UTF8Span

extension UTF8Span {
    /// Lets `switch key { case "delta": … }` compare bytes without creating a string.
    @inlinable
    @inline(__always)
    public static func ~= (literal: StaticString, key: JSONKey) -> Bool {
        guard literal.utf8CodeUnitCount == key.count else { return false }
        return unsafe key.span.withUnsafeBufferPointer { bytes in
            for place in 0..<bytes.count where unsafe bytes[place] != literal.utf8Start[place] { return false }
            return true
        }
    }

    /// Whether the key has the bytes of the literal.
    @inlinable
    @inline(__always)
    public static func == (key: JSONKey, literal: StaticString) -> Bool {
        literal ~= key
    }
}

/// The kinds of values that the first byte can distinguish.
public enum JSONKind: Sendable {
    /// The literal `null`.
    case null
    /// The literal `true` or `false`.
    case boolean
    /// A number.
    case number
    /// A string.
    case string
    /// An ordered list.
    case array
    /// Named members.
    case object

    init?(first byte: UInt8) {
        switch byte {
        case UInt8(ascii: "n"): self = .null
        case UInt8(ascii: "t"), UInt8(ascii: "f"): self = .boolean
        case JSONByte.minus, JSONByte.zero...JSONByte.nine: self = .number
        case JSONByte.quote: self = .string
        case JSONByte.openBracket: self = .array
        case JSONByte.openBrace: self = .object
        default: return nil
        }
    }

    /// The kind with its article, for messages.
    var name: String {
        switch self {
        case .null: "null"
        case .boolean: "a boolean"
        case .number: "a number"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }
}

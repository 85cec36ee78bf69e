/// Reads a message forward, taking what is wanted and stepping over the rest, without building a tree.
///
/// It forgives what `JSONReading.stream` forgives. A value that a closure leaves alone is skipped, though still checked.
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
/// A reader borrows the bytes: only `read` makes one, it cannot be copied, and it ends with the closure it is lent to.
@safe public struct JSONPullReader: ~Copyable {
    var cursor: JSONCursor
    var depth = 0
    static let reading = JSONReading.stream

    private init(_ cursor: JSONCursor) {
        self.cursor = cursor
    }

    /// Lends a reader at the start of the one value in a text, and checks the text to its end.
    ///
    /// It throws a `JSONError`, or what the closure throws.
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

    /// Lends a reader at the start of the one value in a text, and checks the text to its end.
    ///
    /// It throws a `JSONError`, or what the closure throws.
    public static func read<Result>(
        _ bytes: Span<UInt8>, _ body: (inout JSONPullReader) throws -> Result
    ) throws -> Result {
        // Bytes have no padding, so that the raw view of them is safe.
        try unsafe read(bytes.bytes, body)
    }

    /// Lends a reader at the start of the one value in a text, and checks the text to its end.
    ///
    /// It throws a `JSONError`, or what the closure throws.
    public static func read<Result>(
        _ bytes: [UInt8], _ body: (inout JSONPullReader) throws -> Result
    ) throws -> Result {
        try read(bytes.span, body)
    }

    /// How many bytes of the text have been read: where the value here begins, or the last one ended.
    public var offset: Int { cursor.offset }

    /// Lends the value that starts here, and skips it if it is left alone.
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

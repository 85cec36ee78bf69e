extension JSONPullReader {
    /// The kind of the value here, or nil where no value starts.
    public var kind: JSONKind? { JSONKind(first: cursor.byte) }

    /// Whether the value here is `null`.
    public var isNull: Bool { cursor.byte == UInt8(ascii: "n") }

    /// Reads a string.
    public mutating func string() throws(JSONError) -> String {
        try expect(cursor.byte == JSONByte.quote, .string)
        return try cursor.string(repairing: true)
    }

    /// Reads a number that is a whole one of 64 bits, however it is written.
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

    /// Reads a number, rounded where it is an integer that a `Double` cannot hold.
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

    /// Reads the value here as a tree.
    public mutating func value() throws(JSONError) -> JSON {
        var parser = JSONTreeParser(cursor, Self.reading, depth: depth)
        let value = try parser.value()
        cursor.offset = parser.offset
        return value
    }
}

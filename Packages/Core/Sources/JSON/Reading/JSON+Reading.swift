extension JSON {
    /// Reads the one value that a text holds.
    public init(parsing text: String, reading: JSONReading = .strict) throws(JSONError) {
        self = try JSON(parsing: text.utf8.span, reading: reading)
    }

    /// Reads the one value that a text in UTF-8 holds.
    public init(parsing bytes: [UInt8], reading: JSONReading = .strict) throws(JSONError) {
        self = try JSON(parsing: bytes.span, reading: reading)
    }

    /// Reads the one value that a text in UTF-8 holds.
    public init(parsing bytes: Span<UInt8>, reading: JSONReading = .strict) throws(JSONError) {
        // Bytes have no padding, so that the raw view of them is safe.
        self = try unsafe JSON(parsing: bytes.bytes, reading: reading)
    }

    /// Reads the one value that a text in UTF-8 holds.
    public init(parsing bytes: RawSpan, reading: JSONReading = .strict) throws(JSONError) {
        self = try unsafe bytes.withUnsafeBytes { (buffer) throws(JSONError) -> JSON in
            let cursor = try unsafe JSONCursor(buffer, reading)
            switch reading.dialect {
            case .json:
                var parser = JSONTreeParser(cursor, reading)
                return try parser.document()
            case .json5:
                var parser = JSON5Parser(cursor, reading)
                guard let syntax = try parser.document() else { throw parser.cursor.failure(.expectedValue) }
                return syntax.json
            }
        }
    }
}

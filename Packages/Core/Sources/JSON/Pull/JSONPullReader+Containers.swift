extension JSONPullReader {
    /// Steps through an object, lending each member's value with its key.
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

    /// Steps through an array, lending each element.
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

    /// Steps over the value here, whatever it is, and checks it.
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

/// Reads JSON5, which is a superset of JSON, into a tree that knows its places.
///
/// The grammar is that of https://spec.json5.org; `Infinity` and `NaN` are recognised in order to be refused.
struct JSON5Parser {
    var cursor: JSONCursor
    private let maxDepth: Int
    private var depth = 0

    init(_ cursor: JSONCursor, _ reading: JSONReading) {
        self.cursor = cursor
        maxDepth = reading.maxDepth
    }

    /// Reads the one value that the text holds, or nil where it holds nothing but space and comments.
    mutating func document() throws(JSONError) -> JSONSyntax? {
        try cursor.refuseBadUTF8(in: 0..<cursor.count)
        _ = try skipSpace()
        if cursor.offset == cursor.count { return nil }
        let value = try value()
        _ = try skipSpace()
        if cursor.offset < cursor.count { throw cursor.failure(.expectedEnd) }
        return value
    }

    private mutating func value() throws(JSONError) -> JSONSyntax {
        let first = try skipSpace()
        let start = cursor.offset
        let content: JSONSyntax.Content =
            switch first {
            case JSONByte.openBrace: .object(try items(isObject: true, end: JSONByte.closeBrace))
            case JSONByte.openBracket: .array(try items(isObject: false, end: JSONByte.closeBracket))
            case JSONByte.quote, JSONByte.apostrophe: .scalar(.string(try string()))
            case JSONByte.zero...JSONByte.nine, JSONByte.plus, JSONByte.minus, JSONByte.dot: .scalar(try number())
            default: .scalar(try word())
            }
        return JSONSyntax(content: content, range: start..<cursor.offset)
    }

    /// Reads elements or members up to the closing bracket, which may follow a comma.
    private mutating func items(isObject: Bool, end: UInt8) throws(JSONError) -> [JSONSyntax.Item] {
        if depth == maxDepth { throw cursor.failure(.tooDeep(maxDepth)) }
        depth += 1
        defer { depth -= 1 }
        cursor.offset += 1
        var items: [JSONSyntax.Item] = []
        var names: Set<JSONName> = []
        while try skipSpace() != end {
            var item = isObject ? try member(&names) : try element(items.count)
            switch try skipSpace() {
            case JSONByte.comma:
                item.comma = cursor.offset
                cursor.offset += 1
            case end: break
            default: throw cursor.failure(isObject ? .expectedCommaOrBrace : .expectedCommaOrBracket)
            }
            items.append(item)
        }
        cursor.offset += 1
        return items
    }

    private mutating func element(_ place: Int) throws(JSONError) -> JSONSyntax.Item {
        do {
            return JSONSyntax.Item(key: nil, value: try value())
        } catch {
            throw error.inside(String(place))
        }
    }

    private mutating func member(_ names: inout Set<JSONName>) throws(JSONError) -> JSONSyntax.Item {
        let start = cursor.offset
        let isQuoted = cursor.byte == JSONByte.quote || cursor.byte == JSONByte.apostrophe
        let name = isQuoted ? try string() : try identifier()
        let key = JSONSyntax.Key(name: name, range: start..<cursor.offset)
        guard try skipSpace() == JSONByte.colon else { throw cursor.failure(.expectedColon) }
        cursor.offset += 1
        guard names.insert(JSONName(name)).inserted else { throw cursor.failure(.duplicateKey(name), at: start) }
        do {
            return JSONSyntax.Item(key: key, value: try value())
        } catch {
            throw error.inside(name)
        }
    }

    private mutating func word() throws(JSONError) -> JSON {
        let start = cursor.offset
        guard startsIdentifier else { throw cursor.failure(.expectedValue) }
        switch try identifier() {
        case "null": return .null
        case "true": return .bool(true)
        case "false": return .bool(false)
        case "Infinity", "NaN": throw cursor.failure(.wordForInfinity, at: start)
        default: throw cursor.failure(.unknownWord, at: start)
        }
    }
}

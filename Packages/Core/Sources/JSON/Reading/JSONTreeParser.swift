/// Parses a JSON text (RFC 8259) into a tree.
struct JSONTreeParser: ~Copyable {
    private var cursor: JSONCursor
    private let reading: JSONReading
    private var depth: Int
    private var elements = JSONStack<JSON>()
    private var members = JSONStack<JSONObject.Member>()

    /// Starts at the cursor, inside `depth` arrays and objects.
    init(_ cursor: JSONCursor, _ reading: JSONReading, depth: Int = 0) {
        self.cursor = cursor
        self.reading = reading
        self.depth = depth
    }

    /// The current position.
    var offset: Int { cursor.offset }

    /// Parses a text that contains one value.
    mutating func document() throws(JSONError) -> JSON {
        let value = try value()
        try cursor.expectEnd()
        return value
    }

    /// Reads the value at the cursor.
    mutating func value() throws(JSONError) -> JSON {
        switch cursor.skipSpace() {
        case JSONByte.quote: return .string(try cursor.string(repairing: reading.repairsText))
        case JSONByte.zero...JSONByte.nine, JSONByte.minus: return try cursor.number()
        case JSONByte.openBrace: return .object(try object())
        case JSONByte.openBracket: return .array(try array())
        case UInt8(ascii: "t"):
            try cursor.skip("true")
            return .bool(true)
        case UInt8(ascii: "f"):
            try cursor.skip("false")
            return .bool(false)
        case UInt8(ascii: "n"):
            try cursor.skip("null")
            return .null
        default: throw cursor.failure(.expectedValue)
        }
    }

    private mutating func enter() throws(JSONError) {
        if depth == reading.maxDepth { throw cursor.failure(.tooDeep(reading.maxDepth)) }
        depth += 1
        cursor.offset += 1
    }

    private mutating func array() throws(JSONError) -> [JSON] {
        try enter()
        let start = elements.count
        if cursor.skipSpace() == JSONByte.closeBracket {
            cursor.offset += 1
            depth -= 1
            return []
        }
        var place = 0
        while true {
            do {
                elements.push(try value())
            } catch {
                throw error.inside(String(place))
            }
            place += 1
            switch cursor.skipSpace() {
            case JSONByte.comma: cursor.offset += 1
            case JSONByte.closeBracket:
                cursor.offset += 1
                depth -= 1
                return elements.pop(from: start)
            default: throw cursor.failure(.expectedCommaOrBracket)
            }
        }
    }

    private mutating func object() throws(JSONError) -> JSONObject {
        try enter()
        let start = members.count
        if cursor.skipSpace() == JSONByte.closeBrace {
            cursor.offset += 1
            depth -= 1
            return JSONObject()
        }
        var index: [JSONName: Int]?
        while true {
            try member(since: start, &index)
            switch cursor.skipSpace() {
            case JSONByte.comma: cursor.offset += 1
            case JSONByte.closeBrace:
                cursor.offset += 1
                depth -= 1
                return JSONObject(distinct: members.pop(from: start), index: index)
            default: throw cursor.failure(.expectedCommaOrBrace)
            }
        }
    }

    private mutating func member(since start: Int, _ index: inout [JSONName: Int]?) throws(JSONError) {
        guard cursor.skipSpace() == JSONByte.quote else { throw cursor.failure(.expectedQuotedKey) }
        let place = cursor.offset
        let key = try cursor.string(repairing: reading.repairsText)
        guard cursor.skipSpace() == JSONByte.colon else { throw cursor.failure(.expectedColon) }
        cursor.offset += 1
        let value: JSON
        let earlier = self.place(of: key, since: start, index)
        if earlier != nil, !reading.keepsLastDuplicate { throw cursor.failure(.duplicateKey(key), at: place) }
        do {
            value = try self.value()
        } catch {
            throw error.inside(key)
        }
        if let earlier {
            members[earlier].value = value
            return
        }
        members.push(JSONObject.Member(key: key, value: value))
        addToIndex(key, since: start, &index)
    }

    private func place(of key: String, since start: Int, _ index: [JSONName: Int]?) -> Int? {
        if let index { return index[JSONName(key)].map { start + $0 } }
        for place in start..<members.count where members[place].key.hasSameBytes(as: key) { return place }
        return nil
    }

    private func addToIndex(_ key: String, since start: Int, _ index: inout [JSONName: Int]?) {
        let size = members.count - start
        guard size > JSONObject.largestWithoutIndex else { return }
        if index == nil {
            index = [:]
            for place in start..<members.count { index?[JSONName(members[place].key)] = place - start }
        } else {
            index?[JSONName(key)] = size - 1
        }
    }
}

/// Collects values until their array or object ends, so that each one is allocated once, with its final size.
@safe struct JSONStack<Element>: ~Copyable {
    private var storage = unsafe UnsafeMutableBufferPointer<Element>(start: nil, count: 0)
    private(set) var count = 0

    deinit {
        unsafe storage.extracting(..<count).deinitialize()
        unsafe storage.deallocate()
    }

    subscript(_ place: Int) -> Element {
        get { unsafe storage[place] }
        set { unsafe storage[place] = newValue }
    }

    @inline(__always)
    mutating func push(_ element: consuming Element) {
        if unsafe count == storage.count { grow() }
        unsafe storage.initializeElement(at: count, to: element)
        count += 1
    }

    /// Removes and returns the elements from `start` on.
    mutating func pop(from start: Int) -> [Element] {
        let size = count - start
        count = start
        return unsafe Array(unsafeUninitializedCapacity: size) { elements, initialized in
            _ = unsafe elements.moveInitialize(fromContentsOf: storage.extracting(start..<start + size))
            initialized = size
        }
    }

    @inline(never)
    private mutating func grow() {
        let larger = unsafe UnsafeMutableBufferPointer<Element>.allocate(capacity: max(64, storage.count * 2))
        _ = unsafe larger.moveInitialize(fromContentsOf: storage)
        unsafe storage.deallocate()
        unsafe storage = unsafe larger
    }
}

/// A settings file: its value, where each part of it stands, and its text with one part changed.
///
/// A change leaves comments, order, indentation and line endings as they are.
public struct JSONDocument: Sendable {
    /// The name of the file, for messages.
    public let name: String
    /// What the text says; an empty text says `{}`.
    public let value: JSON

    let reading: JSONReading
    let text: [UInt8]
    /// The value with its places, or nil where the text holds nothing but space and comments.
    let root: JSONSyntax?

    /// Reads a text in UTF-8.
    public init(parsing text: [UInt8], reading: JSONReading = .json5, name: String) throws(JSONError) {
        self.name = name
        self.reading = reading
        self.text = text
        root = try unsafe text.span.withUnsafeBytes { (buffer) throws(JSONError) in
            var parser = JSON5Parser(try unsafe JSONCursor(buffer, reading), reading)
            return try parser.document()
        }
        let isBlank = text.allSatisfy { JSONByte.isSpace($0) }
        if reading.dialect == .json, !isBlank {
            // JSON5 is a superset of JSON, so that the stricter grammar still has to be asked.
            value = try JSON(parsing: text, reading: reading)
        } else {
            value = root?.json ?? [:]
        }
    }

    /// Reads a text.
    public init(parsing text: String, reading: JSONReading = .json5, name: String) throws(JSONError) {
        try self.init(parsing: Array(text.utf8), reading: reading, name: name)
    }

    /// The line and the column, counted from 1, of the value at a path.
    public func position(of path: [String]) -> (line: Int, column: Int)? {
        guard let value = root.flatMap({ Self.find(path, in: $0) }) else { return nil }
        return position(at: value.range.lowerBound)
    }

    /// The line and the column, counted from 1, of the key that a path ends in.
    public func keyPosition(of path: [String]) -> (line: Int, column: Int)? {
        guard let name = path.last, let parent = root.flatMap({ Self.find(path.dropLast(), in: $0) }),
            let index = parent.index(of: name), let key = parent.items[index].key
        else { return nil }
        return position(at: key.range.lowerBound)
    }

    func position(at offset: Int) -> (line: Int, column: Int) {
        unsafe text.span.withUnsafeBytes { buffer in
            let place = unsafe JSONPlace(offset: offset, in: buffer)
            return (place.line, place.column)
        }
    }

    static func find(_ path: some Sequence<String>, in root: JSONSyntax) -> JSONSyntax? {
        var node = root
        for name in path {
            guard let index = node.index(of: name) else { return nil }
            node = node.items[index].value
        }
        return node
    }
}

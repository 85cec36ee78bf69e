extension JSONDocument {
    /// The text with the value at a path replaced or added.
    ///
    /// Missing objects on the way are made. The index after the last element of an array appends. It throws where
    /// something else than an object or array is in the way, or the result is no text that could be read again.
    public func setting(_ path: [String], to value: JSON) throws(JSONError) -> String {
        var edits = JSONEdits()
        if let root {
            try set(path, to: value, in: root, &edits)
        } else {
            append(Self.nest(value, in: path), &edits)
        }
        let result = edits.applied(to: text)
        _ = try JSONDocument(parsing: result, reading: reading, name: name)
        return result
    }

    var lines: JSONLines { JSONLines(text, root) }

    private func append(_ value: JSON, _ edits: inout JSONEdits) {
        // A comment without a line break at its end would swallow the value.
        let isLineOpen = text.last.map { $0 != JSONByte.lineFeed } ?? false
        let start = isLineOpen ? lines.lineBreak : ""
        edits.insert(start + written(value, style: lines.style(base: ""), .quoted) + lines.lineBreak, at: text.count)
    }

    private func set(
        _ path: [String], to value: JSON, in root: JSONSyntax, _ edits: inout JSONEdits
    ) throws(JSONError) {
        let lines = lines
        var node = root
        var isBroken = true
        var keyStyle = JSONWriter.KeyStyle.quoted
        for (depth, name) in path.enumerated() {
            keyStyle = firstKeyStyle(in: node) ?? keyStyle
            guard let index = node.index(of: name) else {
                let isMember = try mayAdd(name, to: node, path: path[..<depth])
                let value = Self.nest(value, in: path[(depth + 1)...])
                let item = NewItem(key: isMember ? name : nil, value: value, keyStyle: keyStyle)
                return add(item, to: node, isBroken: isBroken || lines.isBroken(node), lines, &edits)
            }
            isBroken = lines.isBroken(node)
            node = node.items[index].value
        }
        if node.json == value { return }
        keyStyle = firstKeyStyle(in: node) ?? keyStyle
        let usesLines = isBroken && (node.items.isEmpty || lines.isBroken(node))
        let base = lines.indentation(at: node.range.lowerBound)
        edits.replace(
            node.range, with: written(value, style: usesLines ? lines.style(base: base) : .inline, keyStyle))
    }

    /// Whether the new item is a member; throws where the node can hold none of this name.
    private func mayAdd(_ name: String, to node: JSONSyntax, path: ArraySlice<String>) throws(JSONError) -> Bool {
        let key = JSON.string(name).text()
        let message: String
        switch node.content {
        case .object: return true
        case .array(let items) where name == String(items.count): return false
        case .array(let items): message = "the array has no place for \(key); its next index is \(items.count)"
        case .scalar(let value): message = "expected an object for the key \(key), found \(value.kindName)"
        }
        let (line, column) = position(at: node.range.lowerBound)
        throw JSONError(
            .type, message, path: Array(path), line: line, column: column, offset: node.range.lowerBound)
    }

    private static func nest(_ value: JSON, in path: some BidirectionalCollection<String>) -> JSON {
        path.reversed().reduce(value) { .object([$1: $0]) }
    }

    /// How the first key of an object is written, or of the first object inside it that has one.
    private func firstKeyStyle(in node: JSONSyntax) -> JSONWriter.KeyStyle? {
        for item in node.items {
            if let key = item.key {
                switch text[key.range.lowerBound] {
                case JSONByte.quote: return .quoted
                case JSONByte.apostrophe: return .singleQuoted
                default: return .bare
                }
            }
            if let style = firstKeyStyle(in: item.value) { return style }
        }
        return nil
    }

    func written(_ value: JSON, style: JSONWriter.Style, _ keyStyle: JSONWriter.KeyStyle, key: String? = nil) -> String
    {
        var writer = JSONWriter(style, keyStyle: keyStyle)
        if let key { writer.write(key: key) }
        writer.write(value)
        return String(decoding: writer.output, as: UTF8.self)
    }
}

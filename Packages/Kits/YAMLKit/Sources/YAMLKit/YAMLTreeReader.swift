import JSON

/// Builds the tree of a document. Ambiguous YAML is rejected.
struct YAMLTreeReader: ~Copyable {
    private var events: YAMLEventReader
    private let limits: YAMLLimits
    private var anchors: [String: YAMLSyntax] = [:]
    private var depth = 0
    private var values = 0
    private var expandedBytes = 0

    init(_ bytes: [UInt8], limits: YAMLLimits) throws(YAMLError) {
        guard bytes.count <= limits.bytes else {
            throw YAMLError(
                .limit, "the file has \(bytes.count) bytes; the limit is \(limits.bytes)", at: YAMLPlace())
        }
        // Editors on Windows may write a byte order mark. libyaml would read it as part of a value if UTF-8 is set.
        events = try YAMLEventReader(bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(bytes.dropFirst(3)) : bytes)
        self.limits = limits
    }

    /// The document of the text; nil if there is nothing but comments.
    mutating func document() throws(YAMLError) -> YAMLSyntax? {
        var root: YAMLSyntax?
        while true {
            let event = try events.next()
            switch event.kind {
            case .streamEnd: return root
            case .documentStart where root != nil:
                throw YAMLError(
                    .unsupported, "the file has a second document; move it to a separate file", at: event.place)
            case .documentStart: root = try value(try events.next())
            default: break
            }
        }
    }

    private mutating func value(_ event: YAMLEvent) throws(YAMLError) -> YAMLSyntax {
        if event.hasTag {
            throw YAMLError(.unsupported, "tags are not supported; remove the '!' and its tag", at: event.place)
        }
        let value: YAMLSyntax
        switch event.kind {
        case .scalar(let scalar):
            let bytes = scalar.text.utf8.count
            try count(1, bytes: bytes, at: event.place)
            value = YAMLSyntax(
                content: .scalar(try scalar.json(at: event.place)), place: event.place, size: 1, bytes: bytes, depth: 0)
        case .listStart: value = try list(from: event.place)
        case .mapStart: value = try map(from: event.place)
        case .alias(let name): return try alias(name, at: event.place)
        default: throw YAMLError(.syntax, "a value is missing", at: event.place)
        }
        if let anchor = event.anchor { anchors[anchor] = value }
        return value
    }

    private mutating func list(from place: YAMLPlace) throws(YAMLError) -> YAMLSyntax {
        try enter(place)
        var items: [YAMLSyntax] = []
        while true {
            let event = try events.next()
            if case .listEnd = event.kind { break }
            items.append(try value(event))
        }
        depth -= 1
        return YAMLSyntax(
            content: .list(items), place: place, size: items.reduce(1) { $0 + $1.size },
            bytes: items.reduce(0) { $0 + $1.bytes },
            depth: 1 + (items.map(\.depth).max() ?? 0))
    }

    private mutating func map(from place: YAMLPlace) throws(YAMLError) -> YAMLSyntax {
        try enter(place)
        var entries: [YAMLSyntax.Entry] = []
        var places: [String: YAMLPlace] = [:]
        while true {
            let event = try events.next()
            if case .mapEnd = event.kind { break }
            let name = try key(event)
            try count(0, bytes: name.utf8.count, at: event.place)
            if let first = places.updateValue(event.place, forKey: name) {
                throw YAMLError(
                    .duplicateKey, "duplicate key '\(name)'; the first is in line \(first.line)",
                    at: event.place)
            }
            entries.append(.init(key: name, place: event.place, value: try value(try events.next())))
        }
        depth -= 1
        return YAMLSyntax(
            content: .map(entries), place: place, size: entries.reduce(1) { $0 + $1.value.size },
            bytes: entries.reduce(0) { $0 + $1.key.utf8.count + $1.value.bytes },
            depth: 1 + (entries.map(\.value.depth).max() ?? 0))
    }

    private func key(_ event: YAMLEvent) throws(YAMLError) -> String {
        guard case .scalar(let scalar) = event.kind else {
            throw YAMLError(.unsupported, "a key must be text", at: event.place)
        }
        if event.hasTag {
            throw YAMLError(.unsupported, "tags are not supported; remove the '!' and its tag", at: event.place)
        }
        if scalar.isPlain, scalar.text == "<<" {
            throw YAMLError(.unsupported, "merge keys are not supported; write out the keys", at: event.place)
        }
        return scalar.text
    }

    private mutating func alias(_ name: String, at place: YAMLPlace) throws(YAMLError) -> YAMLSyntax {
        guard let value = anchors[name] else {
            throw YAMLError(.syntax, "no anchor '&\(name)' before this alias", at: place)
        }
        try count(value.size, bytes: value.bytes, at: place)
        if depth + value.depth > limits.depth { throw tooDeep(place) }
        // Error messages refer to the place of the alias.
        return YAMLSyntax(
            content: value.content, place: place, size: value.size, bytes: value.bytes, depth: value.depth)
    }

    private mutating func enter(_ place: YAMLPlace) throws(YAMLError) {
        try count(1, bytes: 0, at: place)
        if depth == limits.depth { throw tooDeep(place) }
        depth += 1
    }

    private mutating func count(_ more: Int, bytes: Int, at place: YAMLPlace) throws(YAMLError) {
        values += more
        expandedBytes += bytes
        if values > limits.values {
            throw YAMLError(
                .limit, "with aliases expanded, there are more than \(limits.values) values; shorten the file",
                at: place)
        }
        if expandedBytes > limits.expandedBytes {
            throw YAMLError(
                .limit,
                "with aliases expanded, the texts exceed \(limits.expandedBytes) bytes; shorten the file",
                at: place)
        }
    }

    private func tooDeep(_ place: YAMLPlace) -> YAMLError {
        YAMLError(.limit, "lists and maps are nested deeper than \(limits.depth) levels", at: place)
    }
}

/// A value with its positions.
struct YAMLSyntax: Sendable {
    indirect enum Content: Sendable {
        case scalar(JSON)
        case list([YAMLSyntax])
        case map([Entry])
    }

    struct Entry: Sendable {
        let key: String
        let place: YAMLPlace
        let value: YAMLSyntax
    }

    let content: Content
    let place: YAMLPlace
    /// The number of values, including itself, with aliases expanded.
    let size: Int
    /// The size of all texts and keys in bytes.
    let bytes: Int
    /// The nesting depth, including itself.
    let depth: Int

    var json: JSON {
        switch content {
        case .scalar(let value): value
        case .list(let items): .array(items.map(\.json))
        case .map(let entries):
            .object(entries.reduce(into: JSONObject()) { $0.append($1.key, $1.value.json) })
        }
    }

    /// The value of a key, or at an index of a list.
    func child(_ name: String) -> (place: YAMLPlace, value: YAMLSyntax)? {
        switch content {
        case .scalar: return nil
        case .list(let items):
            guard let index = Int(name), items.indices.contains(index) else { return nil }
            return (items[index].place, items[index])
        case .map(let entries): return entries.first { $0.key == name }.map { ($0.place, $0.value) }
        }
    }
}

/// A path with names in braces: `/v1/projects/{id}`, `/files/{path...}`.
struct PathTemplate: Sendable {
    enum Segment: Sendable {
        case word(String)
        case name
        /// Everything that is left.
        case rest
    }

    let text: String
    let segments: [Segment]
    /// The names in braces, in order.
    let names: [String]

    /// Nil when it is malformed.
    init?(_ text: String) {
        guard text.hasPrefix("/") else { return nil }
        var segments: [Segment] = []
        var names: [String] = []
        let parts = text.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
        for (index, part) in parts.enumerated() {
            guard part.hasPrefix("{"), part.hasSuffix("}") else {
                guard !part.contains(where: { "{}%?#".contains($0) }) else { return nil }
                segments.append(.word(String(part)))
                continue
            }
            var name = part.dropFirst().dropLast()
            let isRest = name.hasSuffix("...")
            if isRest { name = name.dropLast(3) }
            guard !name.isEmpty, !names.contains(String(name)), !isRest || index == parts.count - 1 else { return nil }
            names.append(String(name))
            segments.append(isRest ? .rest : .name)
        }
        self.text = text
        self.segments = segments
        self.names = names
    }

    /// As an OpenAPI document writes it, which has no word for the rest of a path.
    var documented: String {
        text.split(separator: "/", omittingEmptySubsequences: false).map { part in
            part.hasSuffix("...}") ? part.dropLast(4) + "}" : part
        }.joined(separator: "/")
    }
}

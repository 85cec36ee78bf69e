import JSON

/// A value with its places.
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
    /// How many values it is, with itself and what aliases stand for.
    let size: Int
    /// How many bytes the texts and keys of these values take.
    let bytes: Int
    /// How many lists and maps are inside of each other, with itself.
    let depth: Int

    var json: JSON {
        switch content {
        case .scalar(let value): value
        case .list(let items): .array(items.map(\.json))
        case .map(let entries):
            .object(entries.reduce(into: JSONObject()) { $0.append($1.key, $1.value.json) })
        }
    }

    /// The value of a key or at a place of a list.
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

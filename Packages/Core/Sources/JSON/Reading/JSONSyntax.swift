/// A value with its position in the text.
struct JSONSyntax: Sendable {
    /// An element of an array or a member of an object.
    struct Item: Sendable {
        /// The key of a member.
        let key: Key?
        let value: JSONSyntax
        /// The offset of the comma after it.
        var comma: Int?

        var start: Int { key?.range.lowerBound ?? value.range.lowerBound }
        var end: Int { value.range.upperBound }
    }

    struct Key: Sendable {
        let name: String
        let range: Range<Int>
    }

    indirect enum Content: Sendable {
        case scalar(JSON)
        case array([Item])
        case object([Item])
    }

    let content: Content
    let range: Range<Int>

    /// The elements or members.
    var items: [Item] {
        switch content {
        case .scalar: []
        case .array(let items), .object(let items): items
        }
    }

    /// The index of the element or member of this name among the items.
    func index(of name: String) -> Int? {
        switch content {
        case .scalar: nil
        case .array(let items): items.indices.first { String($0) == name }
        case .object(let items): items.firstIndex { $0.key?.name.hasSameBytes(as: name) == true }
        }
    }

    /// The value without positions.
    var json: JSON {
        switch content {
        case .scalar(let value): return value
        case .array(let items): return .array(items.map(\.value.json))
        case .object(let items):
            var object = JSONObject()
            for item in items {
                if let key = item.key { object.append(key.name, item.value.json) }
            }
            return .object(object)
        }
    }
}

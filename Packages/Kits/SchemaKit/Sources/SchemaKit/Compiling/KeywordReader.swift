import JSON

/// Reads the values of keywords and notes those of the wrong type.
struct KeywordReader {
    private let keywords: JSONObject
    private(set) var faults: [(message: String, keyword: String)] = []

    init(_ keywords: JSONObject) {
        self.keywords = keywords
    }

    mutating func fault(_ keyword: String, _ message: String) {
        // One subschema alone may have thousands.
        if faults.count <= 20 { faults.append((message, keyword)) }
    }

    private mutating func value<Value>(
        _ keyword: String, _ wanted: String, _ convert: (JSON) -> Value?
    ) -> Value? {
        guard let json = keywords[keyword] else { return nil }
        let value = convert(json)
        if value == nil { fault(keyword, "needs to be \(wanted), not \(json.kindName)") }
        return value
    }

    mutating func string(_ keyword: String) -> String? { value(keyword, "a string", \.string) }

    mutating func flag(_ keyword: String) -> Bool? { value(keyword, "a boolean", \.bool) }

    mutating func array(_ keyword: String) -> [JSON]? { value(keyword, "an array", \.array) }

    mutating func object(_ keyword: String) -> JSONObject? { value(keyword, "an object", \.object) }

    mutating func number(_ keyword: String) -> JSON? {
        value(keyword, "a number") { $0.double == nil ? JSON?.none : $0 }
    }

    /// A number of characters, elements or members.
    mutating func count(_ keyword: String) -> Int? {
        value(keyword, "a whole number that is not negative") { json in
            switch json {
            case .int(let number) where number >= 0: number
            case .big(let digits) where !digits.hasPrefix("-"): Int.max
            case .double(let number) where number >= 0 && number == number.rounded(): Int(exactly: number) ?? Int.max
            default: nil
            }
        }
    }

    mutating func strings(_ keyword: String) -> [String]? {
        guard let json = keywords[keyword] else { return nil }
        return strings(json, keyword)
    }

    /// An array of strings.
    mutating func strings(_ json: JSON, _ keyword: String) -> [String]? {
        guard let elements = json.array else {
            fault(keyword, "needs to be an array of strings, not \(json.kindName)")
            return nil
        }
        for (index, element) in elements.enumerated() where element.string == nil {
            fault("\(keyword)/\(index)", "needs to be a string, not \(element.kindName)")
        }
        return elements.compactMap(\.string)
    }

    /// The types of `type`.
    mutating func kinds() -> Kinds? {
        guard let json = keywords["type"] else { return nil }
        let names = json.array ?? [json]
        var kinds: Kinds = []
        for (index, name) in names.enumerated() {
            let keyword = json.array == nil ? "type" : "type/\(index)"
            guard let name = name.string else {
                fault(keyword, "needs to be a string, not \(name.kindName)")
                continue
            }
            guard let kind = Kinds(named: name) else {
                fault(keyword, "has the unknown type \(Shown.text(JSON.string(name).text()))")
                continue
            }
            kinds.formUnion(kind)
        }
        if names.isEmpty { fault("type", "needs at least one type") }
        return kinds
    }
}

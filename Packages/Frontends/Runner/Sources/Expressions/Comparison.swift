import JSON

/// How values are compared.
enum Comparison {
    /// Numbers are equal by what they mean: `1 == 1.0`.
    static func areEqual(_ left: JSON, _ right: JSON) -> Bool {
        switch (left, right) {
        case (.int, .double), (.double, .int): return left.double == right.double
        case (.array(let left), .array(let right)):
            return left.count == right.count && zip(left, right).allSatisfy { areEqual($0, $1) }
        case (.object(let left), .object(let right)):
            return left.count == right.count
                && left.allSatisfy { key, value in right[key].map { areEqual(value, $0) } ?? false }
        default: return left == right
        }
    }

    /// Less than 0, 0, or more: numbers by size, texts by their characters.
    static func order(_ left: JSON, _ right: JSON, at offset: Int) throws(ExpressionError) -> Int {
        if let left = left.int, let right = right.int { return left < right ? -1 : left > right ? 1 : 0 }
        if let left = left.double, let right = right.double { return left < right ? -1 : left > right ? 1 : 0 }
        if let left = left.string, let right = right.string {
            return left == right ? 0 : left.unicodeScalars.lexicographicallyPrecedes(right.unicodeScalars) ? -1 : 1
        }
        throw ExpressionError("\(left.kindName) and \(right.kindName) have no order", at: offset)
    }

    /// Whether a list has an item, an object a member, or a text a part.
    static func contains(_ whole: JSON, _ part: JSON, at offset: Int) throws(ExpressionError) -> Bool {
        switch (whole, part) {
        case (.array(let items), _): return items.contains { areEqual($0, part) }
        case (.object(let members), .string(let name)): return members[name] != nil
        case (.string(let text), .string(let part)): return part.isEmpty || text.contains(part)
        case (.null, _): return false
        default:
            throw ExpressionError("\(part.kindName) cannot be looked for in \(whole.kindName)", at: offset)
        }
    }
}

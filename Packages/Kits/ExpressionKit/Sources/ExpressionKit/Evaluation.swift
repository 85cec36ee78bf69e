import JSON

/// Evaluates a syntax tree. Every value has a size limit, so that a few doublings cannot fill the memory.
struct Evaluation {
    let scope: Scope

    func value(of syntax: Syntax) throws(ExpressionError) -> JSON {
        switch syntax.content {
        case .value(let value): return value
        case .list(let items):
            var values: [JSON] = []
            for item in items { values.append(try value(of: item)) }
            return .array(values)
        case .name(let name):
            guard let value = scope.values[name] else {
                throw .unknown(name, among: scope.values.keys, at: syntax.offset)
            }
            return value
        case .member(let parent, let key):
            return try member(try value(of: key), of: try value(of: parent), at: key.offset)
        case .call(let function, let arguments):
            // The second value is not evaluated unless it is needed.
            if function.name == "default", let first = arguments.first, let second = arguments.last {
                let value = try value(of: first)
                return value.isNull ? try self.value(of: second) : value
            }
            var values: [JSON] = []
            for argument in arguments { values.append(try value(of: argument)) }
            return try function.run(Arguments(function: function, values: values, scope: scope, offset: syntax.offset))
        case .not(let operand): return .bool(try !bool(operand, "!"))
        case .negative(let operand):
            return try Arithmetic(offset: syntax.offset).minus(.int(0), try value(of: operand))
        case .choice(let condition, let first, let second):
            return try value(of: try bool(condition, "?") ? first : second)
        case .binary(let sign, let left, let right): return try binary(sign, left, right, at: syntax.offset)
        }
    }

    private func bool(_ syntax: Syntax, _ sign: String) throws(ExpressionError) -> Bool {
        let value = try value(of: syntax)
        guard let bool = value.bool else {
            throw ExpressionError("'\(sign)' needs true or false, not \(value.kindName)", at: syntax.offset)
        }
        return bool
    }

    /// A member that does not exist is null, and so are its members.
    private func member(_ key: JSON, of parent: JSON, at offset: Int) throws(ExpressionError) -> JSON {
        switch (parent, key) {
        case (.null, _): return .null
        case (.object(let members), .string(let name)): return members[name] ?? .null
        case (.array(let items), .int(let index)):
            let place = index < 0 ? items.count + index : index
            return items.indices.contains(place) ? items[place] : .null
        // The key may be a name written after a dot, as in `steps.ask.results.0`.
        case (.array, .string), (.object, _):
            throw ExpressionError("\(parent.kindName) has no index \(key.text())", at: offset)
        default: throw ExpressionError("\(parent.kindName) has no members", at: offset)
        }
    }

    private func binary(
        _ sign: Operator, _ left: Syntax, _ right: Syntax, at offset: Int
    ) throws(ExpressionError) -> JSON {
        switch sign {
        case .or: return .bool(try bool(left, "||") ? true : try bool(right, "||"))
        case .and: return .bool(try bool(left, "&&") ? try bool(right, "&&") : false)
        default: break
        }
        let (left, right) = (try value(of: left), try value(of: right))
        let arithmetic = Arithmetic(offset: offset)
        switch sign {
        case .equal: return .bool(Comparison.areEqual(left, right))
        case .unequal: return .bool(!Comparison.areEqual(left, right))
        case .less: return .bool(try Comparison.order(left, right, at: offset) < 0)
        case .atMost: return .bool(try Comparison.order(left, right, at: offset) <= 0)
        case .greater: return .bool(try Comparison.order(left, right, at: offset) > 0)
        case .atLeast: return .bool(try Comparison.order(left, right, at: offset) >= 0)
        case .within: return .bool(try Comparison.contains(right, left, at: offset))
        case .join: return try bounded(left.plainText + right.plainText, at: offset)
        case .plus: return try arithmetic.plus(left, right)
        case .minus: return try arithmetic.minus(left, right)
        case .times: return try arithmetic.times(left, right)
        case .divided: return try arithmetic.divided(left, right)
        case .remainder: return try arithmetic.remainder(left, right)
        case .or, .and: return .null
        }
    }

    private func bounded(_ text: String, at offset: Int) throws(ExpressionError) -> JSON {
        guard text.utf8.count <= scope.limit else { throw .tooLarge(scope.limit, at: offset) }
        return .string(text)
    }
}

extension JSON {
    /// The value inside a text: a text unchanged, nothing for null, anything else as JSON.
    var plainText: String {
        switch self {
        case .string(let text): text
        case .null: ""
        default: text()
        }
    }
}

/// Arithmetic. Integers stay integers and never wrap around.
struct Arithmetic {
    let offset: Int

    func plus(_ left: JSON, _ right: JSON) throws(ExpressionError) -> JSON {
        if left.string != nil || right.string != nil {
            throw ExpressionError("'+' adds numbers; use '~' to join texts", at: offset)
        }
        return try number("+", left, right, { $0.addingReportingOverflow($1) }, +)
    }

    func minus(_ left: JSON, _ right: JSON) throws(ExpressionError) -> JSON {
        try number("-", left, right, { $0.subtractingReportingOverflow($1) }, -)
    }

    func times(_ left: JSON, _ right: JSON) throws(ExpressionError) -> JSON {
        try number("*", left, right, { $0.multipliedReportingOverflow(by: $1) }, *)
    }

    /// An integer if there is no remainder.
    func divided(_ left: JSON, _ right: JSON) throws(ExpressionError) -> JSON {
        if let left = left.int, let right = right.int, right != 0 {
            let (quotient, remainder) = right == -1 ? (0, 1) : left.quotientAndRemainder(dividingBy: right)
            if remainder == 0 { return .int(quotient) }
        }
        if right.double == 0 { throw ExpressionError("division by zero", at: offset) }
        return try number("/", left, right, { _, _ in (0, true) }, /)
    }

    func remainder(_ left: JSON, _ right: JSON) throws(ExpressionError) -> JSON {
        guard let left = left.int, let right = right.int else {
            throw ExpressionError("'%' needs whole numbers", at: offset)
        }
        if right == 0 { throw ExpressionError("division by zero", at: offset) }
        return .int(right == -1 ? 0 : left % right)
    }

    private func number(
        _ sign: String, _ left: JSON, _ right: JSON, _ whole: (Int, Int) -> (partialValue: Int, overflow: Bool),
        _ fraction: (Double, Double) -> Double
    ) throws(ExpressionError) -> JSON {
        if let left = left.int, let right = right.int {
            let result = whole(left, right)
            if !result.overflow { return .int(result.partialValue) }
        }
        guard let left = left.double, let right = right.double else {
            let wrong = left.double == nil ? left : right
            throw ExpressionError("'\(sign)' needs numbers, not \(wrong.kindName)", at: offset)
        }
        let result = fraction(left, right)
        guard result.isFinite else { throw ExpressionError("the number is too large", at: offset) }
        return .double(result)
    }
}

/// Compares values.
enum Comparison {
    /// Numbers are equal if their values are: `1 == 1.0`.
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

    /// Negative, zero or positive. Numbers are ordered by value, texts by their characters.
    static func order(_ left: JSON, _ right: JSON, at offset: Int) throws(ExpressionError) -> Int {
        if let left = left.int, let right = right.int { return left < right ? -1 : left > right ? 1 : 0 }
        if let left = left.double, let right = right.double { return left < right ? -1 : left > right ? 1 : 0 }
        if let left = left.string, let right = right.string {
            return left == right ? 0 : left.unicodeScalars.lexicographicallyPrecedes(right.unicodeScalars) ? -1 : 1
        }
        throw ExpressionError("cannot compare \(left.kindName) with \(right.kindName)", at: offset)
    }

    /// Whether a list has an item, an object a member, or a text a substring.
    static func contains(_ whole: JSON, _ part: JSON, at offset: Int) throws(ExpressionError) -> Bool {
        switch (whole, part) {
        case (.array(let items), _): return items.contains { areEqual($0, part) }
        case (.object(let members), .string(let name)): return members[name] != nil
        case (.string(let text), .string(let part)): return part.isEmpty || text.contains(part)
        case (.null, _): return false
        default:
            throw ExpressionError("cannot search for \(part.kindName) in \(whole.kindName)", at: offset)
        }
    }
}

public import JSON

// What a search needs, which lets a database look for a part of an expression.
extension Expression {
    /// A comparison of a name with a constant, such as `duration > 2`.
    public struct Comparison: Sendable, Hashable {
        /// How the two are compared.
        public enum Sign: Sendable, Hashable {
            case equal, unequal, less, atMost, greater, atLeast
        }

        /// The name, and the members after it.
        public let path: [String]
        /// How it is compared, with the name on the left.
        public let sign: Sign
        /// The constant.
        public let constant: JSON
    }

    /// The expressions that `&&` joins at the top, in their order. It is true where all of them are.
    public var conjuncts: [Expression] {
        var (parts, waiting): ([Expression], [Syntax]) = ([], [syntax])
        while let next = waiting.popLast() {
            if case .binary(.and, let left, let right) = next.content {
                waiting += [right, left]
            } else {
                parts.append(Expression(next, text: text))
            }
        }
        return parts
    }

    /// The comparison that the whole expression is; nil if it is something else.
    public var comparison: Comparison? {
        guard case .binary(let written, let left, let right) = syntax.content, let sign = written.comparison else {
            return nil
        }
        if let path = left.constantPath, case .value(let constant) = right.content {
            return Comparison(path: path, sign: sign, constant: constant)
        }
        if let path = right.constantPath, case .value(let constant) = left.content {
            return Comparison(path: path, sign: sign.mirrored, constant: constant)
        }
        return nil
    }

    /// Throws, as evaluation would, if the expression refers to a name that is not known.
    public func requireNames(among known: some Collection<String>) throws(ExpressionError) {
        for reference in references {
            guard let name = reference.path.first, !known.contains(name) else { continue }
            throw .unknown(name, among: known, at: reference.offset)
        }
    }

    /// The same expression with other constants where a name is compared with one, so that `start > '2h'` can mean a time.
    /// Null stays.
    ///
    /// - Parameters:
    ///   - wanted: what the name is compared with, for the error.
    ///   - convert: the other constant; nil if it cannot be one.
    public func converting(
        constantsFor name: String, to wanted: String, _ convert: (JSON) -> JSON?
    ) throws(ExpressionError) -> Expression {
        let changed = try syntax.mapping { (part) throws(ExpressionError) in
            guard case .binary(let sign, let left, let right) = part.content, sign.comparison != nil else {
                return part
            }
            func converted(_ side: Syntax) throws(ExpressionError) -> Syntax {
                guard case .value(let constant) = side.content, !constant.isNull else { return side }
                guard let value = convert(constant) else {
                    throw ExpressionError(
                        "'\(name)' is compared with \(wanted), not \(constant.text())", at: side.offset)
                }
                return Syntax(content: .value(value), offset: side.offset)
            }
            if left.constantPath == [name] {
                return Syntax(content: .binary(sign, left, try converted(right)), offset: part.offset)
            }
            if right.constantPath == [name] {
                return Syntax(content: .binary(sign, try converted(left), right), offset: part.offset)
            }
            return part
        }
        return Expression(changed, text: text)
    }
}

extension Operator {
    fileprivate var comparison: Expression.Comparison.Sign? {
        switch self {
        case .equal: .equal
        case .unequal: .unequal
        case .less: .less
        case .atMost: .atMost
        case .greater: .greater
        case .atLeast: .atLeast
        default: nil
        }
    }
}

extension Expression.Comparison.Sign {
    /// The same with the sides exchanged.
    fileprivate var mirrored: Self {
        switch self {
        case .equal: .equal
        case .unequal: .unequal
        case .less: .greater
        case .atMost: .atLeast
        case .greater: .less
        case .atLeast: .atMost
        }
    }
}

import JSON

/// Works out the value of a tree. Every value is bounded, so that a few doublings cannot fill the memory.
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
                let known = scope.values.keys.sorted().joined(separator: ", ")
                throw ExpressionError("there is nothing called '\(name)'; there is \(known)", at: syntax.offset)
            }
            return value
        case .member(let parent, let key):
            return try member(try value(of: key), of: try value(of: parent), at: key.offset)
        case .call(let function, let arguments):
            // What is not needed has not to make sense.
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
            throw ExpressionError("'\(sign)' needs true or false and was given \(value.kindName)", at: syntax.offset)
        }
        return bool
    }

    /// What does not exist is null, as is any part of it.
    private func member(_ key: JSON, of parent: JSON, at offset: Int) throws(ExpressionError) -> JSON {
        switch (parent, key) {
        case (.null, _): return .null
        case (.object(let members), .string(let name)): return members[name] ?? .null
        case (.array(let items), .int(let index)):
            let place = index < 0 ? items.count + index : index
            return items.indices.contains(place) ? items[place] : .null
        // A name that was written after a dot, as in `steps.ask.results.0`.
        case (.array, .string), (.object, _):
            throw ExpressionError("\(parent.kindName) has no place \(key.text())", at: offset)
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

extension ExpressionError {
    static func tooLarge(_ limit: Int, at offset: Int) -> ExpressionError {
        ExpressionError("the value would be larger than \(limit) bytes", at: offset)
    }
}

extension JSON {
    /// The value inside of a text: texts as they are, nothing for null, all else as JSON.
    var plainText: String {
        switch self {
        case .string(let text): text
        case .null: ""
        default: text()
        }
    }
}

import Capabilities
import JSON

/// Reads an expression into a tree. Each rule is one function, from the loosest to the closest.
struct ExpressionParser {
    private var tokenizer: Tokenizer
    private(set) var token: Token
    private var depth = 0

    private static let deepest = 64

    init(_ scalars: [Unicode.Scalar], from place: Int = 0) throws(ExpressionError) {
        tokenizer = Tokenizer(scalars, from: place)
        token = try tokenizer.next()
    }

    /// An expression up to what cannot belong to it.
    mutating func expression() throws(ExpressionError) -> Syntax {
        if depth == Self.deepest {
            throw ExpressionError("the expression nests deeper than \(Self.deepest) levels", at: token.offset)
        }
        depth += 1
        defer { depth -= 1 }
        let condition = try binary(0)
        guard try accept("?") else { return condition }
        let first = try expression()
        try expect(":")
        let second = try expression()
        return Syntax(content: .choice(condition, first, second), offset: condition.offset)
    }

    private mutating func binary(_ level: Int) throws(ExpressionError) -> Syntax {
        guard level < Operator.levels.count else { return try unary() }
        var left = try binary(level + 1)
        var count = 0
        while let sign = Operator.levels[level].first(where: { isNext($0.rawValue) }) {
            count += 1
            if count > 1_000 { throw ExpressionError("the expression is too long", at: token.offset) }
            let offset = token.offset
            token = try tokenizer.next()
            left = Syntax(content: .binary(sign, left, try binary(level + 1)), offset: offset)
        }
        return left
    }

    private mutating func unary() throws(ExpressionError) -> Syntax {
        let offset = token.offset
        // Signs in a row nest as brackets do.
        if isNext("!") || isNext("-") {
            if depth == Self.deepest {
                throw ExpressionError("the expression nests deeper than \(Self.deepest) levels", at: offset)
            }
            depth += 1
            defer { depth -= 1 }
            if try accept("!") { return Syntax(content: .not(try unary()), offset: offset) }
            try expect("-")
            return Syntax(content: .negative(try unary()), offset: offset)
        }
        var value = try primary()
        var count = 0
        while true {
            count += 1
            if count > 1_000 { throw ExpressionError("the expression is too long", at: token.offset) }
            if try accept(".") {
                guard case .name(let name) = token.kind else {
                    throw ExpressionError(
                        "the name of a member was expected and \(token.words) found", at: token.offset)
                }
                let key = Syntax(content: .value(.string(name)), offset: token.offset)
                token = try tokenizer.next()
                value = Syntax(content: .member(value, key), offset: value.offset)
            } else if try accept("[") {
                let key = try expression()
                try expect("]")
                value = Syntax(content: .member(value, key), offset: value.offset)
            } else {
                return value
            }
        }
    }

    private mutating func primary() throws(ExpressionError) -> Syntax {
        let first = token
        switch first.kind {
        case .number(let text):
            token = try tokenizer.next()
            do { return Syntax(content: .value(try JSON(parsing: Array(text.utf8))), offset: first.offset) } catch {
                throw ExpressionError("'\(text)' is no number", at: first.offset)
            }
        case .text(let text):
            token = try tokenizer.next()
            return Syntax(content: .value(.string(text)), offset: first.offset)
        case .name(let name):
            token = try tokenizer.next()
            return try named(name, first.offset)
        case .sign("("):
            try expect("(")
            let value = try expression()
            try expect(")")
            return value
        case .sign("["):
            try expect("[")
            return Syntax(content: .list(try items(until: "]")), offset: first.offset)
        case .sign, .end:
            throw ExpressionError("a value was expected and \(first.words) found", at: first.offset)
        }
    }

    private mutating func named(_ name: String, _ offset: Int) throws(ExpressionError) -> Syntax {
        switch name {
        case "true": return Syntax(content: .value(.bool(true)), offset: offset)
        case "false": return Syntax(content: .value(.bool(false)), offset: offset)
        case "null": return Syntax(content: .value(.null), offset: offset)
        default: break
        }
        guard try accept("(") else { return Syntax(content: .name(name), offset: offset) }
        guard let function = Function.all[name] else {
            let near = Suggestion.text(for: name, among: Function.all.keys.sorted())
            throw ExpressionError("there is no function '\(name)'\(near)", at: offset)
        }
        let arguments = try items(until: ")")
        guard function.count.contains(arguments.count) else {
            throw ExpressionError("\(function.usage) was given \(arguments.count) values", at: offset)
        }
        return Syntax(content: .call(function, arguments), offset: offset)
    }

    private mutating func items(until end: String) throws(ExpressionError) -> [Syntax] {
        var items: [Syntax] = []
        while try !accept(end) {
            if !items.isEmpty { try expect(",") }
            items.append(try expression())
        }
        return items
    }

    // MARK: Signs

    private func isNext(_ sign: String) -> Bool {
        token.kind == .sign(sign) || sign == "in" && token.kind == .name(sign)
    }

    private mutating func accept(_ sign: String) throws(ExpressionError) -> Bool {
        guard token.kind == .sign(sign) else { return false }
        token = try tokenizer.next()
        return true
    }

    private mutating func expect(_ sign: String) throws(ExpressionError) {
        guard try accept(sign) else {
            throw ExpressionError("'\(sign)' was expected and \(token.words) found", at: token.offset)
        }
    }
}

import Capabilities
import JSON

/// Parses an expression into a tree. Each rule is one function, from the loosest to the tightest binding.
struct ExpressionParser {
    private var tokenizer: Tokenizer
    private(set) var token: Token
    private var depth = 0

    private static let deepest = 64

    init(_ scalars: [Unicode.Scalar], from place: Int = 0) throws(ExpressionError) {
        tokenizer = Tokenizer(scalars, from: place)
        token = try tokenizer.next()
    }

    /// Parses an expression up to the first token that does not belong to it.
    mutating func expression() throws(ExpressionError) -> Syntax {
        if depth == Self.deepest {
            throw ExpressionError("the expression is nested deeper than \(Self.deepest) levels", at: token.offset)
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
        // Unary signs in a row count as nesting, as brackets do.
        if isNext("!") || isNext("-") {
            if depth == Self.deepest {
                throw ExpressionError("the expression is nested deeper than \(Self.deepest) levels", at: offset)
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
                        "expected a member name, found \(token.words)", at: token.offset)
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
                throw ExpressionError("'\(text)' is not a valid number", at: first.offset)
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
            throw ExpressionError("expected a value, found \(first.words)", at: first.offset)
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
            throw ExpressionError("unknown function '\(name)'\(near)", at: offset)
        }
        let arguments = try items(until: ")")
        guard function.count.contains(arguments.count) else {
            throw ExpressionError("\(function.usage) was called with \(arguments.count) arguments", at: offset)
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

    // MARK: Tokens

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
            throw ExpressionError("expected '\(sign)', found \(token.words)", at: token.offset)
        }
    }
}

/// A binary operator.
enum Operator: String, Sendable {
    case or = "||"
    case and = "&&"
    case equal = "=="
    case unequal = "!="
    case less = "<"
    case atMost = "<="
    case greater = ">"
    case atLeast = ">="
    case within = "in"
    case join = "~"
    case plus = "+"
    case minus = "-"
    case times = "*"
    case divided = "/"
    case remainder = "%"

    /// The loosest first. Operators of one level are left-associative.
    static let levels: [[Operator]] = [
        [.or], [.and], [.equal, .unequal], [.less, .atMost, .greater, .atLeast, .within], [.join], [.plus, .minus],
        [.times, .divided, .remainder],
    ]
}

/// Splits an expression into tokens.
struct Tokenizer {
    private let scalars: [Unicode.Scalar]
    private var place: Int

    /// Longest first, so that `<=` is not read as `<`.
    private static let signs = [
        "}}", "||", "&&", "==", "!=", "<=", ">=", "<", ">", "!", "+", "-", "*", "/", "%", "~", "?", ":", ".", ",", "(",
        ")",
        "[", "]",
    ].map { Array($0.unicodeScalars) }

    init(_ scalars: [Unicode.Scalar], from place: Int = 0) {
        self.scalars = scalars
        self.place = place
    }

    mutating func next() throws(ExpressionError) -> Token {
        while place < scalars.count, [" ", "\t", "\n", "\r"].contains(scalars[place]) { place += 1 }
        let start = place
        guard place < scalars.count else { return Token(kind: .end, offset: start) }
        switch scalars[place] {
        case "'", "\"": return Token(kind: .text(try text()), offset: start)
        case "0"..."9": return Token(kind: .number(number()), offset: start)
        case "a"..."z", "A"..."Z", "_":
            return Token(kind: .name(take { Self.isName($0) }), offset: start)
        default:
            guard let sign = Self.signs.first(where: { scalars[place...].starts(with: $0) }) else {
                throw ExpressionError("'\(scalars[place].escaped(asASCII: false))' is not valid here", at: start)
            }
            place += sign.count
            return Token(kind: .sign(String(String.UnicodeScalarView(sign))), offset: start)
        }
    }

    private mutating func take(while fits: (Unicode.Scalar) -> Bool) -> String {
        let start = place
        while place < scalars.count, fits(scalars[place]) { place += 1 }
        return String(String.UnicodeScalarView(scalars[start..<place]))
    }

    /// A hyphen belongs to a name if a letter follows it, as in `steps.find-todos`. Subtraction needs spaces around it.
    private static func isName(_ scalar: Unicode.Scalar) -> Bool {
        ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar) || ("0"..."9").contains(scalar)
            || scalar == "_" || scalar == "-"
    }

    private mutating func number() -> String {
        var text = take { ("0"..."9").contains($0) }
        // In `a[0].b`, 0 has no fraction.
        if place + 1 < scalars.count, scalars[place] == ".", ("0"..."9").contains(scalars[place + 1]) {
            place += 1
            text += "." + take { ("0"..."9").contains($0) }
        }
        return text
    }

    /// A text in single or double quotes. A doubled quote stands for one quote; nothing else is special.
    private mutating func text() throws(ExpressionError) -> String {
        let (start, quote) = (place, scalars[place])
        var text = String.UnicodeScalarView()
        place += 1
        while place < scalars.count {
            let scalar = scalars[place]
            place += 1
            if scalar == quote {
                guard place < scalars.count, scalars[place] == quote else { return String(text) }
                place += 1
            }
            text.append(scalar)
        }
        throw ExpressionError("the text that begins here is not closed; add \(quote)", at: start)
    }
}

/// A token of an expression.
struct Token: Hashable {
    enum Kind: Hashable {
        case number(String)
        case text(String)
        case name(String)
        /// An operator or a bracket.
        case sign(String)
        case end
    }

    let kind: Kind
    let offset: Int

    /// The token as error messages show it.
    var words: String {
        switch kind {
        case .number(let text), .name(let text), .sign(let text): "'\(text)'"
        case .text: "a text"
        case .end: "the end"
        }
    }
}

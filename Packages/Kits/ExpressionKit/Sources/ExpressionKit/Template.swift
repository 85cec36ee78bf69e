public import JSON

/// A text with expressions: `Review ${{ inputs.branch }}`.
///
/// If the text is a single expression, the type of its value is kept. Otherwise values are inserted as text. An
/// inserted value is never searched for expressions.
public struct Template: Sendable {
    /// A part of the text.
    public enum Piece: Sendable {
        case text(String)
        /// With its position in the text, in Unicode scalars.
        case expression(Expression, offset: Int)
    }

    /// The parts in order. A text without expressions has one part, even if it is empty.
    public let pieces: [Piece]

    /// Whether the text has no expressions.
    public var isPlain: Bool { expressions.isEmpty }

    /// Every expression, with its position in the text in Unicode scalars.
    public var expressions: [(expression: Expression, offset: Int)] {
        pieces.compactMap { if case .expression(let expression, let offset) = $0 { (expression, offset) } else { nil } }
    }

    /// Parses the text. Throws the first error in one of its expressions, with its position in the whole text.
    public init(parsing text: String) throws(ExpressionError) {
        guard text.contains("${{") else {
            pieces = [.text(text)]
            return
        }
        let scalars = Array(text.unicodeScalars)
        var pieces: [Piece] = []
        var plain = String.UnicodeScalarView()
        var place = 0
        while place < scalars.count {
            guard scalars[place...].starts(with: ["$", "{", "{"]) else {
                plain.append(scalars[place])
                place += 1
                continue
            }
            var parser = try ExpressionParser(scalars, from: place + 3)
            let syntax = try parser.expression()
            guard parser.token.kind == .sign("}}") else {
                throw ExpressionError("expected '}}', found \(parser.token.words)", at: parser.token.offset)
            }
            let end = parser.token.offset
            guard end - place <= Expression.longest else {
                throw ExpressionError("the expression is longer than \(Expression.longest) characters", at: place)
            }
            if !plain.isEmpty { pieces.append(.text(String(plain))) }
            plain = String.UnicodeScalarView()
            let source = String(String.UnicodeScalarView(scalars[(place + 3)..<end]))
            pieces.append(.expression(Expression(syntax, text: source), offset: place))
            place = end + 2
        }
        if !plain.isEmpty { pieces.append(.text(String(plain))) }
        self.pieces = pieces
    }

    /// The text with the values inserted; for a single expression, its value.
    public func value(in scope: Scope) throws(ExpressionError) -> JSON {
        if pieces.count == 1, case .expression(let expression, _) = pieces[0] { return try expression.value(in: scope) }
        var text = ""
        for piece in pieces {
            switch piece {
            case .text(let plain): text += plain
            case .expression(let expression, let offset):
                text += try expression.value(in: scope).plainText
                if text.utf8.count > scope.limit { throw .tooLarge(scope.limit, at: offset) }
            }
        }
        return .string(text)
    }
}

/// A value whose texts may contain expressions, such as `with` of a step.
public indirect enum JSONTemplate: Sendable {
    case value(JSON)
    case text(Template)
    case list([JSONTemplate])
    case object([(name: String, value: JSONTemplate)])

    /// An error in one of the texts, and the path to it.
    public struct Problem: Error, Sendable, Hashable {
        /// The keys and indices that lead to the text; empty if the whole value is the text.
        public var path: [String]
        /// The error, with its position in that text.
        public let error: ExpressionError
    }

    /// Parses all texts of a value. Throws the first error.
    public init(_ json: JSON) throws(Problem) {
        switch json {
        case .string(let text):
            do throws(ExpressionError) {
                let template = try Template(parsing: text)
                self = template.isPlain ? .value(json) : .text(template)
            } catch {
                throw Problem(path: [], error: error)
            }
        case .array(let items):
            var list: [JSONTemplate] = []
            for (index, item) in items.enumerated() { list.append(try Self.make(item, under: String(index))) }
            self = .list(list)
        case .object(let members):
            var object: [(String, JSONTemplate)] = []
            for (name, value) in members { object.append((name, try Self.make(value, under: name))) }
            self = .object(object)
        default: self = .value(json)
        }
    }

    private static func make(_ json: JSON, under name: String) throws(Problem) -> JSONTemplate {
        do throws(Problem) {
            return try JSONTemplate(json)
        } catch {
            throw Problem(path: [name] + error.path, error: error.error)
        }
    }

    /// The value with all expressions evaluated. Throws the first error.
    public func value(in scope: Scope) throws(Problem) -> JSON {
        switch self {
        case .value(let value): return value
        case .text(let template):
            do throws(ExpressionError) { return try template.value(in: scope) } catch {
                throw Problem(path: [], error: error)
            }
        case .list(let items):
            var list: [JSON] = []
            for (index, item) in items.enumerated() { list.append(try Self.value(of: item, in: scope, String(index))) }
            return .array(list)
        case .object(let members):
            var object = JSONObject()
            for (name, value) in members { object.append(name, try Self.value(of: value, in: scope, name)) }
            return .object(object)
        }
    }

    private static func value(of item: JSONTemplate, in scope: Scope, _ name: String) throws(Problem) -> JSON {
        do throws(Problem) {
            return try item.value(in: scope)
        } catch {
            throw Problem(path: [name] + error.path, error: error.error)
        }
    }

    /// Every expression with the path to its text.
    public var expressions: [(path: [String], expression: Expression, offset: Int)] {
        switch self {
        case .value: return []
        case .text(let template): return template.expressions.map { ([], $0.expression, $0.offset) }
        case .list(let items):
            return items.enumerated().flatMap { index, item in
                item.expressions.map { ([String(index)] + $0.path, $0.expression, $0.offset) }
            }
        case .object(let members):
            return members.flatMap { name, value in
                value.expressions.map { ([name] + $0.path, $0.expression, $0.offset) }
            }
        }
    }
}

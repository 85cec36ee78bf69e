public import JSON

/// A text with expressions in it: `Review ${{ inputs.branch }}`.
///
/// A text that is one expression and nothing else keeps its value's kind. Inside of other text a value is put in as it
/// reads, and what it says is never looked through for expressions again.
public struct Template: Sendable {
    public enum Piece: Sendable {
        case text(String)
        /// With where it begins in the text, in Unicode scalars.
        case expression(Expression, offset: Int)
    }

    public let pieces: [Piece]

    /// Whether there is an expression in it at all.
    public var isPlain: Bool { expressions.isEmpty }

    public var expressions: [(expression: Expression, offset: Int)] {
        pieces.compactMap { if case .expression(let expression, let offset) = $0 { (expression, offset) } else { nil } }
    }

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
                throw ExpressionError("'}}' was expected and \(parser.token.words) found", at: parser.token.offset)
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

    /// The text with the values in it; of a single expression the value itself.
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

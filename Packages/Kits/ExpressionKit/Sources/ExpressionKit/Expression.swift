public import JSON

/// A condition or a value, such as `steps.ask.result.text != '' && inputs.deep`.
///
/// Evaluation always ends: there are no loops and no user-defined functions, and every value has a size limit. A
/// missing member is null. An invalid operation, such as `1 + 'a'`, throws an error with its position. A value is never
/// parsed as an expression.
public struct Expression: Sendable {
    /// The text that it was parsed from, without the `${{ }}`.
    public let text: String
    let syntax: Syntax

    /// Parses an expression without the `${{ }}` around it.
    public init(parsing text: String) throws(ExpressionError) {
        let scalars = Array(text.unicodeScalars)
        guard scalars.count <= Self.longest else {
            throw ExpressionError("the expression is longer than \(Self.longest) characters", at: 0)
        }
        var parser = try ExpressionParser(scalars)
        syntax = try parser.expression()
        self.text = text
        if parser.token.kind != .end {
            throw ExpressionError("expected an operator, found \(parser.token.words)", at: parser.token.offset)
        }
    }

    init(_ syntax: Syntax, text: String) {
        self.syntax = syntax
        self.text = text
    }

    static let longest = 16_384

    /// The value in a scope.
    public func value(in scope: Scope) throws(ExpressionError) -> JSON {
        try Evaluation(scope: scope).value(of: syntax)
    }

    /// The value in a scope. Throws if it is not true or false.
    public func bool(in scope: Scope) throws(ExpressionError) -> Bool {
        let value = try value(in: scope)
        guard let bool = value.bool else {
            throw ExpressionError("the value must be true or false, not \(value.kindName)", at: syntax.offset)
        }
        return bool
    }

    /// A name that the expression refers to. Unknown names are found before anything runs.
    public struct Reference: Sendable, Hashable {
        /// The name, and the members after it as far as they are constant: `["steps", "ask", "result"]`.
        public let path: [String]
        /// The position of the name in the text, in Unicode scalars.
        public let offset: Int
    }

    /// Every name that it refers to, as often as it occurs.
    public var references: [Reference] {
        var found: [Reference] = []
        syntax.collect(into: &found)
        return found
    }

    /// The functions that the expression calls, such as `always`.
    public var functions: Set<String> {
        var found: Set<String> = []
        syntax.forEach { if case .call(let function, _) = $0.content { found.insert(function.name) } }
        return found
    }

    /// Every function, as the reference shows it.
    static var functionReference: [(usage: String, summary: String)] {
        Function.all.values.sorted { $0.name < $1.name }.map { ($0.usage, $0.summary) }
    }
}

/// The values that the names of an expression stand for.
public struct Scope: Sendable {
    /// The values by name, such as `inputs` and `steps`.
    public var values: [String: JSON]
    /// Whether everything that this depends on succeeded; nil where that is not defined.
    public var hasSucceeded: Bool?
    /// The maximum size of a value in bytes.
    public var limit = 8 << 20

    /// - Parameter hasSucceeded: whether everything that this depends on succeeded; nil where that is not defined.
    public init(_ values: [String: JSON] = [:], hasSucceeded: Bool? = nil) {
        self.values = values
        self.hasSucceeded = hasSucceeded
    }
}

/// Why an expression cannot be parsed or evaluated.
public struct ExpressionError: Error, Sendable, Hashable {
    /// What is wrong, without the position.
    public let message: String
    /// The position in the text, in Unicode scalars.
    public let offset: Int

    init(_ message: String, at offset: Int) {
        self.message = message
        self.offset = offset
    }

    static func unknown(_ name: String, among known: some Collection<String>, at offset: Int) -> ExpressionError {
        ExpressionError(
            "unknown name '\(name)'; known names: \(known.sorted().joined(separator: ", "))", at: offset)
    }

    static func tooLarge(_ limit: Int, at offset: Int) -> ExpressionError {
        ExpressionError("the value would be larger than \(limit) bytes", at: offset)
    }
}

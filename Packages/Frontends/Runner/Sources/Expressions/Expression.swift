public import JSON

/// A small piece of a bundle that has a value: `steps.ask.result.text != '' && inputs.deep`.
///
/// It always ends: there are no loops and no functions of one's own, and every value has a limit. What does not exist is
/// null; what makes no sense, such as `1 + 'a'`, is an error with its place. A value never becomes an expression.
public struct Expression: Sendable {
    public let text: String
    let syntax: Syntax

    /// Reads the text of an expression, without the marks around it.
    public init(parsing text: String) throws(ExpressionError) {
        let scalars = Array(text.unicodeScalars)
        guard scalars.count <= Self.longest else {
            throw ExpressionError("the expression is longer than \(Self.longest) characters", at: 0)
        }
        var parser = try ExpressionParser(scalars)
        syntax = try parser.expression()
        self.text = text
        if parser.token.kind != .end {
            throw ExpressionError("an operator was expected and \(parser.token.words) found", at: parser.token.offset)
        }
    }

    init(_ syntax: Syntax, text: String) {
        self.syntax = syntax
        self.text = text
    }

    static let longest = 16_384

    /// Its value in a scope.
    public func value(in scope: Scope) throws(ExpressionError) -> JSON {
        try Evaluation(scope: scope).value(of: syntax)
    }

    /// Its value where it has to be true or false.
    public func bool(in scope: Scope) throws(ExpressionError) -> Bool {
        let value = try value(in: scope)
        guard let bool = value.bool else {
            throw ExpressionError("the value has to be true or false and is \(value.kindName)", at: syntax.offset)
        }
        return bool
    }

    /// What it refers to, so that a name that nothing has is found before anything runs.
    public struct Reference: Sendable, Hashable {
        /// The name, and the members after it as far as they are written out: `["steps", "ask", "result"]`.
        public let path: [String]
        public let offset: Int
    }

    public var references: [Reference] {
        var found: [Reference] = []
        syntax.collect(into: &found)
        return found
    }

    /// The functions that it calls, such as `always`.
    public var functions: Set<String> {
        var found: Set<String> = []
        syntax.forEach { if case .call(let function, _) = $0.content { found.insert(function.name) } }
        return found
    }
}

extension Syntax {
    fileprivate func collect(into found: inout [Expression.Reference]) {
        if let path = constantPath { return found.append(.init(path: path, offset: offset)) }
        children.forEach { $0.collect(into: &found) }
    }

    /// `a.b["c"][0]` as a path. What is looked up by a value that is not known ends it.
    private var constantPath: [String]? {
        switch content {
        case .name(let name): return [name]
        case .member(let parent, let key):
            guard let path = parent.constantPath, case .value(let value) = key.content else { return nil }
            if let name = value.string { return path + [name] }
            return value.int.map { path + [String($0)] }
        default: return nil
        }
    }

    fileprivate func forEach(_ visit: (Syntax) -> Void) {
        visit(self)
        children.forEach { $0.forEach(visit) }
    }

    private var children: [Syntax] {
        switch content {
        case .value, .name: []
        case .list(let items): items
        case .member(let parent, let key): [parent, key]
        case .call(_, let arguments): arguments
        case .not(let value), .negative(let value): [value]
        case .binary(_, let left, let right): [left, right]
        case .choice(let condition, let first, let second): [condition, first, second]
        }
    }
}

/// What the names of an expression stand for.
public struct Scope: Sendable {
    /// The values by their names, such as `inputs` and `steps`.
    public var values: [String: JSON]
    /// Whether all that this depends on went well; nil where that makes no sense.
    public var hasSucceeded: Bool?
    /// How many bytes a value may grow to.
    public var limit = 8 << 20

    public init(_ values: [String: JSON] = [:], hasSucceeded: Bool? = nil) {
        self.values = values
        self.hasSucceeded = hasSucceeded
    }
}

/// Why an expression cannot be read, or has no value.
public struct ExpressionError: Error, Sendable, Hashable {
    public let message: String
    /// Where in the text, in Unicode scalars from its beginning.
    public let offset: Int

    public init(_ message: String, at offset: Int) {
        self.message = message
        self.offset = offset
    }
}

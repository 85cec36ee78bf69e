import JSON

/// An expression as a tree.
struct Syntax: Sendable {
    indirect enum Content: Sendable {
        case value(JSON)
        case list([Syntax])
        /// A name of the scope.
        case name(String)
        case member(Syntax, Syntax)
        case call(Function, [Syntax])
        case not(Syntax)
        case negative(Syntax)
        case binary(Operator, Syntax, Syntax)
        case choice(Syntax, Syntax, Syntax)
    }

    let content: Content
    /// The position of its first character.
    let offset: Int

    func collect(into found: inout [Expression.Reference]) {
        if let path = constantPath { return found.append(.init(path: path, offset: offset)) }
        children.forEach { $0.collect(into: &found) }
    }

    /// `a.b["c"][0]` as a path. Nil if a key is not constant.
    var constantPath: [String]? {
        switch content {
        case .name(let name): return [name]
        case .member(let parent, let key):
            guard let path = parent.constantPath, case .value(let value) = key.content else { return nil }
            if let name = value.string { return path + [name] }
            return value.int.map { path + [String($0)] }
        default: return nil
        }
    }

    func forEach(_ visit: (Syntax) -> Void) {
        visit(self)
        children.forEach { $0.forEach(visit) }
    }

    /// The tree with each part replaced, the innermost first.
    func mapping(_ change: (Syntax) throws(ExpressionError) -> Syntax) throws(ExpressionError) -> Syntax {
        func each(_ parts: [Syntax]) throws(ExpressionError) -> [Syntax] {
            var mapped: [Syntax] = []
            for part in parts { mapped.append(try part.mapping(change)) }
            return mapped
        }
        let mapped: Content =
            switch content {
            case .value, .name: content
            case .list(let items): .list(try each(items))
            case .member(let parent, let key): .member(try parent.mapping(change), try key.mapping(change))
            case .call(let function, let arguments): .call(function, try each(arguments))
            case .not(let operand): .not(try operand.mapping(change))
            case .negative(let operand): .negative(try operand.mapping(change))
            case .binary(let sign, let left, let right):
                .binary(sign, try left.mapping(change), try right.mapping(change))
            case .choice(let condition, let first, let second):
                .choice(
                    try condition.mapping(change), try first.mapping(change), try second.mapping(change))
            }
        return try change(Syntax(content: mapped, offset: offset))
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

import JSON

/// An expression as a tree.
struct Syntax: Sendable {
    indirect enum Content: Sendable {
        case value(JSON)
        case list([Syntax])
        /// One of the names that a scope has.
        case name(String)
        case member(Syntax, Syntax)
        case call(Function, [Syntax])
        case not(Syntax)
        case negative(Syntax)
        case binary(Operator, Syntax, Syntax)
        case choice(Syntax, Syntax, Syntax)
    }

    let content: Content
    /// Where it begins.
    let offset: Int
}

/// What stands between two values.
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

    /// The loosest first; those of a level are read from left to right.
    static let levels: [[Operator]] = [
        [.or], [.and], [.equal, .unequal], [.less, .atMost, .greater, .atLeast, .within], [.join], [.plus, .minus],
        [.times, .divided, .remainder],
    ]
}

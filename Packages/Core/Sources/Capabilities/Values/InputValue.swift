public import JSON

/// A type with a declared shape.
public protocol Shaped: Sendable {
    /// The shape that every surface parses, checks, prints and documents.
    static var schema: Schema { get }
}

/// A type that a parameter or a setting can have.
public protocol InputValue: Shaped {
    /// The value from JSON that the schema accepted.
    init(json: JSON) throws(ValueError)
    /// The value when nothing was given, or nil when something must be.
    static var whenAbsent: Self? { get }
}

extension InputValue {
    public static var whenAbsent: Self? { nil }
}

/// A type that an action can give back, or that a default can be shown as.
public protocol OutputValue: Shaped {
    /// The value itself.
    var json: JSON { get }
    /// The exit code of a command that ends with this result: a doctor's findings are worth printing and still mean
    /// that something is wrong.
    var exit: ExitCode { get }
}

extension OutputValue {
    public var exit: ExitCode { .done }
}

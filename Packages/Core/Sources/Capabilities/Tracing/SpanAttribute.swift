public import JSON

/// The name of an attribute: a literal of the code, so that it takes no memory and is never a secret.
public struct SpanKey: Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
    private let name: StaticString

    @inlinable
    public init(stringLiteral name: StaticString) { self.init(name) }

    /// An attribute with this name.
    public init(_ name: StaticString) { self.name = name }

    public var description: String { "\(name)" }

    public static func == (left: SpanKey, right: SpanKey) -> Bool {
        // The same literal is usually at one place.
        if left.name.hasPointerRepresentation, right.name.hasPointerRepresentation,
            unsafe left.name.utf8Start == right.name.utf8Start,
            left.name.utf8CodeUnitCount == right.name.utf8CodeUnitCount
        {
            return true
        }
        guard left.name.hasPointerRepresentation == right.name.hasPointerRepresentation,
            !left.name.hasPointerRepresentation || left.name.utf8CodeUnitCount == right.name.utf8CodeUnitCount
        else { return false }
        return left.description == right.description
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(description) }
}

/// The value of an attribute.
public enum SpanValue: Sendable, Hashable {
    /// A text.
    case string(String)
    /// A whole number.
    case int(Int)
    /// A number.
    case double(Double)
    /// True or false.
    case bool(Bool)
    /// Several texts.
    case strings([String])

    /// The same as JSON.
    public var json: JSON {
        switch self {
        case .string(let text): .string(text)
        case .int(let number): .int(number)
        case .double(let number): .double(number)
        case .bool(let isTrue): .bool(isTrue)
        case .strings(let texts): .array(texts.map { .string($0) })
        }
    }

    /// The memory of its texts.
    var bytes: Int {
        switch self {
        case .string(let text): text.utf8.count
        case .strings(let texts): texts.reduce(0) { $0 + 16 + $1.utf8.count }
        case .int, .double, .bool: 0
        }
    }
}

extension SpanValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByBooleanLiteral
{
    public init(stringLiteral text: String) { self = .string(text) }
    public init(integerLiteral number: Int) { self = .int(number) }
    public init(floatLiteral number: Double) { self = .double(number) }
    public init(booleanLiteral isTrue: Bool) { self = .bool(isTrue) }
}

/// A fact about a span.
public struct SpanAttribute: Sendable, Hashable {
    /// Its name.
    public let key: SpanKey
    /// What it says.
    public let value: SpanValue

    /// A fact.
    public init(_ key: SpanKey, _ value: SpanValue) { (self.key, self.value) = (key, value) }
}

public import JSON

/// A result with named members, declared once.
///
/// The fields give the JSON, its schema, the columns of a table and those of a CSV file:
///
/// ```swift
/// struct Reading: Record {
///     var city: String
///     var degrees: Double
///     static let fields: [Field<Reading>] = [
///         Field("city", "Where it was measured", .name) { $0.city },
///         Field("degrees", "Temperature in °C") { $0.degrees },
///     ]
/// }
/// ```
public protocol Record: OutputValue {
    /// The members, in the order in which they are shown.
    static var fields: [Field<Self>] { get }
}

/// One member of a record: its name, its meaning and how to read it.
public struct Field<Root: Sendable>: PropertyDeclaration {
    /// Name, summary, shape and role.
    public let property: Schema.Property
    package let read: @Sendable (Root) -> JSON

    /// - Parameter read: takes the member's value from the record. A nil value is left out of the JSON.
    public init<Value: OutputValue>(
        _ name: String, _ summary: String, _ role: Schema.Role = .plain, read: @escaping @Sendable (Root) -> Value
    ) {
        property = Schema.Property(name, summary, Value.schema, role: role)
        self.read = { read($0).json }
    }

    /// A member whose shape is narrower than that of its type, such as one that always has the same value.
    public init(_ property: Schema.Property, read: @escaping @Sendable (Root) -> JSON) {
        self.property = property
        self.read = read
    }
}

extension Record {
    public static var schema: Schema { .record(fields.map { $0.property }) }

    /// The members that have a value; an absent optional is left out.
    public var json: JSON {
        var object = JSONObject()
        for field in Self.fields {
            let value = field.read(self)
            if !value.isNull { object.append(field.name, value) }
        }
        return .object(object)
    }
}

/// The result of an action that has nothing to report.
public struct Nothing: OutputValue {
    /// What such an action returns.
    public init() {}
    public static var schema: Schema { .record([]) }
    public var json: JSON { .object([:]) }
}

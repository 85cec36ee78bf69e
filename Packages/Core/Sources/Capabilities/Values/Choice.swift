public import JSON

/// An enumeration whose raw values are the words that people type.
///
/// ```swift
/// enum Units: String, Choice { case metric, imperial }
/// ```
public protocol Choice: InputValue, OutputValue, CaseIterable, RawRepresentable where RawValue == String {}

extension Choice {
    // A key path in generic code would be made at run time, once for each type; and so would be what maps the cases, if
    // this could not be made for each where it is declared.
    @inlinable public static var schema: Schema { .choice(allCases.map { $0.rawValue }) }
    public var json: JSON { .string(rawValue) }
    public init(json: JSON) throws(ValueError) {
        guard let value = json.string.flatMap(Self.init(rawValue:)) else {
            throw schemaProblem(Self.schema, json)
        }
        self = value
    }
}

private func schemaProblem(_ schema: Schema, _ json: JSON) -> ValueError {
    schema.problems(in: json).first ?? ValueError("is not one of the values known here")
}

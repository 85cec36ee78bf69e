/// The text of a statement, which can only be written as a literal without interpolation.
///
/// So no value gets into it by accident: values are bound to its `?`. Literals may be joined with `+`.
public struct SQL: ExpressibleByStringLiteral, Sendable, Hashable {
    let text: String

    public init(stringLiteral literal: StaticString) {
        text = literal.description
    }

    /// Takes any text. Who calls this answers for what is in it.
    public init(raw text: String) {
        self.text = text
    }

    public static func + (left: SQL, right: SQL) -> SQL {
        SQL(raw: left.text + right.text)
    }
}

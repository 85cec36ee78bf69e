public import JSON

/// A program that an action runs, by its name or its path: whether its caller may is decided before the action begins.
public struct ProgramName: InputValue, OutputValue, Hashable {
    public let text: String

    public init(_ text: String) {
        self.text = text
    }

    public static var schema: Schema { .program }
    public var json: JSON { .string(text) }

    public init(json: JSON) throws(ValueError) {
        guard let text = json.string, !text.isEmpty else { throw ValueError("needs the name of a program") }
        self.init(text)
    }
}

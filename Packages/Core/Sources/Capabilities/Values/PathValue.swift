public import JSON

/// A path on this machine, as a parameter: shells complete it, and `~` is the shell's business.
public struct PathValue: InputValue, OutputValue, Hashable {
    public var text: String

    public init(_ text: String) {
        self.text = text
    }

    public static var schema: Schema { .path(.any) }
    public var json: JSON { .string(text) }

    public init(json: JSON) throws(ValueError) {
        guard let text = json.string, !text.isEmpty else { throw ValueError("needs a path") }
        self.init(text)
    }
}

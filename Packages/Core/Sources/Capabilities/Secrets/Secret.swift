public import JSON

/// A text that must never be seen: it prints as `‹redacted›`, has no members to reflect on and cannot be encoded.
///
/// It is an `InputValue` and deliberately no `OutputValue`, so that no action can return one.
public struct Secret: Sendable, InputValue, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    private let text: String

    public init(_ text: String) {
        self.text = text
    }

    public static var schema: Schema { .secret }

    public init(json: JSON) throws(ValueError) {
        guard let text = json.string else { throw ValueError("needs text, not \(json.kindName)") }
        self.init(text)
    }

    /// Lends the text to the code that sends or stores it.
    public func withText<Result, Failure: Error>(_ body: (String) throws(Failure) -> Result) throws(Failure) -> Result {
        try body(text)
    }

    /// Whether there is nothing in it.
    public var isEmpty: Bool { text.isEmpty }

    public var description: String { "‹redacted›" }
    public var debugDescription: String { "‹redacted›" }
    public var customMirror: Mirror { Mirror(self, children: []) }

    /// Compares without stopping at the first difference, so that time says nothing about the text.
    public func equals(_ other: Secret) -> Bool {
        let left = Array(text.utf8)
        let right = Array(other.text.utf8)
        var difference = left.count ^ right.count
        for index in left.indices {
            difference |= Int(left[index] ^ (index < right.count ? right[index] : 0))
        }
        return difference == 0
    }
}

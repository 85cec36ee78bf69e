/// Says that a value does not have the shape that was declared.
public struct ValueError: Error, Sendable, Hashable, CustomStringConvertible {
    /// Where in the value: member names and indices from the outside in.
    public let path: [String]
    /// What is wrong, as the end of a sentence that begins with the value's name ("needs a whole number").
    public let message: String

    public init(_ message: String, at path: [String] = []) {
        self.message = message
        self.path = path
    }

    /// The same problem seen from one level further out.
    public func under(_ name: String) -> ValueError {
        ValueError(message, at: [name] + path)
    }

    public var description: String {
        path.isEmpty ? message : "\(path.joined(separator: ".")): \(message)"
    }
}

extension String {
    /// The text in quotes, shortened, so that a message stays readable whatever it quotes.
    public var quotedForMessage: String {
        "'\(shortened(to: 60))'"
    }

    /// The first of its scalars, by which alone a text is bounded: one character can be megabytes of accents.
    func shortened(to limit: Int) -> String {
        let shown = unicodeScalars.prefix(limit)
        return shown.endIndex < endIndex ? String(shown) + "…" : self
    }
}

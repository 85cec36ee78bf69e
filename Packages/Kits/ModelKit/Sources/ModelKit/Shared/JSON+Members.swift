package import JSON

extension JSON {
    /// A string that has something in it; servers write "", null and nothing at all for the same.
    package var filled: String? {
        guard case .string(let text) = self, !text.isEmpty else { return nil }
        return text
    }

    /// The text of a call's input, as the model wrote it or as it reads.
    package var written: String {
        string ?? text()
    }
}

extension JSON? {
    /// A count of tokens, if it can be one.
    package var tokens: Int? {
        guard let value = self?.double, let count = Int(exactly: value), 0...(1 << 50) ~= count else { return nil }
        return count
    }
}

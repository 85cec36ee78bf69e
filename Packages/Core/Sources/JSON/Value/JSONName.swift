/// The name of a member as JSON compares names: by its bytes. To Swift "é" as one scalar and as two are the same text, and
/// a file may have either name.
struct JSONName: Hashable {
    let text: String

    init(_ text: String) {
        self.text = text
    }

    static func == (left: JSONName, right: JSONName) -> Bool { left.text.hasSameBytes(as: right.text) }

    func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { unsafe hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}

extension String {
    /// Whether it is the same text, spelt in the same way.
    func hasSameBytes(as other: String) -> Bool {
        guard utf8.count == other.utf8.count, self == other else { return false }
        return utf8Span.isKnownASCII || utf8.elementsEqual(other.utf8)
    }
}

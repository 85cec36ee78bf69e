/// A pattern as people and models write it, with braces.
struct PathPattern: Sendable {
    private let wildcards: [Wildcard]
    /// Whether it names something hidden, which is then looked at as well.
    let namesHidden: Bool
    /// Whether it has no slash, and so is about names in whatever folder.
    let isName: Bool

    init(_ text: String) throws(WorkspaceError) {
        var bytes = Array(text.utf8)
        if bytes.starts(with: [Byte.dot, Byte.slash]) { bytes.removeFirst(2) }
        guard !bytes.isEmpty, text.unicodeScalars.count <= 1000, !bytes.contains(0) else {
            throw WorkspaceError(.pattern, "the pattern is empty, too long or has a NUL; use one such as **/*.swift")
        }
        guard bytes.first != Byte.slash else {
            throw WorkspaceError(.outside, "the pattern is an absolute path; make it relative to the working folder")
        }
        var wildcards: [Wildcard] = []
        for pattern in try Braces.expand(bytes) {
            guard let wildcard = Wildcard(pattern, unit: .character) else {
                throw WorkspaceError(
                    .pattern, "the pattern has a bracket that does not close, or too many stars; mend it and try again")
            }
            wildcards.append(wildcard)
        }
        self.wildcards = wildcards
        isName = !bytes.contains(Byte.slash)
        namesHidden = bytes.split(separator: Byte.slash).contains { part in
            part.first == Byte.dot || part.first == UInt8(ascii: "{") && part.dropFirst().first == Byte.dot
        }
    }

    func matches(_ path: [UInt8], from start: Int = 0) -> Bool {
        wildcards.contains { $0.matches(path, from: start) }
    }
}

import Testing
import WorkspaceSupport

/// A list with one line for each thing that users and their scripts rely on.
struct FrozenList {
    private let file: FrozenFile

    init(_ name: String) {
        file = FrozenFile("Lists/\(name).txt", of: "FrozenTests")
    }

    /// Compares the list with what the product has now, in any order.
    func expect(_ things: [String], sourceLocation: SourceLocation = #_sourceLocation) throws {
        let found = Set(things.map(Self.line))
        try #require(!found.isEmpty, "nothing was found for \(file.name)", sourceLocation: sourceLocation)
        let text = found.sorted().map { $0 + "\n" }.joined()
        try file.expect(text, showing: 100, sourceLocation: sourceLocation) { kept in
            let listed = Set(kept.split(separator: "\n").map(String.init))
            let (missing, new) = (listed.subtracting(found).sorted(), found.subtracting(listed).sorted())
            guard !missing.isEmpty || !new.isEmpty else { return nil }
            return (
                "\(missing.count) of its lines are missing now, and \(new.count) lines are new",
                missing.map { "- \($0)" } + new.map { "+ \($0)" }
            )
        }
    }

    /// A text as one line without needless space.
    private static func line(_ text: String) -> String {
        text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }
}

extension FrozenText {
    /// A text of these tests.
    init(_ name: String) {
        self.init(FrozenFile("Texts/\(name)", of: "FrozenTests"))
    }
}

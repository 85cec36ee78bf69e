import FileKit
import Testing

/// A file that is checked in beside these tests and that a command writes anew.
struct FrozenFile {
    static let refreshCommand = "MARTLET_TEST_REFRESH=1 swift test --filter FrozenTests"
    static let isRefreshing = Environment.snapshot()["MARTLET_TEST_REFRESH"] == "1"

    private static let folder = #filePath.split(separator: "/").dropLast().map { "/" + $0 }.joined()

    /// Below the folder of these tests.
    let name: String
    private var path: String { "\(Self.folder)/\(name)" }

    func text() throws -> String { String(decoding: try Files.read(path, limit: 1 << 24), as: UTF8.self) }

    /// Writes the text while files are refreshed. Otherwise reports the lines that `difference` finds between the file and the
    /// text, at most `limit` of them.
    func expect(
        _ text: String, showing limit: Int, sourceLocation: SourceLocation,
        difference: (_ kept: String) -> (summary: String, lines: [String])?
    ) throws {
        if Self.isRefreshing { return try Files.writeAtomically(Array(text.utf8), to: path, mode: 0o644) }
        guard Files.exists(path) else {
            Issue.record("\(name) is missing; write it with \(Self.refreshCommand)", sourceLocation: sourceLocation)
            return
        }
        let kept = try self.text()
        guard kept != text, let (summary, lines) = difference(kept) else { return }
        let more = lines.count > limit ? ["… and \(lines.count - limit) more"] : []
        Issue.record(
            """
            \(name): \(summary)
            \((lines.prefix(limit) + more).joined(separator: "\n"))
            if this change is intended, write the file with \(Self.refreshCommand)
            """, sourceLocation: sourceLocation)
    }
}

/// A list with one line for each thing that users and their scripts rely on.
struct FrozenList {
    private let file: FrozenFile

    init(_ name: String) {
        file = FrozenFile(name: "Lists/\(name).txt")
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

/// A text that people read, so that each change of it is seen in review.
struct FrozenText {
    private let file: FrozenFile

    init(_ name: String) {
        file = FrozenFile(name: "Texts/\(name)")
    }

    /// The text as it is checked in.
    func kept() throws -> String { try file.text() }

    /// Compares the text with what the program prints now.
    func expect(_ text: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
        try file.expect(text, showing: 40, sourceLocation: sourceLocation) { kept in
            let lines = text.split(separator: "\n").difference(from: kept.split(separator: "\n")).map { change in
                switch change {
                case .remove(let line, let text, _): "\(line + 1)- \(text)"
                case .insert(let line, let text, _): "\(line + 1)+ \(text)"
                }
            }
            return ("\(lines.count) lines have changed", lines)
        }
    }
}

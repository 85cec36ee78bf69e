import FileKit
public import Testing

/// A file that is checked in beside the tests that compare it, and that a command writes again.
public struct FrozenFile: Sendable {
    /// Whether the files are being written instead of compared.
    public static let isRefreshing = Environment.snapshot()["MARTLET_TEST_REFRESH"] == "1"

    /// The folder of the tests.
    private let tests: String
    /// Below the folder of the tests.
    public let name: String

    /// A file by its name below a folder of `Tests`.
    public init(_ name: String, of tests: String) {
        (self.name, self.tests) = (name, tests)
    }

    private var path: String { "\(Workspace.current.root)/Tests/\(tests)/\(name)" }
    private var refreshCommand: String { "MARTLET_TEST_REFRESH=1 swift test --filter \(tests)" }

    /// The text as it is checked in.
    public func text() throws -> String { String(decoding: try Files.read(path, limit: 1 << 24), as: UTF8.self) }

    /// Writes the text while files are refreshed. Otherwise reports the lines that `difference` finds between the file and the
    /// text, at most `limit` of them.
    public func expect(
        _ text: String, showing limit: Int, sourceLocation: SourceLocation,
        difference: (_ kept: String) -> (summary: String, lines: [String])?
    ) throws {
        if Self.isRefreshing { return try Files.writeAtomically(Array(text.utf8), to: path, mode: 0o644) }
        guard Files.exists(path) else {
            Issue.record("\(name) is missing; write it with \(refreshCommand)", sourceLocation: sourceLocation)
            return
        }
        let kept = try self.text()
        guard kept != text, let (summary, lines) = difference(kept) else { return }
        let more = lines.count > limit ? ["… and \(lines.count - limit) more"] : []
        Issue.record(
            """
            \(name): \(summary)
            \((lines.prefix(limit) + more).joined(separator: "\n"))
            if this change is intended, write the file with \(refreshCommand)
            """, sourceLocation: sourceLocation)
    }
}

/// A text that people read, so that each change of it is seen in review.
public struct FrozenText: Sendable {
    private let file: FrozenFile

    /// A text by its file.
    public init(_ file: FrozenFile) {
        self.file = file
    }

    /// The text as it is checked in.
    public func kept() throws -> String { try file.text() }

    /// Compares the text with what the program prints now.
    public func expect(_ text: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
        try file.expect(text, showing: 40, sourceLocation: sourceLocation) { kept in
            let lines = Self.lines(text).difference(from: Self.lines(kept)).map { change in
                switch change {
                case .remove(let line, let text, _): "\(line + 1)- \(text)"
                case .insert(let line, let text, _): "\(line + 1)+ \(text)"
                }
            }
            return ("\(lines.count) lines have changed", lines)
        }
    }

    private static func lines(_ text: String) -> [Substring] {
        text.split(separator: "\n", omittingEmptySubsequences: false)
    }
}

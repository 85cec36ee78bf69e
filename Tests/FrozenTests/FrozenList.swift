import FileKit
import Testing

/// A list that is checked in, with one line for each thing that users and their scripts rely on.
///
/// A change that alters a list fails with the lines that differ. Where it is intended, `refreshCommand` writes the lists,
/// and the commit shows what has changed for users.
struct FrozenList {
    static let refreshCommand = "MARTLET_TEST_REFRESH=1 swift test --filter FrozenTests"

    static let isRefreshing = Environment.snapshot()["MARTLET_TEST_REFRESH"] == "1"
    private static let folder = #filePath.split(separator: "/").dropLast().map { "/" + $0 }.joined() + "/Lists"
    /// The most lines of a difference that are shown.
    private static let limit = 100

    private let file: String
    private var path: String { "\(Self.folder)/\(file)" }

    /// The list in the file of that name.
    init(_ name: String) {
        file = "\(name).txt"
    }

    /// Compares the list with what the product has now, in any order. Writes the list instead while lists are refreshed.
    func expect(_ things: [String], sourceLocation: SourceLocation = #_sourceLocation) throws {
        let found = Set(things.map(Self.line))
        try #require(!found.isEmpty, "nothing was found for \(file)", sourceLocation: sourceLocation)
        if Self.isRefreshing { return try write(found) }
        guard Files.exists(path) else {
            Issue.record("there is no \(file); write it with \(Self.refreshCommand)", sourceLocation: sourceLocation)
            return
        }
        let text = String(decoding: try Files.read(path, limit: 1 << 24), as: UTF8.self)
        let listed = Set(text.split(separator: "\n").map(String.init))
        let (missing, new) = (listed.subtracting(found), found.subtracting(listed))
        if missing.isEmpty, new.isEmpty { return }
        let lines = Self.shown(missing, after: "- ") + Self.shown(new, after: "+ ")
        Issue.record(
            """
            \(file): \(missing.count) of its lines are missing now, and \(new.count) lines are new
            \(lines.joined(separator: "\n"))
            if this change is intended, write the list with \(Self.refreshCommand)
            """, sourceLocation: sourceLocation)
    }

    private func write(_ lines: Set<String>) throws {
        let text = lines.sorted().map { $0 + "\n" }.joined()
        try Files.writeAtomically(Array(text.utf8), to: path, mode: 0o644)
    }

    /// A text as one line without needless space.
    private static func line(_ text: String) -> String {
        text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    private static func shown(_ lines: Set<String>, after mark: String) -> [String] {
        let more = lines.count - limit
        return lines.sorted().prefix(limit).map { mark + $0 } + (more > 0 ? ["\(mark)… and \(more) more"] : [])
    }
}

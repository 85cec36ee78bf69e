import FileKit
import Testing

/// A text that people read, as it is checked in, so that each change of it is seen in review.
struct FrozenText {
    private static let folder = #filePath.split(separator: "/").dropLast().map { "/" + $0 }.joined() + "/Texts"
    /// The most lines of a difference that are shown.
    private static let limit = 40

    private let file: String

    private var path: String { "\(Self.folder)/\(file)" }

    init(_ file: String) {
        self.file = file
    }

    /// The text as it is checked in.
    func kept() throws -> String { String(decoding: try Files.read(path, limit: 1 << 24), as: UTF8.self) }

    /// Compares the text with what the program prints now. Writes it instead while lists are refreshed.
    func expect(_ text: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
        if FrozenList.isRefreshing { return try Files.writeAtomically(Array(text.utf8), to: path, mode: 0o644) }
        guard Files.exists(path) else {
            Issue.record(
                "\(file) is missing; write it with \(FrozenList.refreshCommand)", sourceLocation: sourceLocation)
            return
        }
        let kept = try kept()
        guard kept != text else { return }
        let changes = text.split(separator: "\n").difference(from: kept.split(separator: "\n"))
        let lines = changes.prefix(Self.limit).map { change in
            switch change {
            case .remove(let line, let text, _): "\(line + 1)- \(text)"
            case .insert(let line, let text, _): "\(line + 1)+ \(text)"
            }
        }
        Issue.record(
            """
            \(file): \(changes.count) lines have changed
            \(lines.joined(separator: "\n"))
            if this change is intended, write the text with \(FrozenList.refreshCommand)
            """, sourceLocation: sourceLocation)
    }
}

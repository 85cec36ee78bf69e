import ProcessKit

/// Who runs a turn: one store of one process.
struct Holder: Sendable, Hashable {
    /// Nil for this process, of which files have to be read: not before somebody wants to know.
    private let other: ProcessIdentity?
    private let store: String

    private static let own = ProcessIdentity.own
    private var process: ProcessIdentity { other ?? Self.own }

    /// This process.
    init(store: String) {
        other = nil
        self.store = store
    }

    /// As it was stored.
    init?(_ text: String) {
        guard let slash = text.lastIndex(of: "/"), let process = ProcessIdentity(String(text[..<slash])) else {
            return nil
        }
        other = process
        store = String(text[text.index(after: slash)...])
    }

    static func == (left: Holder, right: Holder) -> Bool {
        left.store == right.store && left.process == right.process
    }

    func hash(into hasher: inout Hasher) { hasher.combine(store) }

    var text: String { "\(process.text)/\(store)" }

    /// Whether that process still runs.
    var isAlive: Bool { process.isAlive }
}

import ProcessKit

/// Who runs a turn: one store of one process.
struct Holder: Sendable, Hashable {
    private let process: ProcessIdentity
    private let store: String

    /// This process.
    init(store: String) {
        process = .own
        self.store = store
    }

    /// As it was stored.
    init?(_ text: String) {
        guard let slash = text.lastIndex(of: "/"), let process = ProcessIdentity(String(text[..<slash])) else {
            return nil
        }
        self.process = process
        store = String(text[text.index(after: slash)...])
    }

    var text: String { "\(process.text)/\(store)" }

    /// Whether that process still runs.
    var isAlive: Bool { process.isAlive }
}

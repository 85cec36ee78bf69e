/// What a walk could not look at: how much of it, and what the first ones were.
struct WalkProblems: Sendable {
    private(set) var count = 0
    private(set) var examples: [String] = []

    mutating func add(_ error: WorkspaceError) {
        // What goes while a walk is under way is no problem.
        guard error.kind != .notFound else { return }
        count += 1
        if examples.count < 3 { examples.append(error.message) }
    }

    mutating func add(_ other: WalkProblems) {
        count += other.count
        examples += other.examples.prefix(max(0, 3 - examples.count))
    }

    /// As a note, or nothing.
    var note: String? {
        guard count > 0 else { return nil }
        let rest = count - examples.count
        return "left out: " + examples.joined(separator: "; ") + (rest > 0 ? "; and \(rest) more" : "")
    }
}

/// A clause that only makes sense after another: "and in Sources?", "apply it", "again".
enum FollowUp {
    case steps([any Intention])
    case none

    init(_ clause: Clause, after earlier: [any Intention]) {
        self = .none
        guard !earlier.isEmpty else { return }
        if Self.isAgreement(clause) {
            let applied = earlier.compactMap { ($0 as? any Previewing)?.applied }
            if !applied.isEmpty { self = .steps(applied) }
        } else if let settle = SettleMarker(clause), settle.namesNone, let meant = earlier.last as? SettleMarker {
            self = .steps([meant.applied])
        } else if clause.head == clause.tokens.count || ["again", "repeat", "redo"].contains(clause.verb),
            clause.tokens.count <= 3
        {
            self = .steps(earlier)
        } else if let change = Continuation(clause) {
            let continued = earlier.compactMap { ($0 as? any Continuing)?.continued(change) }
            if !continued.isEmpty { self = .steps(continued) }
        }
    }

    /// "Apply it", "yes, do that".
    private static func isAgreement(_ clause: Clause) -> Bool {
        let words = clause.tokens[clause.head...].filter { $0.kind != .mark }.map(\.lower)
        guard let first = words.first, Vocabulary.agree.contains(first) || first == "do" else { return false }
        let others: Set<String> = [
            "it", "that", "them", "ahead", "the", "change", "changes", "edit", "this", "on", "please", "now", "do",
            "so",
            "apply", "out", "proposal", "go",
        ]
        return words.dropFirst().allSatisfy(others.contains)
    }
}

/// What is to be different from what was asked before.
struct Continuation {
    /// Another place.
    var scope: Scope?
    /// Another thing, where it does not look like a place.
    var subject: String?

    /// Reads "in Sources", "what about Sources", "same for README.md", "only Swift files".
    init?(_ clause: Clause) {
        var start = clause.head
        let words = clause.tokens.map(\.lower)
        if start + 1 < words.count, ["what", "how"].contains(words[start]), words[start + 1] == "about" {
            start += 2
        } else if words[start...].starts(with: ["the", "same"]) || words[start...].starts(with: ["same"]) {
            start += words[start] == "the" ? 2 : 1
        } else if words[start...].starts(with: ["only"]) {
            start += 1
        } else if !Vocabulary.places.contains(clause.verb), clause.verb != "for" {
            // "and Sources?"
            guard words[0] == "and", !Vocabulary.verbs.contains(clause.verb) else { return nil }
        }
        if start < words.count, words[start] == "for" { start += 1 }
        let rest = Clause(Array(clause.tokens[start...]))
        guard (1...6).contains(rest.tokens.count) else { return nil }
        let (scope, begin) = rest.scope
        if begin == 0 || rest.subject(0..<begin) == nil {
            self.scope = scope
        } else if begin == rest.tokens.count, rest.tokens.count <= 2, let subject = rest.subject(0..<begin) {
            if let place = Place(subject) { self.scope = Scope(path: place.path) } else { self.subject = subject }
        } else {
            return nil
        }
    }
}

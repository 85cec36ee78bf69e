import Capabilities

/// Finds the intentions in a message.
enum Grammar {
    /// The kinds of instructions. The first that matches a clause takes it, so specific ones come first and broad ones
    /// last.
    static let intentions: [any Intention.Type] = [
        UseTool.self, SettleMarker.self, AddLine.self, RemoveLine.self, CreateFile.self, Replace.self,
        FindMarkers.self, FindUsages.self, RunTests.self, RunCommand.self, ListFiles.self, ReadFile.self,
        Overview.self, FindText.self,
    ]

    /// The plan for the last of the user's messages. Earlier ones show what "it" and "and in Sources?" refer to.
    static func plan(for messages: [String]) -> Plan {
        var plan = Plan()
        for message in messages.suffix(20) { plan = self.plan(for: message, after: plan) }
        return plan
    }

    static func plan(for message: String, after previous: Plan) -> Plan {
        if let repeated = RepeatText(message) { return Plan(steps: [repeated]) }
        var tokens = Tokenizer.tokens(of: message)
        let order = PlanOrder.take(from: &tokens)
        var plan = Plan()
        for clause in Clause.clauses(of: tokens) {
            if PlanOrder.isExecution(clause) {
                if plan.steps.isEmpty {
                    plan.steps = previous.steps.map { ($0 as? any PreviewableIntention)?.applied ?? $0 }
                }
                continue
            }
            let earlier = plan.steps.isEmpty ? previous.steps : plan.steps
            switch FollowUp(clause, after: earlier) {
            case .steps(let steps): plan.steps += steps
            case .none:
                if let intention = read(clause) {
                    plan.steps.append(intention)
                } else {
                    plan.unread.append(clause.words)
                }
            }
        }
        if let order {
            if plan.steps.isEmpty { plan.steps = [Overview(), FindMarkers(), RunTests()] }
            plan.isPending = !order.isExecuted
        }
        return plan
    }

    /// The intention of one clause.
    static func read(_ clause: Clause) -> (any Intention)? {
        for kind in intentions {
            if let intention = kind.init(clause) { return intention }
        }
        return nil
    }
}

/// The steps that a message asks for.
struct Plan {
    var steps: [any Intention] = []
    /// Whether the plan should only be shown for now.
    var isPending = false
    /// Parts of the message that were not understood.
    var unread: [String] = []
}

/// "Make a plan to …", perhaps with "and then carry it out".
struct PlanOrder {
    /// Whether the plan should be carried out at once.
    var isExecuted: Bool

    /// Removes the words that ask for a plan, so that its steps are left.
    static func take(from tokens: inout [Token]) -> PlanOrder? {
        let clause = Clause(tokens)
        guard let plan = clause.index(of: ["plan"], from: clause.head), plan <= clause.head + 3,
            plan == clause.head || Vocabulary.create.union(["draw", "draft", "give", "show"]).contains(clause.verb)
        else { return nil }
        var rest = plan + 1
        let joining: Set<String> = ["of", "steps", "to", "for", "how", "with", "which"]
        while rest < tokens.count, joining.contains(tokens[rest].lower) || tokens[rest].isMark(":") { rest += 1 }
        tokens = Array(tokens[rest...])
        return PlanOrder(isExecuted: Clause.clauses(of: tokens).contains(where: isExecution))
    }

    /// "Carry it out", "go on", "execute the plan".
    static func isExecution(_ clause: Clause) -> Bool {
        let words = clause.tokens[clause.head...].filter { $0.kind != .mark }.map(\.lower)
        guard let first = words.first, ["carry", "execute", "do", "go", "run", "follow", "start"].contains(first) else {
            return false
        }
        let others: Set<String> = [
            "it", "them", "out", "the", "plan", "that", "steps", "these", "on", "ahead", "this", "with", "please",
            "now",
        ]
        return words.count > 1 && words.dropFirst().allSatisfy(others.contains)
    }
}

/// A clause that only makes sense after another: "and in Sources?", "apply it", "again".
enum FollowUp {
    case steps([any Intention])
    case none

    init(_ clause: Clause, after earlier: [any Intention]) {
        self = .none
        guard !earlier.isEmpty else { return }
        if Self.isAgreement(clause) {
            let applied = earlier.compactMap { ($0 as? any PreviewableIntention)?.applied }
            if !applied.isEmpty { self = .steps(applied) }
        } else if let settle = SettleMarker(clause), settle.namesNone, let meant = earlier.last as? SettleMarker {
            self = .steps([meant.applied])
        } else if clause.head == clause.tokens.count || ["again", "repeat", "redo"].contains(clause.verb),
            clause.tokens.count <= 3
        {
            self = .steps(earlier)
        } else if let change = Continuation(clause) {
            let continued = earlier.compactMap { ($0 as? any RepeatableIntention)?.continued(change) }
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

/// What differs from the previous request.
struct Continuation {
    /// Another place.
    var scope: Scope?
    /// Another subject, if it does not look like a place.
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

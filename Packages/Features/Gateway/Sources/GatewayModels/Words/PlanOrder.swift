/// "Make a plan to …", perhaps with "and then carry it out".
struct PlanOrder {
    /// Whether the plan is to be carried out at once.
    var isExecuted: Bool

    /// Takes the words that ask for a plan away, so that what is left are its steps.
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

import Capabilities

/// Finds out what is asked for.
enum Grammar {
    /// The kinds of instructions. The first that fits a clause takes it, so that the ones with the clearer words stand
    /// first and the broad ones last.
    static let intentions: [any Intention.Type] = [
        UseTool.self, SettleMarker.self, AddLine.self, RemoveLine.self, CreateFile.self, Replace.self,
        FindMarkers.self, FindUsages.self, RunTests.self, RunCommand.self, ListFiles.self, ReadFile.self,
        Overview.self, FindText.self,
    ]

    /// What the last of a person's messages asks for. Earlier ones say what "it" and "and in Sources?" mean.
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
                if plan.steps.isEmpty { plan.steps = previous.steps.map { ($0 as? any Previewing)?.applied ?? $0 } }
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

    /// One instruction.
    static func read(_ clause: Clause) -> (any Intention)? {
        for kind in intentions {
            if let intention = kind.init(clause) { return intention }
        }
        return nil
    }
}

import Capabilities
import GatewayStore
import JSON

/// What a project and each of its sessions may use up. What is left out has no limit.
struct WireBudget: InputValue, OutputValue {
    let budget: ProjectBudget

    init(_ budget: ProjectBudget) {
        self.budget = budget
    }

    private static let tokens = Schema.optional(.integer(0...1_000_000_000_000))
    private static let dollars = Schema.optional(.number(0...1_000_000))

    static let schema = Schema.record([
        Schema.Property("project_tokens", "Tokens of all sessions together", tokens),
        Schema.Property("project_cost", "US dollars of all sessions together", dollars),
        Schema.Property("session_tokens", "Tokens of each session", tokens),
        Schema.Property("session_cost", "US dollars of each session", dollars),
    ])

    init(json: JSON) throws(ValueError) {
        let known = ["project_tokens", "project_cost", "session_tokens", "session_cost"]
        for name in json.object?.keys ?? [] where !known.contains(name) {
            throw ValueError(
                "is no limit that is known\(Suggestion.text(for: name, among: known))", at: [PlainText.escape(name)])
        }
        func cost(_ name: String) -> Cost? {
            json[name]?.double.map { Cost(nanodollars: Int(($0 * 1e9).rounded())) }
        }
        func count(_ name: String) throws(ValueError) -> Int? { try Int?(json: json[name] ?? .null) }
        budget = ProjectBudget(
            project: BudgetLimit(tokens: try count("project_tokens"), cost: cost("project_cost")),
            session: BudgetLimit(tokens: try count("session_tokens"), cost: cost("session_cost")))
    }

    var json: JSON {
        var object = JSONObject()
        object["project_tokens"] = budget.project.tokens.map(JSON.int)
        object["project_cost"] = budget.project.cost?.json
        object["session_tokens"] = budget.session.tokens.map(JSON.int)
        object["session_cost"] = budget.session.cost?.json
        return .object(object)
    }
}

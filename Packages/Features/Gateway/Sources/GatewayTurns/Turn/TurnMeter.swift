import Capabilities

/// The usage of a turn so far.
struct TurnUsage: Sendable {
    /// The number of answers.
    var answers = 0
    /// Tokens that the model has written, estimated if its provider does not count them.
    var written = 0
    var cost: Cost?
}

/// Decides before each round whether it may start. A running round is not ended because of its cost, so a turn exceeds
/// a limit by one round at most.
struct TurnMeter: Sendable {
    let parts: TurnParts
    let place: TurnPlace
    let client: TurnClient?

    /// The request within the limits of the turn and the budget.
    func admit(_ request: ChatRequest, after spent: TurnUsage) async throws -> ChatRequest {
        let request = try limited(request, after: spent)
        // For the first round the budget was checked when the request was accepted.
        if spent.answers > 0 {
            try await parts.checkBudget(session: place.session, project: place.project, client: client)
        }
        return request
    }

    /// Admits another round of a backend that asks its model itself, so that nothing of the turn is stored before its
    /// end.
    func admit(after rounds: Int, unstored used: Usage) async throws {
        _ = try tokensLeft(
            after: TurnUsage(answers: rounds, written: used.outputTokens ?? 0, cost: used.cost))
        try await parts.checkBudget(
            session: place.session, project: place.project, client: client, unstored: used)
    }

    /// The request within the limits of a single turn.
    func limited(_ request: ChatRequest, after spent: TurnUsage) throws -> ChatRequest {
        guard let left = try tokensLeft(after: spent) else { return request }
        var request = request
        request.options.maxTokens = min(request.options.maxTokens ?? left, left)
        return request
    }

    /// The number of tokens that a turn may still write; nil without a limit. Throws when a limit is reached.
    private func tokensLeft(after spent: TurnUsage) throws -> Int? {
        if let limit = parts.settings.cost, let cost = spent.cost, cost.nanodollars >= limit.nanodollars {
            throw GatewayError(.costLimit, Self.message("reached its cost limit"))
        }
        guard let limit = parts.settings.outputTokens else { return nil }
        guard spent.written < limit else {
            throw GatewayError(.outputLimit, Self.message("wrote \(spent.written) of \(limit) tokens"))
        }
        return limit - spent.written
    }

    private static func message(_ what: String) -> String {
        "the turn \(what) and was ended; what was said is kept, so send 'go on' to continue"
    }
}

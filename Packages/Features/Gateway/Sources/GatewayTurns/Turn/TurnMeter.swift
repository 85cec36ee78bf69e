import Capabilities

/// What a turn has taken so far.
struct TurnSpending: Sendable {
    /// How many answers there were.
    var answers = 0
    /// Tokens that the model has written, estimated where its provider does not count.
    var written = 0
    var cost: Cost?
}

/// Decides before each round whether it may begin. A round that has begun is not broken off for its price, so that a turn
/// goes over a limit by one round at most.
struct TurnMeter: Sendable {
    let parts: TurnParts
    let place: TurnPlace
    let client: TurnClient?

    /// The request as it may be sent.
    func admit(_ request: ChatRequest, after spent: TurnSpending) async throws -> ChatRequest {
        let request = try limited(request, after: spent)
        // Before the first round the budget was looked at when the request was accepted.
        if spent.answers > 0 {
            try await parts.checkBudget(session: place.session, project: place.project, client: client)
        }
        return request
    }

    /// Another round of a backend that asks its model itself, so that nothing of the turn is stored before its end.
    func admit(after rounds: Int, unstored used: Usage) async throws {
        _ = try tokensLeft(
            after: TurnSpending(answers: rounds, written: used.outputTokens ?? 0, cost: used.cost))
        try await parts.checkBudget(
            session: place.session, project: place.project, client: client, unstored: used)
    }

    /// The request within the limits of a single turn.
    func limited(_ request: ChatRequest, after spent: TurnSpending) throws -> ChatRequest {
        guard let left = try tokensLeft(after: spent) else { return request }
        var request = request
        request.options.maxTokens = min(request.options.maxTokens ?? left, left)
        return request
    }

    /// How many tokens a turn may still write, where that is limited. Throws when it may do nothing more.
    private func tokensLeft(after spent: TurnSpending) throws -> Int? {
        if let limit = parts.settings.cost, let cost = spent.cost, cost.nanodollars >= limit.nanodollars {
            throw GatewayError(.costLimit, Self.message("cost as much as a turn may cost"))
        }
        guard let limit = parts.settings.outputTokens else { return nil }
        guard spent.written < limit else {
            throw GatewayError(.outputLimit, Self.message("wrote \(spent.written) of \(limit) tokens"))
        }
        return limit - spent.written
    }

    private static func message(_ what: String) -> String {
        "the turn \(what) and was ended; what was said is kept, so say 'go on' to continue"
    }
}

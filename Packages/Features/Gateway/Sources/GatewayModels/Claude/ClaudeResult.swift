import Capabilities
import JSON

/// The command's own account of a turn, which ends it.
struct ClaudeResult {
    /// Success is this and nothing else; the subtype says "success" also when the service has failed.
    let isError: Bool
    let subtype: String
    /// Its last words, or those about the failure.
    let text: String?
    let errors: [String]
    let usage: Usage?
    /// What the session has cost. In one that is gone on with, earlier turns are in it, though `usage` is this turn's.
    let sessionCost: Cost?
    /// What this turn has cost; nil where the command does not say.
    let turnCost: Cost?

    init(_ frame: JSON) {
        isError = frame["is_error"]?.bool ?? false
        subtype = frame["subtype"]?.string ?? ""
        text = frame["result"]?.string
        errors = (frame["errors"]?.array ?? []).compactMap(\.string)
        usage = Self.usage(frame["usage"])
        sessionCost = Self.cost(frame["total_cost_usd"])
        let models = frame["model_usage_since_last_result"]?.object ?? [:]
        let costs = models.compactMap { model in Self.cost(model.value["costUSD"])?.nanodollars }
        turnCost = costs.isEmpty ? nil : Cost(nanodollars: costs.reduce(0, +))
    }

    private static func cost(_ dollars: JSON?) -> Cost? {
        guard let dollars = dollars?.double, dollars >= 0, dollars < 1e9 else { return nil }
        return Cost(nanodollars: Int((dollars * 1e9).rounded()))
    }

    /// What Anthropic counts, in which the parts of the cache stand apart.
    static func usage(_ json: JSON?) -> Usage? {
        guard let json, let input = json["input_tokens"]?.int else { return nil }
        let (read, written) = (json["cache_read_input_tokens"]?.int, json["cache_creation_input_tokens"]?.int)
        return Usage(
            inputTokens: input + (read ?? 0) + (written ?? 0), outputTokens: json["output_tokens"]?.int,
            cachedTokens: read, cacheWriteTokens: written)
    }
}

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
    let cost: Cost?

    init(_ frame: JSON) {
        isError = frame["is_error"]?.bool ?? false
        subtype = frame["subtype"]?.string ?? ""
        text = frame["result"]?.string
        errors = (frame["errors"]?.array ?? []).compactMap(\.string)
        usage = Self.usage(frame["usage"])
        cost = frame["total_cost_usd"]?.double.flatMap { dollars in
            dollars >= 0 && dollars < 1e9 ? Cost(nanodollars: Int((dollars * 1e9).rounded())) : nil
        }
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

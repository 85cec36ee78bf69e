public import Capabilities
import JSON

/// What happens to a member of a request when a server of another dialect is asked.
public enum MemberFate: String, Sendable, Hashable {
    /// The other dialect can express it.
    case translated
    /// It is left out, and the client is told.
    case dropped
    /// The request is refused, because its answer would not be what the client asked for.
    case refused
}

/// How every dialect is translated to every other. Code, documents and tests use this one table.
///
/// Within one dialect everything passes. A member without a rule is dropped.
public enum TranslationTable {
    /// A member of one dialect, and its fate in the two others.
    public struct Rule: Sendable, Hashable {
        /// The dialect of the request.
        public let dialect: RequestDialect
        /// The name of the member.
        public let member: String
        /// Its fate in the two other dialects.
        public let fates: [RequestDialect: MemberFate]
    }

    /// The rules of all three dialects.
    public static let rules: [Rule] =
        rules(
            .openai, (.anthropic, .responses),
            [
                (
                    .translated, .translated,
                    """
                    model messages tools tool_choice parallel_tool_calls response_format stream stream_options n max_tokens \
                    max_completion_tokens temperature top_p reasoning_effort
                    """
                ),
                (.translated, .refused, "stop"),
                (
                    .dropped, .dropped,
                    """
                    seed frequency_penalty presence_penalty user metadata store service_tier verbosity prediction \
                    safety_identifier prompt_cache_key
                    """
                ),
                (
                    .refused, .refused,
                    "logprobs top_logprobs logit_bias modalities audio web_search_options functions function_call"
                ),
            ])
        + rules(
            .anthropic, (.openai, .responses),
            [
                (
                    .translated, .translated,
                    """
                    model messages system tools tool_choice max_tokens stream temperature top_p thinking output_config
                    """
                ),
                (.translated, .refused, "stop_sequences"),
                (
                    .dropped, .dropped,
                    "top_k metadata service_tier context_management cache_control inference_geo speed"
                ),
                (.refused, .refused, "thread mcp_servers container"),
            ])
        + rules(
            .responses, (.openai, .anthropic),
            [
                (
                    .translated, .translated,
                    """
                    model input instructions tools tool_choice parallel_tool_calls text reasoning max_output_tokens stream \
                    temperature top_p
                    """
                ),
                (
                    .dropped, .dropped,
                    """
                    store include truncation metadata user service_tier safety_identifier prompt_cache_key max_tool_calls \
                    stream_options context_management
                    """
                ),
                (.refused, .refused, "background conversation previous_response_id prompt top_logprobs"),
            ])

    /// The gateway's own members, which are sent to no server.
    public static let ownMembers: Set<String> = ["project_id", "session_id", "system_prompt", "mcp", "conversation"]

    /// The fate of a member of a request in the dialect `source` when a server of `target` is asked.
    public static func fate(
        of member: String, from source: RequestDialect, to target: RequestDialect
    ) -> MemberFate {
        if source == target { return .translated }
        return fates[source]?[member]?[target] ?? .dropped
    }

    /// Removes the members that the target cannot express.
    ///
    /// - Parameter target: nil if no server is asked, so that members refused everywhere need no rule.
    /// - Returns: the dropped members.
    /// - Throws: `DialectError` with a refusal that names the member that cannot be left out.
    public static func translate(
        _ request: inout ChatRequest, to target: RequestDialect?
    ) throws(DialectError) -> [String] {
        guard let native = request.native, native.dialect != target else { return [] }
        if let place = native.foreign.first { throw unsupported(place, code: "unsupported_value") }
        let targets = target.map { [$0] } ?? RequestDialect.allCases.filter { $0 != native.dialect }
        for member in native.members
        where targets.allSatisfy({ fate(of: member, from: native.dialect, to: $0) == .refused }) {
            throw unsupported(
                member, code: member == "thread" ? "thread_unsupported_request" : "unsupported_parameter")
        }
        guard let target else { return [] }
        var dropped = native.dropped
        for member in native.members {
            if fate(of: member, from: native.dialect, to: target) == .dropped { dropped.append(member) }
            request.extras[member] = nil
        }
        if target != .openai {
            // Only OpenAI's older dialect has empty messages.
            dropped += request.messages.indices.filter { request.messages[$0].isBlank }.map { "messages[\($0)]" }
        }
        if dropped.contains("seed") { request.options.seed = nil }
        if target == .anthropic { dropped += suitThinking(&request, native.dialect) }
        request.native?.body = [:]
        return dropped
    }

    /// Reasoning Claude models accept no temperature, cannot be forced to call a tool, and need the reasoning that led
    /// to a call, which no other dialect carries.
    private static func suitThinking(_ request: inout ChatRequest, _ source: RequestDialect) -> [String] {
        guard request.options.effort != nil else { return [] }
        let isForced =
            switch request.toolChoice {
            case .required, .tool: true
            case .auto, .never, nil: false
            }
        let lacksThoughts =
            request.messages.last?.role == .tool
            && request.messages.last { $0.role == .assistant }?.parts.contains(where: \.isProvenThought) != true
        if isForced || lacksThoughts {
            request.options.effort = nil
            return [source == .responses ? "reasoning" : "reasoning_effort"]
        }
        guard request.options.temperature != nil else { return [] }
        request.options.temperature = nil
        return ["temperature"]
    }

    private static func unsupported(_ member: String, code: String) -> DialectError {
        RequestField.problem(
            "\(member) is not supported by the API of this model's server; leave it out or use another model", member,
            code: code)
    }

    // MARK: - Data

    private static let fates: [RequestDialect: [String: [RequestDialect: MemberFate]]] = rules.reduce(into: [:]) {
        $0[$1.dialect, default: [:]][$1.member] = $1.fates
    }

    private static func rules(
        _ dialect: RequestDialect, _ targets: (RequestDialect, RequestDialect),
        _ rows: [(MemberFate, MemberFate, String)]
    ) -> [Rule] {
        rows.flatMap { first, second, members in
            members.split(separator: " ").map {
                Rule(dialect: dialect, member: String($0), fates: [targets.0: first, targets.1: second])
            }
        }
    }

    /// The table for documents, in Markdown.
    public static var markdown: String {
        var lines = ["| Asked in | Member | openai | anthropic | responses |", "|---|---|---|---|---|"]
        for rule in rules {
            let cells = RequestDialect.allCases.map { $0 == rule.dialect ? "passes" : rule.fates[$0]?.rawValue ?? "" }
            lines.append("| \(rule.dialect.rawValue) | `\(rule.member)` | \(cells.joined(separator: " | ")) |")
        }
        return lines.joined(separator: "\n") + "\n"
    }
}

extension NativeRequest {
    /// The members with a meaning. Null, false and empty values have none.
    package init(_ dialect: RequestDialect, in root: RequestField) throws(DialectError) {
        let members = try root.members().filter { key, value in
            guard !TranslationTable.ownMembers.contains(key) || dialect == .responses && key == "conversation" else {
                return false
            }
            return switch value {
            case .null, .bool(false): false
            case .array(let elements): !elements.isEmpty
            case .object(let members): !members.isEmpty
            default: true
            }
        }
        self.init(dialect, members: members.map(\.key))
    }
}

extension Message.Part {
    /// Whether it is reasoning of Claude. Sealed reasoning of other providers is JSON.
    fileprivate var isProvenThought: Bool {
        guard case .reasoning(let thought) = self else { return false }
        return thought.signature != nil || thought.sealed.map { !$0.hasPrefix("{") && !$0.hasPrefix("[") } == true
    }
}

extension Message {
    /// Whether the value is empty.
    fileprivate var isBlank: Bool {
        parts.allSatisfy { if case .text(let text) = $0 { text.allSatisfy(\.isWhitespace) } else { false } }
    }
}

extension ChatRequest {
    /// Whether unknown members may be sent to a server of this dialect. Those of a client go to no other dialect.
    package func mayCarryExtras(to dialect: RequestDialect) -> Bool { native.map { $0.dialect == dialect } ?? true }
}

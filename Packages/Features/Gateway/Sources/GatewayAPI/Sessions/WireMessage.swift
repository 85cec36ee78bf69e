import Capabilities
import GatewayStore
import JSON

/// A message of a session as it was stored.
struct WireMessage: Record {
    let stored: StoredMessage

    static let fields: [Field<WireMessage>] = [
        Field("number", "Its place in the session, which never changes") { $0.stored.number },
        Field("object", "Always message") { _ in "message" },
        Field("role", "Who wrote it", .name) { $0.stored.message.role },
        Field("content", "All its text") { $0.stored.message.text },
        Field("parts", "Its pieces in order: text, reasoning, tool_use, tool_result and others, by type") {
            $0.stored.message.parts.map(Self.json)
        },
        Field("is_whole", "False for an answer that was stopped or broke off") { $0.stored.isWhole },
        Field("problem", "What went wrong with it") { $0.stored.problem },
        Field("model", "Which model wrote it") { $0.model },
        Field("usage", "What it took") { $0.stored.usage.map(WireUsage.init) },
        Field("created_at", "When it was stored") { $0.stored.time },
    ]

    private var model: String? {
        guard let model = stored.model else { return nil }
        return stored.provider.map { "\($0)/\(model)" } ?? model
    }

    private static func json(_ part: Message.Part) -> JSON {
        switch part {
        case .text(let text): ["type": "text", "text": .string(text)]
        case .reasoning(let reasoning): ["type": "reasoning", "text": .string(reasoning.text)]
        case .refusal(let text): ["type": "refusal", "text": .string(text)]
        case .attachment(let file):
            [
                "type": "attachment", "name": .string(file.name), "media_type": .string(file.mediaType),
                "size": .int(file.bytes.count),
            ]
        case .call(let call): WireCall(call: call).json
        case .malformedCall(let call):
            ["type": "tool_use", "id": .string(call.id), "name": .string(call.name), "text": .string(call.text)]
        case .result(let result): WireResult(result: result, name: nil).json
        }
    }
}

/// What was used, under the names of gateways and of OpenAI's API. What nobody told is left out.
struct WireUsage: Record {
    let usage: Usage

    static let fields: [Field<WireUsage>] = [
        Field("input_tokens", "Tokens read by the model") { $0.usage.inputTokens },
        Field("output_tokens", "Tokens written by the model") { $0.usage.outputTokens },
        Field("prompt_tokens", "The same as input_tokens") { $0.usage.inputTokens },
        Field("completion_tokens", "The same as output_tokens") { $0.usage.outputTokens },
        Field("total_tokens", "Both together") { wire in
            wire.usage.inputTokens.flatMap { input in wire.usage.outputTokens.map { input + $0 } }
        },
        Field("total_cost", "US dollars") { $0.usage.cost },
    ]
}

import Capabilities
import JSON

/// An item of an output, as far as it has been written.
struct OutputItem: Sendable {
    enum Kind: Sendable, Equatable {
        case text, refusal, reasoning
        case call(id: String, name: String)
    }

    let kind: Kind
    let id: String
    /// What it says, or the input of a call.
    var text = ""
    /// Of a thought: the provider's own item, which has to be sent back as it came.
    var sealed: JSON?

    /// - Parameter isDone: Whether nothing more comes. What is still coming is not in it.
    func json(isDone: Bool) -> JSON {
        let status: JSON = isDone ? "completed" : "in_progress"
        switch kind {
        case .text, .refusal:
            let content: JSON = isDone ? [part(text)] : []
            return [
                "id": .string(id), "type": "message", "status": status, "role": "assistant", "content": content,
            ]
        case .reasoning:
            if isDone, let sealed { return sealed }
            let summary: JSON = isDone ? [part(text)] : []
            return ["id": .string(id), "type": "reasoning", "summary": summary]
        case .call(let call, let name):
            return [
                "id": .string(id), "type": "function_call", "status": status, "call_id": .string(call),
                "name": .string(name), "arguments": .string(isDone ? text : ""),
            ]
        }
    }

    /// The part of the item that has its text.
    func part(_ text: String) -> JSON {
        switch kind {
        case .refusal: ["type": "refusal", "refusal": .string(text)]
        case .reasoning: ["type": "summary_text", "text": .string(text)]
        case .text, .call: ["type": "output_text", "text": .string(text), "annotations": [], "logprobs": []]
        }
    }

    /// What the events are called with which its text comes, and the member that has all of the text in the end.
    var events: (delta: String, done: String, whole: String) {
        switch kind {
        case .text: ("response.output_text.delta", "response.output_text.done", "text")
        case .refusal: ("response.refusal.delta", "response.refusal.done", "refusal")
        case .reasoning: ("response.reasoning_summary_text.delta", "response.reasoning_summary_text.done", "text")
        case .call: ("response.function_call_arguments.delta", "response.function_call_arguments.done", "arguments")
        }
    }

    /// What the events are called with which its part begins and ends; a call has none.
    var partEvents: (added: String, done: String)? {
        switch kind {
        case .text, .refusal: ("response.content_part.added", "response.content_part.done")
        case .reasoning: ("response.reasoning_summary_part.added", "response.reasoning_summary_part.done")
        case .call: nil
        }
    }

    /// What its name is in the events of its texts.
    var place: JSONObject {
        switch kind {
        case .text, .refusal: ["content_index": 0]
        case .reasoning: ["summary_index": 0]
        case .call: [:]
        }
    }
}

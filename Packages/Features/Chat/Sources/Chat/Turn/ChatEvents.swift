import Capabilities
import ChatHistory
import ChatProviders
import JSON
import Registry
import TurnLoop

/// The events of `chat.send`.
enum ChatEvents {
    /// The only author of what is sent while a turn runs.
    private enum Author: String, Choice { case assistant }

    private static let author = Field<String>("role", "Role of the author") { _ in Author.assistant }

    static let start = EventKind<(choice: ModelChoice, tools: [String], conversation: ConversationID?)>(
        "init", "A turn starts",
        [
            Field("model", "The model") { $0.choice.model },
            Field("provider", "The provider of the model") { $0.choice.provider.id },
            Field("tools", "Sources of the tools that the model may use") { $0.tools },
            Field("session_id", "Id of the conversation, if it is stored") { $0.conversation },
        ])
    static let text = EventKind<String>(
        "message", "A part of the answer", [author, Field("delta", "Text to append") { $0 }], text: "delta",
        format: .markdown)
    static let refusal = EventKind<String>(
        "message", "A part of the model's refusal", [author, Field("refusal", "Text to append") { $0 }],
        text: "refusal", format: .markdown)
    static let reasoning = EventKind<String>(
        "reasoning", "A part of the model's reasoning", [Field("delta", "Text to append") { $0 }])
    static let call = EventKind<ToolCall>(
        "tool_use", "A tool call starts",
        [
            Field("id", "Id of the call") { $0.id },
            Field("name", "Name that the model uses for the tool") { $0.name },
            Field("input", "Input of the call") { $0.input },
            Field("by_server", "Whether the server runs the tool itself") { $0.isDone ? true : Bool?.none },
        ])
    static let output = EventKind<(call: String, text: String)>(
        "tool_output", "Output of a tool while it runs",
        [Field("tool_id", "Id of the call") { $0.call }, Field("text", "Text to append") { $0.text }])
    /// The state is known for calls that ran here.
    static let result = EventKind<(result: ToolResult, state: CallUpdate.State?)>(
        "tool_result", "The result of a call",
        [
            Field("tool_id", "Id of the call") { $0.result.call },
            Field("is_error", "Whether it failed") { $0.result.isError },
            Field("content", "Output of the call") { $0.result.content },
            Field("duration_ms", "Duration in milliseconds") { $0.result.duration.map { Int($0 / .milliseconds(1)) } },
            Field("exit_code", "Exit code of a command") { $0.result.exitCode },
            Field("state", "State of the call") { $0.state },
        ])
    static let failure = EventKind<AnyFailure>(
        "error", "The turn failed",
        [
            Field("code", "Stable error code") { $0.code },
            Field("message", "What happened and what to do next") { $0.message },
        ])
    static let turn = EventKind<TurnReport>("turn", "A turn of an interactive conversation has ended")

    /// What `chat.send` sends while it runs.
    static var all: [EventDeclaration] {
        [
            start.declaration, text.declaration, refusal.declaration, reasoning.declaration, call.declaration,
            output.declaration, result.declaration, failure.declaration, turn.declaration,
            EventDeclaration(ActionEvent.clear.type, "The user cleared the screen"),
        ]
    }

    /// The lines that `chat send --format ndjson` writes: one event each, with the result last.
    static var lines: [EventDeclaration] {
        all + [
            // The result of a conversation without messages has no members.
            EventDeclaration(
                "result", "The last line: the result",
                [.init("is_error", "False", .boolean, keywords: ["const": false])]
                    + TurnReport.fields.map { $0.property.optional }),
            EventDeclaration(
                "result", "The last line: why there is no result",
                [
                    .init("is_error", "True", .boolean, keywords: ["const": true]),
                    .init("error", "The error, with its code, message and exit code", .map(.any)),
                ]),
        ]
    }
}

extension AnyFailure {
    /// The failure as an event of a turn.
    var event: ActionEvent { ChatEvents.failure.event(self) }
}

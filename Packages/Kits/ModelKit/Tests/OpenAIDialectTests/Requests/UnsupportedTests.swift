import Capabilities
import JSON
import ModelKit
import OpenAIDialect
import Testing

@Suite("Unsupported parts of a request")
struct UnsupportedTests {
    private func refusal(_ quirks: OpenAIQuirks, _ change: (inout ChatRequest) -> Void) -> DialectError? {
        var request = ChatRequest(model: "m", messages: [Message(.user, "hi")])
        change(&request)
        return #expect(throws: DialectError.self) { try OpenAIDialect(quirks).body(of: request) }
    }

    @Test("A gateway accepts no tools, schema, seed, effort, images or files")
    func gateway() {
        let tool = ToolDescription(name: "t", summary: "", input: [:], effect: .reads)
        let image = Attachment(name: "a\u{1B}.png", mediaType: "image/png", bytes: [])
        let file = Attachment(name: "b.pdf", mediaType: "application/pdf", bytes: [])
        let refusals = [
            ("tools", refusal(.gateway) { $0.tools = [tool] }),
            ("schema", refusal(.gateway) { $0.schema = AnswerSchema(name: "a", schema: [:]) }),
            ("seed", refusal(.gateway) { $0.options.seed = 1 }),
            ("effort", refusal(.gateway) { $0.options.effort = .low }),
            (#"a\u{1B}.png"#, refusal(.gateway) { $0.messages = [Message(.user, [.text("x"), .attachment(image)])] }),
            ("b.pdf", refusal(.gateway) { $0.messages = [Message(.user, [.attachment(file)])] }),
            ("b.pdf", refusal(.ollama) { $0.messages = [Message(.user, [.text("x"), .attachment(file)])] }),
        ]
        for (word, refusal) in refusals {
            #expect(refusal?.kind == .unsupported)
            #expect(refusal?.message.contains(word) == true, "\(word): \(refusal?.message ?? "")")
        }
    }

    @Test("Parts that do not belong to a role are refused")
    func roles() {
        let image = Attachment(name: "a.png", mediaType: "image/png", bytes: [])
        let call = ToolCall(id: "a", name: "t", input: [:])
        for message in [
            Message(.system, [.attachment(image)]), Message(.assistant, [.attachment(image)]),
            Message(.tool, [.attachment(image)]), Message(.tool, "text"), Message(.user, [.call(call)]),
        ] {
            #expect(refusal(.openAI) { $0.messages = [message] }?.kind == .unsupported, "\(message)")
        }
    }

    @Test("A gateway without memory gets the conversation in one message")
    func folded() throws {
        let conversation = [
            Message(.system, "Be brief."), Message(.user, "My name is Ada."),
            Message(
                .assistant,
                [
                    .reasoning(Reasoning("hm")), .text("Hello Ada."),
                    .call(ToolCall(id: "t", name: "Bash", input: [:], isDone: true)),
                    .result(ToolResult(call: "t", content: "secret")),
                ]), Message(.user, "What is it?"),
        ]
        let body = try OpenAIDialect(.gateway).body(of: ChatRequest(model: "m", messages: conversation))
        let messages = try #require(body["messages"]?.array)
        #expect(messages.count == 2)
        #expect(messages[0] == ["role": "system", "content": "Be brief."])
        #expect(
            messages[1]["content"]?.string == """
                This is our conversation so far.

                <user>
                My name is Ada.
                </user>

                <assistant>
                Hello Ada.
                </assistant>

                Now answer this:

                What is it?
                """)
        let goesOn = try OpenAIDialect(.gateway).body(of: ChatRequest(model: "m", messages: conversation.dropLast()))
        #expect(goesOn["messages"]?[1]?["content"]?.string?.hasSuffix("</assistant>\n\nNow go on.") == true)
        let first = try OpenAIDialect(.gateway).body(of: ChatRequest(model: "m", messages: [Message(.user, "hi")]))
        #expect(first["messages"] == [["role": "user", "content": "hi"]])
    }

    @Test("A refused name is replaced by the other one, and other refusals change nothing")
    func adapting() {
        let newName = ServerRefusal(
            message: "Unsupported parameter: 'max_tokens' is not supported with this model. "
                + "Use 'max_completion_tokens' instead.", code: "unsupported_parameter", field: "max_tokens")
        #expect(OpenAIQuirks.liteLLM.adapted(to: newName)?.tokenLimit == .maxCompletionTokens)
        let oldName = ServerRefusal(message: "Unrecognized request argument supplied: max_completion_tokens")
        #expect(OpenAIQuirks.openAI.adapted(to: oldName)?.tokenLimit == .maxTokens)
        let usage = ServerRefusal(message: "stream_options: Extra inputs are not permitted")
        #expect(OpenAIQuirks.vLLM.adapted(to: usage)?.asksForUsage == false)
        let role = ServerRefusal(message: "Unexpected role developer")
        #expect(OpenAIQuirks.openAI.adapted(to: role)?.usesDeveloperRole == false)
        for words in ["max_tokens is too large: 9", "Unknown model", "not found"] {
            #expect(OpenAIQuirks.openAI.adapted(to: ServerRefusal(message: words)) == nil)
        }
    }
}

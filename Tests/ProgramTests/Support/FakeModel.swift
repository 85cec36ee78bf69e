import HTTPCore
import HTTPTesting
import JSON
import Synchronization
import Testing

/// A model that calls tools as a test says, in the dialect of OpenAI, streamed where that is asked for.
enum FakeModel {
    /// A tool that it calls, with what it gives the tool.
    struct Call: Sendable {
        let tool: String
        let input: JSON

        init(_ tool: String, _ input: JSON = [:]) {
            (self.tool, self.input) = (tool, input)
        }

        /// A command in the shell.
        static func shell(_ command: String) -> Call { Call("bash_run", ["command": .string(command)]) }
    }

    /// What a model was given since the person spoke last.
    struct Question: Sendable {
        /// The names of the tools that it was offered.
        let tools: [String]
        /// How often it has called tools.
        let round: Int
        /// Everything that it was told, results of tools included.
        let text: String

        fileprivate init(_ request: JSON) {
            tools = (request["tools"]?.array ?? []).compactMap { $0["function"]?["name"]?.string }
            let messages = request["messages"]?.array ?? []
            let start = messages.lastIndex { $0["role"] == "user" } ?? 0
            round = messages[start...].count { $0["tool_calls"] != nil }
            text = messages[start...].map { message in
                message["content"]?.string
                    ?? (message["content"]?.array ?? []).compactMap { $0["text"]?.string }.joined(separator: "\n")
            }.joined(separator: "\n")
        }
    }

    /// A server at which a model calls what the closure says, and says something when that is nothing.
    static func script(
        saying words: String = "Done.", _ calls: @escaping @Sendable (Question) throws -> [Call]
    ) -> ScriptedServer.Script {
        { connection in
            let request = try connection.receiveRequest()
            guard request.method == "POST" else {
                return try connection.answer(200, ["Connection": "close"], #"{"data":[{"id":"small-1"}]}"#)
            }
            let body = try JSON(parsing: request.body)
            let question = Question(body)
            let calls = try calls(question).enumerated().map { index, call -> JSON in
                [
                    "index": .int(index), "id": .string("c\(question.round)-\(index)"), "type": "function",
                    "function": ["name": .string(call.tool), "arguments": .string(call.input.text())],
                ]
            }
            let message: JSON =
                calls.isEmpty
                ? ["role": "assistant", "content": .string(words)] : ["role": "assistant", "tool_calls": .array(calls)]
            let streams = body["stream"] == true
            let answer: JSON = [
                "id": "a", "model": "small-1",
                "choices": [
                    [
                        "index": 0, streams ? "delta" : "message": message,
                        "finish_reason": calls.isEmpty ? "stop" : "tool_calls",
                    ]
                ],
            ]
            guard streams else {
                return try connection.answer(
                    200, ["Content-Type": "application/json", "Connection": "close"], answer.text())
            }
            try connection.beginEvents()
            try connection.send("data: \(answer.text())\n\ndata: [DONE]\n\n")
        }
    }

    /// Calls these, one round after the other.
    static func calling(_ rounds: [Call]...) -> ScriptedServer.Script {
        script { $0.round < rounds.count ? rounds[$0.round] : [] }
    }

    /// What a model is to call, which a test says once it knows the places.
    final class Plan: Sendable {
        private let held = Mutex<[Call]>([])

        var calls: [Call] {
            get { held.withLock { $0 } }
            set { held.withLock { $0 = newValue } }
        }
    }

    /// Calls all of a plan, as many at once as one answer may hold.
    static func calling(_ plan: Plan) -> ScriptedServer.Script {
        script { Array(plan.calls.dropFirst($0.round * callsAtOnce).prefix(callsAtOnce)) }
    }

    private static let callsAtOnce = 60

    /// What came of a call, as a program reads it.
    struct Result: Sendable {
        let call: Call
        let content: String
        let isError: Bool
    }

    /// What came of the calls of a plan, from the lines of `ask --format ndjson`.
    static func results(of plan: Plan, in output: String) throws -> [Result] {
        var found: [String: JSON] = [:]
        for line in output.lines {
            let event = try JSON(parsing: line)
            if event["type"] == "tool_result", let id = event["tool_id"]?.string { found[id] = event }
        }
        return try plan.calls.enumerated().map { index, call in
            let id = "c\(index / callsAtOnce)-\(index % callsAtOnce)"
            let event = try #require(found[id], "\(call) was not answered: \(output.suffix(2000))")
            return Result(
                call: call, content: event["content"]?.string ?? "", isError: event["is_error"]?.bool ?? false)
        }
    }
}

extension ScriptedServer {
    /// What the tools gave that a model has called, in the order of the calls, as it was told in its last request.
    func toolResults() throws -> [String] {
        guard let last = record.requests.last(where: { $0.method == "POST" }) else { return [] }
        return (try JSON(parsing: last.body)["messages"]?.array ?? []).filter { $0["role"] == "tool" }
            .map { $0["content"]?.string ?? $0["content"]?.text() ?? "" }
    }
}

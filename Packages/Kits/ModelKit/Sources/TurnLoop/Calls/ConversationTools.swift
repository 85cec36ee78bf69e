import Capabilities
import JSON
import Synchronization

/// Tools that are about the conversation itself: one finds tools that are too many to describe, one reads results that are
/// too long to send. Each is offered only while there is something for it.
final class ConversationTools: ToolSource {
    private struct State {
        /// The tools that are not described until they are found, by the names that models know them by.
        var shelved: [String: ToolDescription] = [:]
        var found: Set<String> = []
        /// The results that are sent shortened, whole.
        var results: [String: String] = [:]
    }

    private let state = Mutex(State())
    private let resultBytes: Int

    static let search = "tool.search"
    static let read = "tool_result.read"
    private static let mostFound = 20

    /// - Parameter resultBytes: longer results are sent shortened.
    init(resultBytes: Int) {
        self.resultBytes = resultBytes
    }

    var name: String { "conversation" }

    // MARK: What there is

    /// Describes these tools only once they are found.
    func shelve(_ tools: [ToolDescription]) {
        state.withLock { state in
            for tool in tools { state.shelved[tool.name] = tool }
        }
    }

    /// Whether a tool is to be found before it is described.
    func hides(_ name: String) -> Bool {
        state.withLock { $0.shelved[name] != nil && !$0.found.contains(name) }
    }

    /// Takes the results that are too long, and finds the tools that were used.
    func note(_ message: Message) {
        state.withLock { state in
            for part in message.parts {
                switch part {
                case .result(let result) where result.content.utf8.count > resultBytes:
                    state.results[result.call] = result.content
                case .call(let call) where state.shelved[call.name] != nil: state.found.insert(call.name)
                default: break
                }
            }
        }
    }

    /// Whether there is something for a tool of these.
    func offers(_ tool: String) -> Bool {
        state.withLock { tool == Self.search ? !$0.shelved.isEmpty : !$0.results.isEmpty }
    }

    /// Both tools, whether there is something for them or not.
    static let descriptions = [
        ToolDescription(
            name: search,
            summary:
                "Finds tools by words that describe what they do. There are more tools than the ones described here; "
                + "those that are found can be called afterwards.",
            input: [
                "type": "object",
                "properties": [
                    "query": ["type": "string", "description": "What the tool should do, in a few words"]
                ],
                "required": ["query"],
            ], effect: .reads),
        ToolDescription(
            name: read,
            summary: "Reads a part of an earlier tool result that was too long to be sent whole.",
            input: [
                "type": "object",
                "properties": [
                    "call": ["type": "string", "description": "Id of the call, as the note in its result says"],
                    "offset": ["type": "integer", "minimum": 0, "description": "Where to begin, in bytes"],
                    "limit": ["type": "integer", "minimum": 1, "description": "How many bytes; 20000 by default"],
                ],
                "required": ["call"],
            ], effect: .reads),
    ]

    func tools() async throws -> [ToolDescription] { Self.descriptions }

    // MARK: Calls

    func run(_ call: ToolCall) async throws -> ToolResult {
        let outcome = call.name == Self.search ? found(call.input) : part(call.input)
        switch outcome {
        case .success(let text): return ToolResult(call: call.id, content: text)
        case .failure(let problem): return ToolResult(call: call.id, content: problem.words, isError: true)
        }
    }

    private struct Problem: Error {
        let words: String
    }

    private func found(_ input: JSON) -> Result<String, Problem> {
        let query = (input["query"]?.string ?? "").lowercased()
        // Shorter words are in the middle of too many others.
        let words = query.split { !$0.isLetter && !$0.isNumber }.map(String.init).filter { $0.count > 2 }
        guard !words.isEmpty else {
            return .failure(Problem(words: "the query needs words that describe what the tool should do"))
        }
        return state.withLock { state in
            let ranked = state.shelved.values.map { (tool: $0, score: Self.score($0, words)) }
                .filter { $0.score > 0 }.sorted { ($1.score, $0.tool.name) < ($0.score, $1.tool.name) }.prefix(
                    Self.mostFound)
            guard !ranked.isEmpty else {
                return .success("no tool of \(state.shelved.count) fits these words; try others")
            }
            for (tool, _) in ranked { state.found.insert(tool.name) }
            let lines = ranked.map { tool, _ in
                "\(tool.name): \(PlainText.escape(String(tool.summary.prefix { !$0.isNewline }), limit: 300))"
            }
            return .success("These can be called now:\n" + lines.joined(separator: "\n"))
        }
    }

    /// Words in the name count most.
    private static func score(_ tool: ToolDescription, _ words: [String]) -> Int {
        let (name, title, summary) = (
            tool.name.lowercased(), (tool.title ?? "").lowercased(), tool.summary.lowercased()
        )
        return words.reduce(0) { sum, word in
            sum + (name.contains(word) ? 4 : 0) + (title.contains(word) ? 2 : 0) + (summary.contains(word) ? 1 : 0)
        }
    }

    private func part(_ input: JSON) -> Result<String, Problem> {
        let id = input["call"]?.string ?? ""
        let results = state.withLock { $0.results }
        guard let text = results[id] else {
            let known = results.keys.sorted().joined(separator: ", ")
            return .failure(
                Problem(
                    words: "no long result has the call \(PlainText.escape(id).quotedForMessage); there are: \(known)"))
        }
        let count = text.utf8.count
        let offset = input["offset"]?.wholeNumber ?? 0
        guard offset >= 0, offset < count else {
            return .failure(Problem(words: "the result has \(count) bytes, so an offset is from 0 to \(count - 1)"))
        }
        let limit = min(max(1, input["limit"]?.wholeNumber ?? 20_000), max(1, resultBytes - 200))
        // Not through a character.
        let start = text.utf8.index(text.startIndex, offsetBy: offset).roundedDown(in: text)
        let end = text.utf8.index(start, offsetBy: min(limit, text.utf8.distance(from: start, to: text.endIndex)))
            .roundedUp(in: text)
        let first = text.utf8.distance(from: text.startIndex, to: start)
        let last = text.utf8.distance(from: text.startIndex, to: end)
        return .success("[bytes \(first) to \(last) of \(count)]\n\(text[start..<end])")
    }
}

import Capabilities
import JSON

/// What a conversation says, as far as the planner needs it.
struct Transcript {
    struct Call: Hashable {
        var tool: String
        var input: JSON
    }

    /// What a person has said, in order.
    private(set) var questions: [String] = []
    /// The results of calls since then.
    private(set) var answers: [Call: [ToolResult]] = [:]
    /// How many calls were made since then, and in the whole conversation.
    private(set) var callsInTurn = 0
    private(set) var calls = 0
    /// The lines that the last search for markers before this turn has found.
    private(set) var markers: [Hit] = []
    /// Whether the last question came with files or images.
    private(set) var hasAttachments = false
    /// Whether the person has been told what can be done here.
    private(set) var hasIntroduction = false

    init(_ messages: [Message]) {
        let start = messages.lastIndex { $0.role == .user } ?? messages.endIndex
        questions = messages.filter { $0.role == .user }.map(\.text)
        if start < messages.endIndex {
            hasAttachments = messages[start].parts.contains { if case .attachment = $0 { true } else { false } }
        }
        for index in messages.indices where messages[index].role == .assistant {
            if messages[index].text.firstRange(of: Help.name) != nil { hasIntroduction = true }
            let made = messages[index].calls.filter { !$0.isDone }
            calls += made.count
            let results = Self.results(behind: index, messages)
            if index > start {
                callsInTurn += made.count
                for call in made {
                    guard let result = results[call.id] else { continue }
                    answers[Call(tool: ToolShelf.plain(call.name), input: call.input), default: []].append(result)
                }
            } else {
                rememberMarkers(made, results)
            }
        }
    }

    /// The next result of a call that was made with this input.
    mutating func takeAnswer(to call: Call) -> ToolResult? {
        guard var results = answers[call], !results.isEmpty else { return nil }
        let result = results.removeFirst()
        answers[call] = results
        return result
    }

    private static func results(behind index: Int, _ messages: [Message]) -> [String: ToolResult] {
        var results: [String: ToolResult] = [:]
        for message in messages[(index + 1)...].prefix(while: { $0.role == .tool }) {
            for case .result(let result) in message.parts { results[result.call] = result }
        }
        return results
    }

    private mutating func rememberMarkers(_ calls: [ToolCall], _ results: [String: ToolResult]) {
        for call in calls where ToolShelf.plain(call.name) == ToolShelf.plain(Tool.search.rawValue) {
            guard let pattern = call.input["pattern"]?.string, FindMarkers.isPattern(pattern),
                let result = results[call.id], !result.isError
            else { continue }
            markers = Hit.all(in: result.content)
        }
    }
}

import Capabilities
import JSON

/// Where an intention works: it asks for tools here, and says what there is to say.
struct Desk {
    /// How many calls one turn may take.
    static let mostCalls = 40

    private let tools: ToolShelf
    private var transcript: Transcript
    /// What was said since the last call that has an answer; all before it has been said in earlier rounds.
    private(set) var text = ""
    /// What the last tool has answered.
    private(set) var lastAnswer = ""
    /// The markers that a person may speak of as "the first".
    var markers: [Hit]

    init(_ tools: ToolShelf, _ transcript: Transcript) {
        self.tools = tools
        self.transcript = transcript
        markers = transcript.markers
    }

    var toolNames: [String] { tools.all }

    /// Adds a paragraph.
    mutating func say(_ paragraph: String) {
        text += text.isEmpty ? paragraph : "\n\n" + paragraph
    }

    func offers(_ tool: Tool) -> Bool { offeredName(of: tool.rawValue) != nil }

    /// What a tool is called here; nil when it is not offered.
    func offeredName(of tool: String) -> String? { tools.name(of: tool) }

    /// What a tool has answered, also when it failed. Ends the round when it has not been asked yet.
    mutating func ask(_ tool: Tool, _ input: JSONObject) throws(Stop) -> ToolResult {
        guard let result = try ask([(tool, input)]).first else { throw .lacks(tool) }
        return result
    }

    /// The same for calls that go out together. None may change anything.
    mutating func ask(_ calls: [(tool: Tool, input: JSONObject)]) throws(Stop) -> [ToolResult] {
        var wanted: [(tool: Tool, name: String, input: JSONObject)] = []
        for call in calls {
            guard let name = tools.name(of: call.tool.rawValue) else { throw .lacks(call.tool) }
            wanted.append((call.tool, name, call.input))
        }
        let results = try ask(wanted.map { ($0.name, .object($0.input)) })
        for (call, result) in zip(wanted, results) where Self.isDenial(result) {
            throw .denied(call.tool, result.content)
        }
        return results
    }

    /// What a tool has answered that has any name.
    mutating func ask(_ calls: [(name: String, input: JSON)]) throws(Stop) -> [ToolResult] {
        var results: [ToolResult] = []
        var missing: [ToolCall] = []
        for call in calls {
            let key = Transcript.Call(tool: ToolShelf.plain(call.name), input: call.input)
            if let result = transcript.takeAnswer(to: key) {
                results.append(result)
            } else {
                let number = transcript.calls + missing.count + 1
                missing.append(ToolCall(id: "call_\(number)", name: call.name, input: call.input))
            }
        }
        guard missing.isEmpty else {
            guard transcript.callsInTurn + missing.count <= Self.mostCalls else {
                throw .impossible("I have made \(transcript.callsInTurn) calls for this message and stop here.")
            }
            throw .waits(missing)
        }
        text = ""
        lastAnswer = results.last?.content ?? ""
        return results
    }

    /// The text that a tool has answered with; a failure ends the step.
    mutating func content(_ tool: Tool, _ input: JSONObject) throws(Stop) -> String {
        let result = try ask(tool, input)
        guard !result.isError else { throw .failed(tool, result.content) }
        return result.content
    }

    /// Whether a call was not done because somebody does not want it.
    static func isDenial(_ result: ToolResult) -> Bool {
        result.isError && (result.content.hasPrefix("not done") || result.content.hasPrefix("stopped by the person"))
    }
}

import Capabilities
import JSON

/// One thing that the planner can do.
///
/// It is written as if tools answered at once. `Desk.ask` gives the result of a call that was answered already, and
/// otherwise ends this round with the call; in the next round everything runs again from the beginning, up to the first
/// call that has no answer yet. So an intention must do the same whenever it is given the same results.
protocol Intention: Sendable {
    /// Nil when a clause asks for something else.
    init?(_ clause: Clause)
    /// What it does, as a step of a plan: "look for TODO and FIXME".
    var words: String { get }
    func carryOut(at desk: inout Desk) throws(Stop)
}

/// One that can be shown before it is done.
protocol Previewing: Intention {
    /// The same for real.
    var applied: Self { get }
}

/// One that can be asked again with something different.
protocol Continuing: Intention {
    func continued(_ change: Continuation) -> Self?
}

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

extension Desk {
    /// Some lines before and after one, so that an edit finds its place.
    mutating func lines(of path: String, around line: Int) throws(Stop) -> FileLines {
        FileLines(try content(.read, ["path": .string(path), "offset": .int(max(1, line - 100)), "limit": 200]))
    }

    /// The last lines of a file.
    mutating func lastLines(of path: String) throws(Stop) -> FileLines {
        var lines = FileLines(try content(.read, ["path": .string(path), "limit": 500]))
        var reads = 1
        while let next = lines.next {
            guard reads < 20 else { throw .impossible("\(Markdown.code(path)) is too long for me to find its end.") }
            // Two hundred lines more than are needed, so that the end has something in front of it.
            lines = FileLines(
                try content(.read, ["path": .string(path), "offset": .int(max(1, next - 200)), "limit": 2000]))
            reads += 1
        }
        return lines
    }

    /// Replaces texts in a file and says what became of it.
    mutating func edit(
        _ path: String, _ edits: [(old: String, new: String)], everywhere: Bool = false, isPreview: Bool
    ) throws(Stop) {
        let edits = edits.map { edit -> JSON in
            var json: JSONObject = ["old_text": .string(edit.old), "new_text": .string(edit.new)]
            if everywhere { json["replace_all"] = true }
            return .object(json)
        }
        var input: JSONObject = ["path": .string(path), "edits": .array(edits)]
        if isPreview { input["dry_run"] = true }
        let change = ToolText(try content(.edit, input))
        if isPreview {
            say("This would change \(Markdown.code(path)); nothing is written yet:")
        } else {
            say("I changed \(Markdown.code(path)):")
        }
        if !change.body.isEmpty { say(Markdown.block(change.body, "diff")) }
        if let remark = change.remark { say(remark) }
        if isPreview { say("Say **apply it** to make the change.") }
    }
}

/// Why an intention does not go on.
enum Stop: Error {
    /// These calls have to be answered first.
    case waits([ToolCall])
    /// A tool that it needs is not there.
    case lacks(Tool)
    /// A tool could not do it, in its own words.
    case failed(Tool, String)
    /// Somebody did not allow a call, or stopped it.
    case denied(Tool, String)
    /// It cannot be done, for a reason of our own.
    case impossible(String)
}

/// The tools that the planner knows, by the names that their source gives them.
enum Tool: String, CaseIterable {
    case read = "fs.read"
    case write = "fs.write"
    case list = "ls"
    case glob = "glob"
    case search = "grep.search"
    case edit = "multi.edit"
    case shell = "bash.run"
}

/// The tools that a request offers.
struct ToolShelf {
    private let names: [String: String]
    /// As they are offered, in order.
    let all: [String]

    init(_ tools: [ToolDescription]) {
        all = tools.map(\.name)
        names = Dictionary(tools.map { (Self.plain($0.name), $0.name) }) { first, _ in first }
    }

    /// The name under which a tool is offered: `fs.read` may be called `fs_read`.
    func name(of tool: String) -> String? { names[Self.plain(tool)] }

    /// A name in the form in which names are compared.
    static func plain(_ name: String) -> String {
        String(name.lowercased().map { $0 == "." || $0 == "-" ? "_" : $0 })
    }
}

import Capabilities
import JSON

/// One thing that the planner can do.
///
/// It is written as if tools answered at once. `Desk.ask` returns the result of a call that was already answered.
/// Otherwise it ends this round with the call. In the next round everything runs again from the start, up to the first
/// call without an answer. So an intention must be deterministic: the same results must lead to the same calls.
protocol Intention: Sendable {
    /// Nil if a clause asks for something else.
    init?(_ clause: Clause)
    /// The description for a plan, such as "look for TODO and FIXME".
    var words: String { get }
    func carryOut(at desk: inout Desk) throws(Stop)
}

/// An intention that can be previewed.
protocol PreviewableIntention: Intention {
    /// The same intention without the preview.
    var applied: Self { get }
}

/// An intention that can be repeated with a change.
protocol RepeatableIntention: Intention {
    func continued(_ change: Continuation) -> Self?
}

/// What an intention works with: it calls tools and adds text to the answer here.
struct Desk {
    /// The maximum number of calls in one turn.
    static let mostCalls = 40

    private let tools: ToolShelf
    private var transcript: Transcript
    /// The text since the last answered call. Earlier text was sent in earlier rounds.
    private(set) var text = ""
    /// The result of the last tool.
    private(set) var lastAnswer = ""
    /// The markers that "the first" refers to.
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

    /// The name of a tool in this request; nil if it is not offered.
    func offeredName(of tool: String) -> String? { tools.name(of: tool) }

    /// The result of a tool, even if it failed. Ends the round if it has not been called yet.
    mutating func ask(_ tool: Tool, _ input: JSONObject) throws(Stop) -> ToolResult {
        guard let result = try ask([(tool, input)]).first else { throw .lacks(tool) }
        return result
    }

    /// The same for calls that are made together. They must only read.
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

    /// The same for tools of any name.
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
                throw .impossible("I stop here: I made \(transcript.callsInTurn) calls for this message.")
            }
            throw .waits(missing)
        }
        text = ""
        lastAnswer = results.last?.content ?? ""
        return results
    }

    /// The text of a tool's result; a failure ends the step.
    mutating func content(_ tool: Tool, _ input: JSONObject) throws(Stop) -> String {
        let result = try ask(tool, input)
        guard !result.isError else { throw .failed(tool, result.content) }
        return result.content
    }

    /// Whether a call was denied or stopped by the user.
    static func isDenial(_ result: ToolResult) -> Bool {
        result.isError && (result.content.hasPrefix("not done") || result.content.hasPrefix("stopped by the person"))
    }
}

extension Desk {
    /// A line with some lines before and after it, so that an edit is unambiguous.
    mutating func lines(of path: String, around line: Int) throws(Stop) -> FileLines {
        FileLines(try content(.read, ["path": .string(path), "offset": .int(max(1, line - 100)), "limit": 200]))
    }

    /// The last lines of a file.
    mutating func lastLines(of path: String) throws(Stop) -> FileLines {
        var lines = FileLines(try content(.read, ["path": .string(path), "limit": 500]))
        var reads = 1
        while let next = lines.next {
            guard reads < 20 else { throw .impossible("\(Markdown.code(path)) is too long for me to find its end.") }
            // Read 200 more lines than needed, so that there are lines before the end.
            lines = FileLines(
                try content(.read, ["path": .string(path), "offset": .int(max(1, next - 200)), "limit": 2000]))
            reads += 1
        }
        return lines
    }

    /// Replaces texts in a file and shows the changes.
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

/// Why an intention stops.
enum Stop: Error {
    /// It needs the results of these calls first.
    case waits([ToolCall])
    /// It needs a tool that is not offered.
    case lacks(Tool)
    /// A tool failed, with its message.
    case failed(Tool, String)
    /// The user denied or stopped a call.
    case denied(Tool, String)
    /// It cannot be done, for the given reason.
    case impossible(String)
}

/// The tools that the planner uses, by the names of their source.
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
    /// The names of the offered tools, in order.
    let all: [String]

    init(_ tools: [ToolDescription]) {
        all = tools.map(\.name)
        names = Dictionary(tools.map { (Self.plain($0.name), $0.name) }) { first, _ in first }
    }

    /// The name under which a tool is offered; `fs.read` may be called `fs_read`.
    func name(of tool: String) -> String? { names[Self.plain(tool)] }

    /// The form of a name for comparisons.
    static func plain(_ name: String) -> String {
        String(name.lowercased().map { $0 == "." || $0 == "-" ? "_" : $0 })
    }
}

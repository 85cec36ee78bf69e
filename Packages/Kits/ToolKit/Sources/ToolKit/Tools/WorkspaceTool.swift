import Capabilities
import JSON

/// A workspace tool.
protocol WorkspaceTool: Sendable {
    var name: String { get }
    /// The description for models.
    var summary: String { get }
    var properties: [Schema.Property] { get }
    var effect: Effect { get }
    /// The timeout, if it is longer than usual.
    var limit: Duration? { get }

    /// What a call would reach.
    func reach(_ input: ToolInput, in workspace: Workspace) async throws -> ToolReach

    /// - Parameter agreed: what the approved call would reach; nil if no approval is needed.
    func outcome(
        _ input: ToolInput, in workspace: Workspace, reaching agreed: ToolReach?,
        telling tell: @escaping @Sendable (String) async -> Void
    ) async throws -> ToolOutcome
}

/// The result for the model, and what its frontend shows with it.
struct ToolOutcome: Sendable {
    var text: String
    var isError = false
    var exitCode: Int?
}

extension WorkspaceTool {
    var limit: Duration? { nil }

    var description: ToolDescription {
        ToolDescription(
            name: name, summary: summary, input: .object(Schema.record(properties).jsonSchema), effect: effect,
            limit: limit)
    }
}

/// A tool that reads files and reports only a final result.
protocol FileTool: WorkspaceTool {
    /// The text for the model.
    func run(_ input: ToolInput, in workspace: Workspace) async throws -> String
}

extension FileTool {
    var effect: Effect { .reads }

    func reach(_ input: ToolInput, in workspace: Workspace) async throws -> ToolReach {
        let path = try input.path
        return try await workspace.work { _ in
            let place = try workspace.location(path)
            return ToolReach(paths: [place], state: place.hashValue)
        }
    }

    func outcome(
        _ input: ToolInput, in workspace: Workspace, reaching agreed: ToolReach?,
        telling tell: @escaping @Sendable (String) async -> Void
    ) async throws -> ToolOutcome {
        if let agreed, try await reach(input, in: workspace) != agreed { throw ToolReachChanged() }
        return ToolOutcome(text: try await run(input, in: workspace))
    }
}

extension Schema.Property {
    static func optional(_ name: String, _ summary: String, _ schema: Schema) -> Schema.Property {
        Schema.Property(name, summary, .optional(schema))
    }

    static func path(_ summary: String) -> Schema.Property { optional("path", summary, .path(.any)) }

    static var hidden: Schema.Property {
        optional("hidden", "Also look at names that begin with a dot (default: false)", .boolean)
    }

    static var ignored: Schema.Property {
        optional("ignored", "Also look at what .gitignore leaves out (default: false)", .boolean)
    }
}

/// The validated input of a call.
struct ToolInput: Sendable {
    private let members: JSONObject

    private init(members: JSONObject) {
        self.members = members
    }

    init(_ json: JSON, _ properties: [Schema.Property]) throws(WorkspaceError) {
        // Some models send null if no input is needed.
        let json = json.isNull ? .object([:]) : json
        let problems = Schema.record(properties).problems(in: json)
        guard problems.isEmpty, let members = json.object else {
            let words = problems.prefix(5).map { PlainText.escape($0.description) }.joined(separator: "; ")
            throw WorkspaceError(.input, "invalid input: \(words); fix it and try again")
        }
        self.members = members
    }

    func text(_ name: String) -> String { members[name]?.string ?? "" }
    func number(_ name: String) -> Int? { members[name]?.int }
    func flag(_ name: String) -> Bool { members[name]?.bool ?? false }

    /// The members of a list of records.
    func records(_ name: String) -> [ToolInput] {
        (members[name]?.array ?? []).map { ToolInput(members: $0.object ?? [:]) }
    }

    /// The path that the tool works on; the working folder if none is given.
    var path: EntryPath {
        get throws(WorkspaceError) {
            let text = text("path")
            return text.isEmpty || text == "." ? .here : try EntryPath(text)
        }
    }
}

/// The text of a result: lines up to a limit, and notes.
struct Answer {
    /// The size limit of all lines together.
    static let largest = 256 << 10

    private(set) var text = ""
    private var notes: [String] = []
    /// Whether lines were left out because of the size limit.
    private(set) var isFull = false

    /// Adds a line if there is room.
    mutating func add(_ line: String) {
        guard !isFull, text.utf8.count + line.utf8.count < Self.largest else {
            isFull = true
            return
        }
        text += line
        text += "\n"
    }

    mutating func note(_ note: String?) {
        if let note { notes.append(note) }
    }

    /// The lines, then each note in brackets, so that it is not taken for a part of a file.
    var whole: String {
        text + notes.map { "[\($0)]" }.joined(separator: "\n")
    }
}

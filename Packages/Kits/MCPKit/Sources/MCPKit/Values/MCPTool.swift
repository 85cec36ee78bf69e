public import JSON

/// A tool of a server, as the server describes it.
public struct MCPTool: Sendable, Hashable {
    /// Its name within its server.
    public var name: String
    /// Its name for people.
    public var title: String?
    /// What it does and when to use it, written for models by an untrusted party.
    public var summary: String?
    /// JSON Schema of the arguments, always of an object.
    public var input: JSON
    /// JSON Schema of the structured result; nil if there is none.
    public var output: JSON?
    /// What the server says of its effects, which proves nothing.
    public var hints: Hints
    /// Whether a call runs as a task.
    public var tasks: TaskSupport

    /// What a server says of a tool's effects. An untrusted party says so, so that it is never a reason not to ask.
    public struct Hints: Sendable, Hashable {
        /// Whether it changes nothing.
        public var readsOnly: Bool?
        /// Whether what it changes may be lost.
        public var destroys: Bool?
        /// Whether a repeated call changes nothing more.
        public var isIdempotent: Bool?
        /// Whether it deals with more than what the server itself has.
        public var reachesOut: Bool?

        /// Nothing is said.
        public init(
            readsOnly: Bool? = nil, destroys: Bool? = nil, isIdempotent: Bool? = nil, reachesOut: Bool? = nil
        ) {
            self.readsOnly = readsOnly
            self.destroys = destroys
            self.isIdempotent = isIdempotent
            self.reachesOut = reachesOut
        }
    }

    /// Whether calls of a tool run as tasks, which are asked for later.
    public enum TaskSupport: String, Sendable {
        case forbidden, optional, required
    }

    /// A tool with the given description.
    public init(
        name: String, title: String? = nil, summary: String? = nil, input: JSON = ["type": "object"],
        output: JSON? = nil, hints: Hints = Hints(), tasks: TaskSupport = .forbidden
    ) {
        self.name = name
        self.title = title
        self.summary = summary
        self.input = input
        self.output = output
        self.hints = hints
        self.tasks = tasks
    }

    init(_ json: JSON) throws(MCPMalformed) {
        guard let name = json["name"]?.string, !name.isEmpty else { throw MCPMalformed("a tool has no name") }
        guard let input = json["inputSchema"], input.object != nil else {
            throw MCPMalformed("the tool '\(name)' has no schema of its input")
        }
        let given = json["annotations"]
        let hints = Hints(
            readsOnly: given?["readOnlyHint"]?.bool, destroys: given?["destructiveHint"]?.bool,
            isIdempotent: given?["idempotentHint"]?.bool, reachesOut: given?["openWorldHint"]?.bool)
        let tasks = json["execution"]?["taskSupport"]?.string.flatMap(TaskSupport.init) ?? .forbidden
        self.init(
            name: name, title: json["title"]?.string ?? given?["title"]?.string,
            summary: json["description"]?.string, input: input, output: json["outputSchema"]?.unlessNull, hints: hints,
            tasks: tasks)
    }

    /// Reads a tool that was kept as it was listed; nil if it is none.
    public init?(listed json: JSON) {
        do throws(MCPMalformed) { try self.init(json) } catch { return nil }
    }

    /// The tool as it is listed. Two tools with the same text here look the same to a model.
    public var json: JSON {
        var members: JSONObject = ["name": .string(name)]
        members["title"] = title.map { .string($0) }
        members["description"] = summary.map { .string($0) }
        members["inputSchema"] = input
        members["outputSchema"] = output
        var annotations: JSONObject = [:]
        annotations["readOnlyHint"] = hints.readsOnly.map { .bool($0) }
        annotations["destructiveHint"] = hints.destroys.map { .bool($0) }
        annotations["idempotentHint"] = hints.isIdempotent.map { .bool($0) }
        annotations["openWorldHint"] = hints.reachesOut.map { .bool($0) }
        if !annotations.isEmpty { members["annotations"] = .object(annotations) }
        if tasks != .forbidden { members["execution"] = ["taskSupport": .string(tasks.rawValue)] }
        return .object(members)
    }
}

public import Capabilities
public import JSON

/// What an action's body may use while it runs.
public struct ActionContext: Sendable {
    /// That of the action which is being done now, for what lies deep below it and has to ask or tell the person, such
    /// as a vault that is opened by the first request which needs a key. Nil outside of actions: nobody is there then.
    @TaskLocal public static var current: ActionContext?

    /// Where it is done; for actions that last, such as a server, and want what is new.
    public let session: WorkbenchSession
    /// The composition in which it is done, from its beginning to its end.
    public let generation: Generation
    /// Who asks for it.
    public let caller: Caller
    /// Opens spans.
    public var tracer: Tracer { generation.tracer }
    private let output: any ActionOutput

    package init(
        session: WorkbenchSession, generation: Generation, caller: Caller, output: any ActionOutput
    ) {
        self.session = session
        self.generation = generation
        self.caller = caller
        self.output = output
    }

    /// Asks the person; fails with a clear error when nobody can answer.
    public var interaction: any Interaction { caller.interaction }

    public var registry: Registry { generation.registry }
    public var host: Host { generation.host }

    /// Whether a person watches, on a terminal behind standard error on which a frontend may draw.
    public var isWatched: Bool { output.isWatched }

    /// Whether what is drawn for that person may have colors.
    public var isColored: Bool { output.isColored }

    /// Whether the person wants to hear nothing but what was asked for: neither how far the work is nor that it went well.
    public var isQuiet: Bool { output.isQuiet }

    /// Does another action of the same composition as a part of this one.
    ///
    /// - Parameters:
    ///   - grant: what this action's caller leaves to whoever acts for it; nil for all that it may do itself.
    ///   - interaction: who is asked instead of the caller's.
    ///   - limit: after which it is cancelled, and given up where it does not listen; nil for none.
    ///   - isAgreed: whether the person has agreed beforehand to what destroys.
    /// - Throws: `AccessFailure`, `ArgumentsFailure`, `InteractionError`, `SessionError`, or what the action itself throws.
    public func perform(
        _ action: Action, _ arguments: JSONObject = [:], narrowedBy grant: Grant? = nil,
        asking interaction: (any Interaction)? = nil, output: any ActionOutput, limit: Duration? = nil,
        isAgreed: Bool = false
    ) async throws -> any OutputValue {
        let caller = caller.narrowed(by: grant, asking: interaction)
        let context = ActionContext(session: session, generation: generation, caller: caller, output: output)
        return try await generation.perform(action, arguments, in: context, limit: limit, isAgreed: isAgreed)
    }

    /// Does another action as this one's caller would from outside: with the newest settings, whatever this one began with.
    /// What it tells goes where this one's does.
    public func performAnew(_ id: String, _ arguments: JSONObject = [:]) async throws -> any OutputValue {
        try await session.perform(id, arguments, as: caller, output: output)
    }

    /// A path that the action was given, as far as its caller may open it.
    public func path<Use>(_ given: GivenPath<Use>) throws(AccessFailure) -> GrantedPath {
        try caller.grant.path(given, from: host.locations.current)
    }

    /// The text of a path that the action was given, for what FileKit does not open; only for callers who may open all.
    public func text(of given: OwnPath) throws(AccessFailure) -> String {
        try caller.grant.text(of: given, from: host.locations.current)
    }

    /// The provider of a capability, with its feature started; nil when there is none.
    public func provider<C: Sendable>(of capability: C.Type) async throws -> C? {
        try await generation.provider(of: capability)
    }

    /// Does work that is given up when the limit is over, whether or not it listens.
    public func within<Value: Sendable>(
        _ limit: Duration, _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await Deadline(limit: limit, clock: host.clock).run(work)
    }

    /// Sends an event; returns when whoever reads it has room, so that a slow reader slows the work.
    public func emit(_ event: ActionEvent) async throws {
        try await output.event(event)
    }

    /// Sends several events that are there at once, which costs less than each by itself.
    public func emit(_ events: [ActionEvent]) async throws {
        try await output.events(events)
    }

    /// Does a part of the work that the person can stop without ending the action: on a terminal the first Ctrl-C cancels
    /// that part alone.
    public func interruptible<Result: Sendable>(
        _ work: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        try await output.interruptible(work)
    }

    /// Says how far the work has come.
    public func progress(_ activity: String, completed: Int? = nil, of total: Int? = nil) {
        output.progress(Progress(activity, completed: completed, of: total))
    }

    /// Tells the person something that is no part of the result.
    public func notice(_ text: String) {
        output.notice(text)
    }

    /// The rows of a list; tells the person why there are none, as an empty table says nothing.
    public func rows<Row>(_ rows: [Row], orSay text: @autoclosure () -> String) -> [Row] {
        if rows.isEmpty { notice(text()) }
        return rows
    }
}

/// Something that happened while an action runs.
public struct ActionEvent: Sendable, Hashable {
    /// `message`, `tool_use`…: one lower-case word.
    public let type: String
    public let fields: JSONObject
    /// The part of the result's text that this event brings; printed as it comes where text is wanted.
    public let text: String?
    /// What the text is written in.
    public let format: TextFormat

    /// What was shown so far belongs to something that is over: a terminal clears its window.
    public static let clear = ActionEvent("clear")

    /// How text is written, so that a surface can draw it.
    public enum TextFormat: String, Sendable, Hashable {
        /// Shown as it stands.
        case plain
        /// Pieces of one Markdown document, as long as they follow each other.
        case markdown
    }

    public init(_ type: String, _ fields: JSONObject = [:], text: String? = nil, format: TextFormat = .plain) {
        self.type = type
        self.fields = fields
        self.text = text
        self.format = format
    }

    /// The event as one line of NDJSON says it.
    public var json: JSON {
        var object: JSONObject = ["type": .string(type)]
        for (name, value) in fields { object[name] = value }
        return .object(object)
    }
}

/// Where an action's events, progress and notices go: each frontend has its own.
public protocol ActionOutput: Sendable {
    /// Whether a person watches, on a terminal behind standard error on which a frontend may draw.
    var isWatched: Bool { get }
    /// Whether what is drawn for that person may have colors.
    var isColored: Bool { get }
    /// Whether the person wants to hear nothing but what was asked for.
    var isQuiet: Bool { get }
    func event(_ event: ActionEvent) async throws
    func events(_ events: [ActionEvent]) async throws
    func progress(_ progress: Progress)
    func notice(_ text: String)
    /// Does work that the person can stop by itself, where the frontend has a way to say so.
    func interruptible<Result: Sendable>(_ work: @escaping @Sendable () async throws -> Result) async throws -> Result
}

extension ActionOutput {
    public var isWatched: Bool { false }

    public var isColored: Bool { false }

    public var isQuiet: Bool { false }

    public func events(_ events: [ActionEvent]) async throws {
        for event in events { try await self.event(event) }
    }

    public func interruptible<Result: Sendable>(
        _ work: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        try await work()
    }
}

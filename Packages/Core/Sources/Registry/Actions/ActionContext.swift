public import Capabilities
public import JSON
public import Screens

/// What an action's body may use while it runs.
public struct ActionContext: Sendable {
    /// The context of the running action, for code deep below it that must ask or notify the person, such as a vault
    /// opened by the first request that needs a key. Nil outside of actions.
    @TaskLocal public static var current: ActionContext?

    /// In a single object, because it is copied with each call.
    private let facts: Facts

    private final class Facts: Sendable {
        let session: WorkbenchSession
        let generation: Generation
        let caller: Caller
        let output: any ActionOutput
        /// The feature of the action; nil for code that tests run without one.
        let feature: String?

        init(
            _ session: WorkbenchSession, _ generation: Generation, _ caller: Caller, _ output: any ActionOutput,
            _ feature: String?
        ) {
            (self.session, self.generation, self.caller, self.output) = (session, generation, caller, output)
            self.feature = feature
        }
    }

    /// The session, for long-running actions such as a server that need the newest settings.
    public var session: WorkbenchSession { facts.session }
    /// The composition that the action uses from beginning to end.
    public var generation: Generation { facts.generation }
    /// The party that requested the action.
    public var caller: Caller { facts.caller }
    /// Opens spans.
    public var tracer: Tracer { generation.tracer }
    private var output: any ActionOutput { facts.output }

    package init(
        session: WorkbenchSession, generation: Generation, caller: Caller, output: any ActionOutput,
        feature: String? = nil
    ) {
        facts = Facts(session, generation, caller, output, feature)
    }

    /// Asks the person; fails with a clear error if nobody can answer.
    public var interaction: any Interaction { caller.interaction }

    /// The actions and capabilities of the composition that the action belongs to.
    public var registry: Registry { generation.registry }
    /// The host that the action runs in.
    public var host: Host { generation.host }

    /// Whether a person watches standard error on a terminal where a frontend may draw.
    public var isWatched: Bool { output.isWatched }

    /// Whether drawn output may have colours.
    public var isColored: Bool { output.isColored }

    /// Whether to print only the result: no progress and no confirmations of success.
    public var isQuiet: Bool { output.isQuiet }

    /// Performs another action of the same composition as part of this one.
    ///
    /// - Parameters:
    ///   - grant: restricts the action's caller further; nil for all rights of this caller.
    ///   - interaction: replaces the caller's interaction.
    ///   - limit: the action is cancelled after this time, and abandoned if it does not react; nil for no limit.
    ///   - isAgreed: whether the person has already agreed to destructive effects.
    /// - Throws: `AccessFailure`, `ArgumentsFailure`, `InteractionError`, `SessionError`, or what the action itself throws.
    public func perform(
        _ action: Action, _ arguments: JSONObject = [:], narrowedBy grant: Grant? = nil,
        asking interaction: (any Interaction)? = nil, output: any ActionOutput, limit: Duration? = nil,
        isAgreed: Bool = false
    ) async throws -> any OutputValue {
        let caller = caller.narrowed(by: grant, asking: interaction)
        let owner = registry.actions.owner(of: action) ?? ""
        let context = ActionContext(
            session: session, generation: generation, caller: caller, output: output, feature: owner)
        return try await generation.perform(
            RegisteredAction(action, of: owner), arguments, in: context, limit: limit, isAgreed: isAgreed)
    }

    /// Performs another action as this action's caller would from outside, with the newest settings. Its output goes
    /// where this action's output goes.
    public func performAnew(_ id: String, _ arguments: JSONObject = [:]) async throws -> any OutputValue {
        try await session.perform(id, arguments, as: caller, output: output)
    }

    /// The path for an argument, if the caller may open it.
    public func path<Use>(_ given: GivenPath<Use>) throws(AccessFailure) -> GrantedPath {
        try caller.grant.path(given, from: host.locations.current)
    }

    /// The text of a path argument, for code other than FileKit; only for callers who may open everything.
    public func text(of given: OwnPath) throws(AccessFailure) -> String {
        try caller.grant.text(of: given, from: host.locations.current)
    }

    /// The provider of a capability, with its feature started; nil if there is none.
    public func provider<C: Sendable>(of capability: C.Type) async throws -> C? {
        try await generation.provider(of: capability)
    }

    /// Runs work that is abandoned after the limit, even if it does not react to cancellation.
    public func within<Value: Sendable>(
        _ limit: Duration, _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await Deadline(limit: limit, clock: host.clock).run(work)
    }

    /// Sends an event. Returns when the reader has room, so that a slow reader slows the work down.
    public func emit(_ event: ActionEvent) async throws {
        try await output.event(event)
    }

    /// Sends several available events at once, which costs less than sending each of them.
    public func emit(_ events: [ActionEvent]) async throws {
        try await output.events(events)
    }

    /// Runs a part of the work that the person can stop without ending the action. On a terminal the first Ctrl-C
    /// cancels only that part.
    public func interruptible<Result: Sendable>(
        _ work: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        try await output.interruptible(work)
    }

    /// Reports progress.
    public func progress(_ activity: String, completed: Int? = nil, of total: Int? = nil) {
        output.progress(Progress(activity, completed: completed, of: total))
    }

    /// Tells the person something that is not part of the result.
    public func notice(_ text: String) {
        output.notice(text)
    }

    /// Tells the person, and the log, that something is not as it should be. A notice may repeat what was said to a model; this
    /// must not.
    public func warn(_ text: String) {
        output.notice(text)
        tracer.log(.warning, of: facts.feature ?? "host", isTold: !isQuiet, text)
    }

    /// Whether somebody sees what is given to ``show(_:)``.
    public var showsBlocks: Bool { output.showsBlocks }

    /// Shows how the work stands, in place of what was shown before. The last block stays when the action has ended.
    public func show(_ block: Block) {
        output.show(block)
    }

    /// The rows of a list. If there are none, tells the person why, because an empty table explains nothing.
    public func rows<Row>(_ rows: [Row], orSay text: @autoclosure () -> String) -> [Row] {
        if rows.isEmpty { notice(text()) }
        return rows
    }
}

/// An event while an action runs.
public struct ActionEvent: Sendable, Hashable {
    /// `message`, `tool_use`…: one lower-case word.
    public let type: String
    /// The members of the event besides `type`.
    public let fields: JSONObject
    /// The part of the result's text that this event adds; printed immediately in text formats.
    public let text: String?
    /// The format of the text.
    public let format: TextFormat

    /// The previous output belongs to something that is over; a terminal clears its window.
    public static let clear = ActionEvent("clear")

    /// The format of text, so that a surface can draw it.
    public enum TextFormat: String, Sendable, Hashable {
        /// Shown unchanged.
        case plain
        /// Pieces of one Markdown document, as long as they follow each other.
        case markdown
    }

    /// By default the event has only a type and adds nothing to the result's text.
    public init(_ type: String, _ fields: JSONObject = [:], text: String? = nil, format: TextFormat = .plain) {
        self.type = type
        self.fields = fields
        self.text = text
        self.format = format
    }

    /// The event as one line of NDJSON.
    public var json: JSON {
        var object: JSONObject = ["type": .string(type)]
        for (name, value) in fields { object[name] = value }
        return .object(object)
    }
}

/// Receives an action's events, progress and notices; each frontend has its own.
public protocol ActionOutput: Sendable {
    /// Whether a person watches standard error on a terminal where a frontend may draw.
    var isWatched: Bool { get }
    /// Whether drawn output may have colours.
    var isColored: Bool { get }
    /// Whether to print only the result.
    var isQuiet: Bool { get }
    /// Receives an event. Throws if it cannot be passed on, such as when the reader has gone.
    func event(_ event: ActionEvent) async throws
    /// Receives several events that are available at once, in order.
    func events(_ events: [ActionEvent]) async throws
    /// Receives the progress so far; each one replaces the previous one.
    func progress(_ progress: Progress)
    /// Receives something for the person that is not part of the result.
    func notice(_ text: String)
    /// Whether a person sees the blocks, so that an action need not say the same in words.
    var showsBlocks: Bool { get }
    /// Receives how the work stands; each block replaces the previous one.
    func show(_ block: Block)
    /// Runs work that the person can stop separately, if the frontend supports that.
    func interruptible<Result: Sendable>(_ work: @escaping @Sendable () async throws -> Result) async throws -> Result
}

/// Drops everything that an action outputs besides its result.
public struct SilentOutput: ActionOutput {
    public init() {}
    public func event(_ event: ActionEvent) async throws {}
    public func progress(_ progress: Progress) {}
    public func notice(_ text: String) {}
}

extension ActionOutput {
    public var isWatched: Bool { false }

    public var isColored: Bool { false }

    public var isQuiet: Bool { false }

    public var showsBlocks: Bool { false }

    public func show(_ block: Block) {}

    public func events(_ events: [ActionEvent]) async throws {
        for event in events { try await self.event(event) }
    }

    public func interruptible<Result: Sendable>(
        _ work: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        try await work()
    }
}

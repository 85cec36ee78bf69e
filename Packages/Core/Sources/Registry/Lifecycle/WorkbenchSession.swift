public import Capabilities
public import JSON
import Synchronization

/// The living workbench: features that were made once, are started when something first needs them, and are closed once.
///
/// Any number of actions are done in it side by side, for as long as it is open. What belongs to one of them, such as the
/// person who asks, is in its `ActionContext` and kept by no feature.
///
/// ```swift
/// let session = workbench.open()
/// let answer = try await session.perform(action, ["city": "Bern"], interaction: person, output: screen)
/// await session.close()
/// ```
public final class WorkbenchSession: Sendable {
    /// How long a feature may take.
    public struct Limits: Sendable {
        public var start: Duration
        public var stop: Duration

        public init(start: Duration = .seconds(10), stop: Duration = .seconds(5)) {
            self.start = start
            self.stop = stop
        }
    }

    public let host: Host
    /// What is wrong in settings and composition, if anything is; only actions that always work are done then.
    public let failure: (any Failure)?
    private let lifecycle: Lifecycle
    private let state = Mutex(State())

    public var registry: Registry { host.composition.registry }

    private struct State {
        /// The features with whose action nothing is left to be started.
        var ready: Set<String> = []
        /// The start that came last; starts wait for each other, so that nobody goes on before a feature is there.
        var last: Task<Void, Never>?
        var isClosed = false
    }

    /// Starts and opens nothing yet.
    ///
    /// - Parameter host: of which no other session is open.
    public init(_ host: Host, failure: (any Failure)? = nil, limits: Limits = Limits()) {
        self.host = host
        self.failure = failure
        lifecycle = Lifecycle(host: host, limits: limits)
    }

    /// Does an action: the one way in for every surface, and for actions that do others.
    ///
    /// What it needs is started, unless it is already. What destroys asks first, unless the person has agreed; everything
    /// is a span.
    ///
    /// - Parameters:
    ///   - limit: after which it is cancelled, and given up where it does not listen; nil for none.
    ///   - isAgreed: whether the person has agreed beforehand to what destroys.
    /// - Throws: `ArgumentsFailure`, `InteractionError`, `SessionError`, or what the action itself throws.
    public func perform(
        _ action: Action, _ arguments: JSONObject = [:], interaction: any Interaction, output: any ActionOutput,
        limit: Duration? = nil, isAgreed: Bool = false
    ) async throws -> any OutputValue {
        if let failure, !action.worksAlways { throw failure }
        let context = ActionContext(session: self, interaction: interaction, output: output)
        // What waits for nothing needs no feature that runs, and nobody who watches the time.
        if action.isInstant { return try await perform(action, arguments, in: context, isAgreed) }
        return try await withTaskExecutorPreference(globalConcurrentExecutor) {
            let owner = registry.actions.owner(of: action) ?? ""
            try await start(owner)
            if case .failed(let reason) = lifecycle.states[owner], !action.worksAlways {
                throw SessionError.featureFailed(owner, why: reason)
            }
            guard let limit else { return try await perform(action, arguments, in: context, isAgreed) }
            return try await Deadline(limit: limit, abandonsCancelled: true, clock: host.clock).run {
                try await self.perform(action, arguments, in: context, isAgreed)
            }
        }
    }

    /// The provider of a capability, with its feature started; nil when there is none.
    public func provider<C: Sendable>(of capability: C.Type) async throws -> C? {
        let wanted = Need.one(capability).capability
        for composed in host.composition.features
        where composed.manifest.provides.contains(where: { $0.capability == wanted }) {
            try await start(composed.manifest.id)
        }
        return registry.optional(capability)
    }

    /// Does work that is given up when the limit is over, whether or not it listens.
    public func within<Value: Sendable>(
        _ limit: Duration, _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await Deadline(limit: limit, clock: host.clock).run(work)
    }

    /// Stops and closes every feature, those last that others need; nothing can be done in the session any more.
    ///
    /// - Returns: the features that took longer than they may; they are abandoned.
    @discardableResult
    public func close() async -> [String] {
        let (last, wasClosed) = state.withLock { state in
            defer { state.isClosed = true }
            return (state.last, state.isClosed)
        }
        if wasClosed { return [] }
        await last?.value
        return await lifecycle.stop()
    }

    private func perform(
        _ action: Action, _ arguments: JSONObject, in context: ActionContext, _ isAgreed: Bool
    ) async throws -> any OutputValue {
        let problems = action.problems(in: arguments)
        guard problems.isEmpty else { throw ArgumentsFailure(action: action.id, problems: problems) }
        return try await ActionContext.$current.withValue(context) {
            if action.effect == .destroys, !isAgreed,
                let question = try await action.question(before: arguments, in: context)
            {
                let id = action.agreementID
                guard try await context.interaction.confirm(id, question) else {
                    throw InteractionError.declined(id: id)
                }
            }
            return try await context.tracer.span(action.id, feature: registry.actions.owner(of: action) ?? "") {
                try await action.perform(arguments, in: context)
            }
        }
    }

    private func start(_ id: String) async throws(SessionError) {
        let (start, isClosed) = state.withLock { state -> (Task<Void, Never>?, Bool) in
            guard !state.isClosed, !state.ready.contains(id) else { return (nil, state.isClosed) }
            let before = state.last
            // `close` waits for it.
            let task = Task { [self] in
                await before?.value
                await lifecycle.start(host.composition.closure(of: id))
                if !Task.isCancelled { self.state.withLock { _ = $0.ready.insert(id) } }
            }
            state.last = task
            return (task, false)
        }
        if isClosed { throw .closed }
        guard let start else { return }
        await withTaskCancellationHandler {
            await start.value
        } onCancel: {
            start.cancel()
        }
    }
}

/// Why a session does not do an action.
public enum SessionError: Failure, Hashable {
    case timedOut(Duration)
    case featureFailed(String, why: String)
    case closed

    public var code: String {
        switch self {
        case .timedOut: "host.timed-out"
        case .featureFailed: "host.feature-failed"
        case .closed: "host.closed"
        }
    }

    public var exit: ExitCode {
        switch self {
        case .timedOut: .unreachable
        case .featureFailed, .closed: .failed
        }
    }

    public var message: String {
        switch self {
        case .timedOut(let limit): "it was not done within \(limit.words); give it more time with --timeout"
        case .featureFailed(let id, let why): "the feature \(id) did not start, so this cannot be done: \(why)"
        case .closed: "the session is closed; open another one"
        }
    }
}

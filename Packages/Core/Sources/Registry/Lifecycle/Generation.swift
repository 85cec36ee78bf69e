public import Capabilities
import JSON
import Synchronization

/// One immutable composition of a session, with the lifecycle of its features.
///
/// When the settings change, a session uses a new generation for further actions. Running actions finish in the one
/// they began in.
public final class Generation: Sendable {
    /// Its number within the session; newer generations have larger numbers.
    public let number: Int
    /// The host of its actions.
    public let host: Host
    /// The problems of the settings and the composition, if any. With problems, only actions marked `always()` run.
    public let failure: (any Failure)?
    private let isFailed: Bool
    private let isTraced: Bool
    /// Whether a span has said how long the settings took, which was before any.
    private let hasToldPreparation = Atomic(false)
    private let lifecycle: Lifecycle
    private let state = Mutex(State())

    /// Its actions and capabilities.
    public var registry: Registry { host.registry }

    /// Records spans in this composition's sinks.
    public let tracer: Tracer

    /// The start of some features. It continues even if those who requested it are gone.
    private struct Start {
        let task: Task<Void, Never>
        let hasEnded: Latch
    }

    private struct State {
        /// The features whose actions need no further starts.
        var ready: Set<String> = []
        /// The latest start. Starts wait for each other, so that nothing continues before its features are ready.
        var last: Start?
        var isClosed = false
    }

    init(_ number: Int, _ host: Host, failure: (any Failure)?, limits: WorkbenchSession.Limits) {
        self.number = number
        self.host = host
        self.failure = failure
        isFailed = failure != nil
        lifecycle = Lifecycle(host: host, limits: limits)
        tracer = Tracer(sinks: host.registry.all((any SpanSink).self), now: host.now)
        isTraced = tracer.isRecording
    }

    /// Performs an action of this composition, for a session or for another action.
    func perform(
        _ registered: RegisteredAction, _ arguments: JSONObject, in context: ActionContext, limit: Duration?,
        isAgreed: Bool
    ) async throws -> any OutputValue {
        let effect = registered.action.effect(of: arguments)
        try admit(registered.action, effect, context.caller.grant)
        // Also after a failure, before which something may have been written.
        defer { if effect != .reads { context.session.hasWritten() } }
        // An instant action waits for nothing, so it needs neither running features nor a time limit.
        if registered.action.isInstant {
            return try await perform(registered, effect, arguments, in: context, isAgreed)
        }
        return try await withTaskExecutorPreference(globalConcurrentExecutor) {
            try await start(registered.owner)
            if case .failed(let reason) = lifecycle.states[registered.owner], !registered.action.worksAlways {
                throw SessionError.featureFailed(registered.owner, why: reason)
            }
            guard let limit else { return try await perform(registered, effect, arguments, in: context, isAgreed) }
            return try await Deadline(limit: limit, abandonsCancelled: true, clock: host.clock).run {
                try await self.perform(registered, effect, arguments, in: context, isAgreed)
            }
        }
    }

    /// The provider of a capability, with its feature started; nil if there is none.
    func provider<C: Sendable>(of capability: C.Type) async throws -> C? {
        let wanted = Need.one(capability).capability
        for composed in host.composition.features
        where composed.manifest.provides.contains(where: { $0.capability == wanted }) {
            try await start(composed.manifest.id)
        }
        return registry.optional(capability)
    }

    /// Stops and closes all features in reverse order of their needs.
    ///
    /// - Returns: the features that exceeded the limit; they are abandoned.
    func close() async -> [String] {
        let (last, wasClosed) = state.withLock { state in
            defer { state.isClosed = true }
            return (state.last, state.isClosed)
        }
        if wasClosed { return [] }
        last?.task.cancel()
        await last?.task.value
        return await lifecycle.stop()
    }

    /// Throws if the caller may not perform the action, and counts the use.
    private func admit(_ action: Action, _ effect: Effect, _ grant: Grant) throws {
        // Reading the failure copies it, and usually there is none.
        if isFailed, !action.worksAlways, let failure { throw failure }
        try grant.check(action: action.id, effect, action.offer)
        try grant.use()
    }

    private func check(_ arguments: JSONObject, for action: Action, _ grant: Grant) throws {
        let problems = action.problems(in: arguments)
        guard problems.isEmpty else { throw ArgumentsFailure(action: action.id, problems: problems) }
        try grant.check(action.requests(in: arguments, from: host.locations.current))
    }

    private func perform(
        _ registered: RegisteredAction, _ effect: Effect, _ arguments: JSONObject, in context: ActionContext,
        _ isAgreed: Bool
    ) async throws -> any OutputValue {
        try check(arguments, for: registered.action, context.caller.grant)
        let isPart = ActionContext.current != nil
        return try await Caller.$current.withValue(context.caller) {
            try await ActionContext.$current.withValue(context) {
                let isAgreed = isAgreed || registered.action.isAgreedByCall && context.caller.isPerson
                if effect == .destroys, !isAgreed { try await agree(to: registered.action, arguments, in: context) }
                // A span costs time even if nobody records it.
                if !isTraced || registered.action.isInstant {
                    return try await registered.action.perform(arguments, in: context)
                }
                return try await tracer.span(registered.action.id, of: registered.owner) { span in
                    tellPreparation(span)
                    do {
                        return try await registered.action.perform(arguments, in: context)
                    } catch {
                        // What another action does about a failure of its part is its business.
                        if !isPart { tell(error, of: registered.owner) }
                        throw error
                    }
                }
            }
        }
    }

    private func tell(_ error: any Error, of owner: String) {
        let failure = AnyFailure(error)
        let level: LogLevel = failure.exit == .interrupted || failure.exit == .done ? .info : .error
        tracer.log(level, of: owner, isTold: true, failure.message, ["error.type": .string(failure.code)])
    }

    private func tellPreparation(_ span: ActiveSpan) {
        guard span.isRecording, !hasToldPreparation.exchange(true, ordering: .relaxed) else { return }
        span.set("martlet.settings.load_ms", host.preparation.map { .double($0 / .milliseconds(1)) })
    }

    /// Asks before something is destroyed.
    private func agree(to action: Action, _ arguments: JSONObject, in context: ActionContext) async throws {
        guard let question = try await action.question(before: arguments, in: context) else { return }
        let id = action.agreementID
        guard try await context.interaction.confirm(id, question) else { throw InteractionError.declined(id: id) }
    }

    private func start(_ id: String) async throws {
        let (start, isClosed) = state.withLock { state -> (Start?, Bool) in
            guard !state.isClosed, !state.ready.contains(id) else { return (nil, state.isClosed) }
            let before = state.last
            let hasEnded = Latch()
            // `close` cancels and awaits it. It does not belong to a single action, because background work is shared
            // by all of them.
            let task = Task.detached { [self] in
                await withTaskCancellationHandler {
                    await before?.task.value
                } onCancel: {
                    before?.task.cancel()
                }
                await lifecycle.start(host.composition.closure(of: id))
                if !Task.isCancelled { self.state.withLock { _ = $0.ready.insert(id) } }
                hasEnded.open()
            }
            let start = Start(task: task, hasEnded: hasEnded)
            state.last = start
            return (start, false)
        }
        if isClosed { throw SessionError.closed }
        guard let start else { return }
        guard await start.hasEnded.wait() else { throw CancellationError() }
    }
}

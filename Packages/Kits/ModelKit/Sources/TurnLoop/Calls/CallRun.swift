import Capabilities

/// Runs the calls of answers, each after approval. It belongs to the task of its turn.
final class CallRun {
    let loop: TurnLoop
    private let toolBox: ToolBox
    let sink: EventSink
    private let timer: SharedTimer
    /// Grows by the rules that the user wants to be remembered.
    var policy: ApprovalPolicy
    private var entries: [Entry] = []
    /// Whether the user knows that the audit log cannot be written.
    private var hasToldOfAudit = false
    /// How calls ended that are recorded with the next one, since a transaction takes longer than most calls.
    private var ends: [AuditLine] = []

    private(set) var count = 0
    var failed = 0
    /// Whether a call was denied only because nobody could approve it.
    var isUnapproved = false
    /// Whether a call was denied because the prepared answer does not match the question.
    var hasUnfitApproval = false

    struct Entry {
        var update: CallUpdate
        var tool: ToolBox.Tool?
        /// What the call reached when it was examined. The approval is for this.
        var reach = ToolReach()
        /// How often it had another target when it was to run.
        var changes = 0
        /// Its entry in the audit log, if it was recorded before it ran.
        var record: Int?
        /// Whether it was denied because it could not be recorded.
        var isUnrecordable = false

        /// Whether it may change or send something; an unknown tool may.
        var mayChange: Bool { tool?.description.effect != .reads || tool?.description.sends == true }
        var isAnswered: Bool { update.result != nil }
        /// Calls that only read can run in parallel.
        var runsAlone: Bool { tool?.description.effect != .reads }
    }

    init(loop: TurnLoop, toolBox: ToolBox, policy: ApprovalPolicy, sink: EventSink, timer: SharedTimer) {
        self.loop = loop
        self.toolBox = toolBox
        self.policy = policy
        self.sink = sink
        self.timer = timer
    }

    /// How often a call is examined again because its target has changed.
    static let mostChanges = 3

    /// Runs all calls of a message and returns one result for each, in their order.
    ///
    /// Neighbouring calls that only read run in parallel. All others run alone and in order, so that each call sees the
    /// effects of earlier ones. Each is approved right before it runs, when the results of earlier ones are known.
    func answer(_ message: Message) async throws -> [ToolResult] {
        do { try await answerAll(of: message) } catch {
            try await recordEnds()
            throw error
        }
        try await recordEnds()
        return entries.compactMap(\.update.result)
    }

    private func answerAll(of message: Message) async throws {
        try await begin(message)
        for (index, problem) in problems(in: message) { try await settle(index, problem) }
        var next = 0
        while next < entries.count, !Task.isCancelled {
            let batch = self.batch(from: next)
            while batch.contains(where: { !entries[$0].isAnswered }), !Task.isCancelled {
                for index in batch where !entries[index].isAnswered && !Task.isCancelled { try await approve(index) }
                try await run(batch.filter { !entries[$0].isAnswered })
            }
            next = batch.upperBound
        }
        for index in entries.indices where !entries[index].isAnswered { try await settle(index, CallMessages.stopped) }
    }

    /// Answers all calls of a message with the reason why they are not run.
    func turnDown(_ message: Message, _ words: String) async throws -> [ToolResult] {
        try await begin(message)
        for index in entries.indices { try await settle(index, words) }
        return entries.compactMap(\.update.result)
    }

    /// Shows the calls that the server ran.
    func show(doneBy message: Message) async throws {
        var results: [String: ToolResult] = [:]
        for case .result(let result) in message.parts { results[result.call] = result }
        try await sink.deliver(
            message.calls.filter(\.isDone).map { call in
                var update = CallUpdate(call)
                update.result = results[call.id]
                update.state = update.result?.isError == true ? .failed : .done
                return .call(update)
            })
    }
}

// MARK: Planning

extension CallRun {
    private func begin(_ message: Message) async throws {
        entries = message.openCalls.map { call in
            let tool = toolBox.tool(named: call.name)
            let update = CallUpdate(
                call, source: tool?.source.name, tool: tool?.description.name, effect: tool?.description.effect)
            return Entry(update: update, tool: tool)
        }
        count += entries.count
        try await sink.deliver(entries.map { .call($0.update) })
    }

    /// The problems that are known before any call runs.
    private func problems(in message: Message) -> [(Int, String)] {
        var malformed: [String: String] = [:]
        for case .malformedCall(let call) in message.parts { malformed[call.id] = call.reason }
        return entries.indices.compactMap { index in
            let call = entries[index].update.call
            if let reason = malformed[call.id] { return (index, CallMessages.malformed(reason)) }
            if index >= loop.limits.callsPerAnswer { return (index, CallMessages.tooMany(loop.limits.callsPerAnswer)) }
            return entries[index].tool == nil ? (index, toolBox.unknown(call.name)) : nil
        }
    }

    private func batch(from start: Int) -> Range<Int> {
        var end = start + 1
        guard entries[start].isAnswered || !entries[start].runsAlone else { return start..<end }
        while end < entries.count, entries[end].isAnswered || !entries[end].runsAlone { end += 1 }
        return start..<end
    }
}

extension CallRun {
    /// Gets approval for a call, or settles it.
    func approve(_ index: Int) async throws {
        guard let tool = entries[index].tool else { return }
        var call = entries[index].update.call
        call.name = tool.description.name
        let reach: ToolReach
        switch await bounded(by: limit(of: index), on: timer, { [call] in try await tool.source.reach(of: call) }) {
        case .ended(.success(let found)): reach = found
        // The user is not asked about an impossible call.
        case let end: return try await settle(index, unreachable: end)
        }
        entries[index].reach = reach
        entries[index].update.diff = reach.diff
        let request = ApprovalRequest(
            call: entries[index].update.call, tool: tool.description.name, source: tool.source.name,
            isBuiltIn: tool.source.isBuiltIn, effect: tool.description.effect, sends: tool.description.sends,
            summary: tool.description.summary, hints: tool.description.hints, reach: reach)
        let ruling = policy.ruling(for: request)
        let use = request.use(in: policy.mode, ruling: ruling?.verdict)
        let by = ruling.map { ApprovalDecision.Origin.rule($0.rule) } ?? .effect
        switch (Caller.current?.grant ?? .person).decide(.tool(use)) {
        case .allow where ruling == nil && !use.isWithinMode:
            // The user has approved the bundle that allows this call.
            let rule = ApprovalRule(
                .allow, tool: Glob.escape(request.tool), source: Glob.escape(request.source), scope: .once)
            try await allow(index, by: .rule(rule))
        case .allow: try await allow(index, by: by)
        case .deny: try await deny(index, by: by, CallMessages.forbidden)
        case .ask: try await ask(index, request)
        }
    }

    private func ask(_ index: Int, _ request: ApprovalRequest) async throws {
        guard let approve = loop.approve else { return try await denyUnapproved(index) }
        // The person may take any time.
        try await recordEnds()
        // A question that ignores cancellation must not block a stop.
        switch await bounded(by: nil, on: loop.clock, { try await traced(request, approve) }) {
        case .ended(.success(let answer)):
            if let rule = request.rule(answer.isAllowed ? .allow : .deny, lasting: answer.scope) {
                policy.rules.append(rule)
                try await sink.deliver([.remember(rule)])
            } else if answer.scope != .once {
                try await sink.deliver([.notice("this answer applies to this call only: no rule can cover others")])
            }
            if answer.isAllowed { return try await allow(index, by: .person) }
            try await deny(index, by: .person, CallMessages.declined(answer.reason))
        case .ended(.failure(InteractionError.unanswered)): try await denyUnapproved(index)
        case .ended(.failure(InteractionError.declined)):
            try await deny(index, by: .person, CallMessages.declined(nil))
        case .ended(.failure(is CancellationError)), .stopped, .timedOut:
            try await settle(index, CallMessages.stopped)
        case .ended(.failure(let error)):
            // Nobody has decided, so the turn must not look successful.
            let message = AnyFailure(error).message
            if (error as? InteractionError)?.isUnfit == true { hasUnfitApproval = true } else { isUnapproved = true }
            try await sink.deliver([.notice(message)])
            try await deny(index, by: .nobody, CallMessages.declined(message))
        }
    }

    private func allow(_ index: Int, by origin: ApprovalDecision.Origin) async throws {
        entries[index].update.state = .approved
        entries[index].update.decision = ApprovalDecision(isAllowed: true, by: origin)
        try await sink.deliver([.call(entries[index].update)])
    }

    private func denyUnapproved(_ index: Int) async throws {
        isUnapproved = true
        try await deny(index, by: .nobody, CallMessages.nobody)
    }

    private func deny(_ index: Int, by origin: ApprovalDecision.Origin, _ words: String) async throws {
        entries[index].update.decision = ApprovalDecision(isAllowed: false, by: origin)
        try await settle(index, words, .denied)
    }
}

extension CallRun {
    private typealias Ended = (index: Int, outcome: TimedOutcome<ToolResult>, time: Duration)

    /// Runs approved calls, some in parallel, and settles each as soon as it has ended.
    func run(_ indices: [Int]) async throws {
        guard !indices.isEmpty, !Task.isCancelled else { return }
        if indices.count == 1 {
            guard let work = try await work(of: indices[0]) else { return }
            return try await settle(await work())
        }
        try await withThrowingTaskGroup(of: Ended.self) { group in
            var waiting = indices[...]
            var running = 0
            while true {
                while running < max(1, loop.limits.parallelCalls), !Task.isCancelled, let index = waiting.popFirst() {
                    guard let work = try await work(of: index) else { continue }
                    group.addTask(operation: work)
                    running += 1
                }
                guard let ended = try await group.next() else { return }
                running -= 1
                try await settle(ended)
            }
        }
    }

    /// What runs a call, once it is recorded and shown as running; nil if it was settled instead.
    private func work(of index: Int) async throws -> (@Sendable () async -> Ended)? {
        guard let tool = entries[index].tool, try await isRecorded(index) else { return nil }
        entries[index].update.state = .running
        entries[index].update.started = loop.now()
        try await sink.deliver([.call(entries[index].update)])
        var call = entries[index].update.call
        call.name = tool.description.name
        let (limit, clock, sink, reach) = (limit(of: index), loop.clock, sink, entries[index].reach)
        let decision = entries[index].update.decision
        return { [call, timer] in
            let stopwatch = Stopwatch(clock)
            let outcome = await bounded(by: limit, on: timer) {
                try await asModel {
                    try await traced(call, of: tool.source, decision) {
                        try await tool.source.run(call, reaching: reach) { await sink.tell(call.id, $0) }
                    }
                }
            }
            return (index, outcome, stopwatch.time())
        }
    }

    func limit(of index: Int) -> Duration {
        entries[index].tool?.description.limit ?? loop.limits.callTime
    }

    /// Settles a call that its source considers impossible, with the source's message for the model.
    func settle(_ index: Int, unreachable end: TimedOutcome<ToolReach>) async throws {
        switch end {
        case .ended(.failure(let error)) where !(error is CancellationError):
            try await settle(index, CallMessages.impossible(error))
        case .timedOut: try await settle(index, CallMessages.tooSlow(limit(of: index)))
        default: try await settle(index, CallMessages.stopped)
        }
    }

    private func settle(_ ended: Ended) async throws {
        let (index, outcome, time) = ended
        switch outcome {
        // The approved target has changed. The call has not run, and is asked about again.
        case .ended(.failure(is ToolReachChanged)) where entries[index].changes < Self.mostChanges:
            entries[index].changes += 1
            entries[index].update.state = .waiting
        case .ended(.success(var result)):
            result.call = entries[index].update.call.id
            result.duration = result.duration ?? time
            try await settle(index, result)
        case .ended(.failure(let error)) where error is CancellationError && Task.isCancelled:
            try await settle(index, CallMessages.stopped, after: time)
        case .ended(.failure(is ToolReachChanged)): try await settle(index, CallMessages.restless, after: time)
        case .ended(.failure(let error)): try await settle(index, CallMessages.failed(error), after: time)
        case .timedOut: try await settle(index, CallMessages.tooSlow(limit(of: index)), after: time)
        case .stopped: try await settle(index, CallMessages.stopped, after: time)
        }
    }

    func settle(
        _ index: Int, _ words: String, _ state: CallUpdate.State = .failed, after time: Duration? = nil
    ) async throws {
        let call = entries[index].update.call.id
        try await settle(index, ToolResult(call: call, content: words, isError: true, duration: time), state)
    }

    private func settle(_ index: Int, _ result: ToolResult, _ state: CallUpdate.State? = nil) async throws {
        entries[index].update.result = result
        entries[index].update.state = state ?? (result.isError ? .failed : .done)
        entries[index].update.ended = loop.now()
        if result.isError { failed += 1 }
        try await recordEnd(of: index)
        try await sink.deliver([.call(entries[index].update)])
    }
}

// MARK: Recording

extension CallRun {
    /// Records a call that is about to run, if it may change or send something. Settles it as denied if that fails.
    ///
    /// - Returns: whether it may run.
    private func isRecorded(_ index: Int) async throws -> Bool {
        guard let audit = loop.audit, entries[index].mayChange, entries[index].record == nil else { return true }
        do {
            entries[index].record = try await record(await audit.entry(for: entries[index].update), in: audit.log)
            return true
        } catch {
            let reason = AnyFailure(error).message
            try await tellOfAudit("calls that change or send something are denied: \(reason)")
            entries[index].isUnrecordable = true
            try await settle(index, CallMessages.unrecorded(error), .denied)
            return false
        }
    }

    /// Records how a call has ended.
    private func recordEnd(of index: Int) async throws {
        guard let audit = loop.audit, !entries[index].isUnrecordable else { return }
        let update = entries[index].update
        do {
            if let number = entries[index].record {
                ends.append(.end(of: number, audit.completion(of: update)))
                if !isFollowed(index) { try await recordEnds() }
            } else if audit.hasReads || entries[index].mayChange || update.state == .denied {
                try await record(await audit.entry(for: update), in: audit.log)
            }
        } catch {
            try await tellOfAudit("not everything is in the audit log: \(AnyFailure(error).message)")
        }
    }

    /// Whether the next call is recorded at once. Its source has just answered, so it says soon what the call reaches.
    private func isFollowed(_ index: Int) -> Bool {
        guard entries[index].update.state == .done, index + 1 < entries.count, !Task.isCancelled else { return false }
        let next = entries[index + 1]
        return !next.isAnswered && next.mayChange && next.tool?.source === entries[index].tool?.source
    }

    /// Records an entry together with how earlier calls ended.
    @discardableResult
    private func record(_ entry: AuditEntry, in log: any AuditLog) async throws -> Int? {
        guard !ends.isEmpty else { return try await log.record(entry) }
        do {
            let numbers = try await log.append(ends + [.entry(entry)])
            ends = []
            return numbers.first
        } catch {
            // What cannot be said of an earlier call does not stop this one.
            return try await log.record(entry)
        }
    }

    /// Records how calls ended that were to be recorded with another one.
    private func recordEnds() async throws {
        guard let audit = loop.audit, !ends.isEmpty else { return }
        defer { ends = [] }
        do { try await audit.log.append(ends) } catch {
            try await tellOfAudit("not everything is in the audit log: \(AnyFailure(error).message)")
        }
    }

    /// Once in a turn, because the next calls meet the same problem.
    private func tellOfAudit(_ text: String) async throws {
        guard !hasToldOfAudit else { return }
        hasToldOfAudit = true
        try await sink.deliver([.notice(text)])
    }
}

/// Runs a tool with the rights of a model, which may be less than those of its caller.
private func asModel(_ run: () async throws -> ToolResult) async throws -> ToolResult {
    guard let caller = Caller.current else { return try await run() }
    try caller.grant.use()
    return try await Caller.$current.withValue(caller.narrowed(by: .model), operation: run)
}

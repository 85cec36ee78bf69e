import Capabilities

/// Does the calls of answers, each after somebody agreed to it. It belongs to the task of its turn.
final class CallRun {
    let loop: TurnLoop
    let toolBox: ToolBox
    let sink: EventSink
    /// Grows by what the person wants to be remembered.
    var policy: ApprovalPolicy
    var entries: [Entry] = []

    private(set) var count = 0
    var failed = 0
    /// Whether a call was denied only because nobody could approve it.
    var isUnapproved = false
    /// Whether a call was denied because the answer that was given beforehand does not fit the question.
    var hasUnfitApproval = false

    struct Entry {
        var update: CallUpdate
        var tool: ToolBox.Tool?
        /// What it reached when it was looked at, which is what is agreed to.
        var reach = ToolReach()
        /// How often it reached something else when it was to run.
        var changes = 0

        var isAnswered: Bool { update.result != nil }
        /// What only reads can run beside others of its kind.
        var runsAlone: Bool { tool?.description.effect != .reads }
    }

    init(loop: TurnLoop, toolBox: ToolBox, policy: ApprovalPolicy, sink: EventSink) {
        self.loop = loop
        self.toolBox = toolBox
        self.policy = policy
        self.sink = sink
    }

    /// How often a call is looked at again because what it reaches has changed.
    static let mostChanges = 3

    /// Does all calls of a message and gives one result for each, in their order.
    ///
    /// Neighbours that only read run at the same time, and all others alone, in order, so that a call finds done what
    /// stands before it. Each is approved right before it runs, when the person knows what came of the ones before.
    func answer(_ message: Message) async throws -> [ToolResult] {
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
        for index in entries.indices where !entries[index].isAnswered { try await settle(index, CallWords.stopped) }
        return entries.compactMap(\.update.result)
    }

    /// Answers all calls of a message with why they are not done.
    func turnDown(_ message: Message, _ words: String) async throws -> [ToolResult] {
        try await begin(message)
        for index in entries.indices { try await settle(index, words) }
        return entries.compactMap(\.update.result)
    }

    /// Shows the calls that the server has done itself.
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

    /// What is known to be wrong with calls before any is done.
    private func problems(in message: Message) -> [(Int, String)] {
        var malformed: [String: String] = [:]
        for case .malformedCall(let call) in message.parts { malformed[call.id] = call.reason }
        return entries.indices.compactMap { index in
            let call = entries[index].update.call
            if let reason = malformed[call.id] { return (index, CallWords.malformed(reason)) }
            if index >= loop.limits.callsPerAnswer { return (index, CallWords.tooMany(loop.limits.callsPerAnswer)) }
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

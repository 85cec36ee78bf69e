import Capabilities

extension CallRun {
    /// Runs calls that were approved, some at a time, and settles each as soon as it has ended.
    func run(_ indices: [Int]) async throws {
        guard !indices.isEmpty, !Task.isCancelled else { return }
        try await withThrowingTaskGroup(of: (Int, Bounded<ToolResult>, Duration).self) { group in
            var waiting = indices[...]
            var running = 0
            while true {
                while running < max(1, loop.limits.parallelCalls), !Task.isCancelled, let index = waiting.popFirst() {
                    guard let tool = entries[index].tool else { continue }
                    entries[index].update.state = .running
                    entries[index].update.started = loop.now()
                    try await sink.deliver([.call(entries[index].update)])
                    var call = entries[index].update.call
                    call.name = tool.description.name
                    let (limit, clock, sink, reach) = (limit(of: index), loop.clock, sink, entries[index].reach)
                    group.addTask { [call] in
                        let time = stopwatch(clock)
                        let end = await bounded(by: limit, on: clock) {
                            try await asModel {
                                try await tool.source.run(call, reaching: reach) { await sink.tell(call.id, $0) }
                            }
                        }
                        return (index, end, time())
                    }
                    running += 1
                }
                guard let (index, end, time) = try await group.next() else { return }
                running -= 1
                try await settle(index, end, after: time)
            }
        }
    }

    func limit(of index: Int) -> Duration {
        entries[index].tool?.description.limit ?? loop.limits.callTime
    }

    /// Settles a call of which its source says that it cannot be done, in words of its own for the model.
    func settle(_ index: Int, unreachable end: Bounded<ToolReach>) async throws {
        switch end {
        case .ended(.failure(let error)) where !(error is CancellationError):
            try await settle(index, CallWords.impossible(error))
        case .timedOut: try await settle(index, CallWords.tooSlow(limit(of: index)))
        default: try await settle(index, CallWords.stopped)
        }
    }

    private func settle(_ index: Int, _ end: Bounded<ToolResult>, after time: Duration) async throws {
        switch end {
        // What was agreed to is not there any more. It has not run, and is asked about as it is now.
        case .ended(.failure(is ToolReachChanged)) where entries[index].changes < Self.mostChanges:
            entries[index].changes += 1
            entries[index].update.state = .waiting
        case .ended(.success(var result)):
            result.call = entries[index].update.call.id
            result.duration = result.duration ?? time
            try await settle(index, result)
        case .ended(.failure(let error)) where error is CancellationError && Task.isCancelled:
            try await settle(index, CallWords.stopped, after: time)
        case .ended(.failure(is ToolReachChanged)): try await settle(index, CallWords.restless, after: time)
        case .ended(.failure(let error)): try await settle(index, CallWords.failed(error), after: time)
        case .timedOut: try await settle(index, CallWords.tooSlow(limit(of: index)), after: time)
        case .stopped: try await settle(index, CallWords.stopped, after: time)
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
        try await sink.deliver([.call(entries[index].update)])
    }
}

/// Runs a tool as a model, which may do less than whoever asked the model.
private func asModel(_ run: () async throws -> ToolResult) async throws -> ToolResult {
    guard let caller = Caller.current else { return try await run() }
    try caller.grant.use()
    return try await Caller.$current.withValue(caller.narrowed(by: .model), operation: run)
}

import Capabilities

extension CallRun {
    /// Sees to it that somebody agrees to a call, or settles it.
    func approve(_ index: Int) async throws {
        guard let tool = entries[index].tool else { return }
        var call = entries[index].update.call
        call.name = tool.description.name
        let reach: ToolReach
        switch await bounded(by: limit(of: index), on: loop.clock, { [call] in try await tool.source.reach(of: call) })
        {
        case .ended(.success(let found)): reach = found
        // Nobody is asked about what cannot be done.
        case let end: return try await settle(index, unreachable: end)
        }
        entries[index].reach = reach
        entries[index].update.diff = reach.diff
        let request = ApprovalRequest(
            call: entries[index].update.call, tool: tool.description.name, source: tool.source.name,
            effect: tool.description.effect, sends: tool.description.sends, summary: tool.description.summary,
            reach: reach)
        let ruling = policy.ruling(for: request)
        let use = request.use(in: policy.mode, ruling: ruling?.verdict)
        let by = ruling.map { ApprovalDecision.Origin.rule($0.rule) } ?? .effect
        switch (Caller.current?.grant ?? .person).decide(.tool(use)) {
        case .allow where ruling == nil && !use.isWithinMode:
            // The person has agreed to the bundle that says so.
            let rule = ApprovalRule(
                .allow, tool: Glob.escape(request.tool), source: Glob.escape(request.source), scope: .once)
            try await allow(index, by: .rule(rule))
        case .allow: try await allow(index, by: by)
        case .deny: try await deny(index, by: by, CallWords.forbidden)
        case .ask: try await ask(index, request)
        }
    }

    private func ask(_ index: Int, _ request: ApprovalRequest) async throws {
        guard let approve = loop.approve else { return try await denyUnapproved(index) }
        // A question that does not go away when it is cancelled must not hold up who wants to stop.
        switch await bounded(by: nil, on: loop.clock, { try await approve(request) }) {
        case .ended(.success(let answer)):
            if let rule = request.rule(answer.isAllowed ? .allow : .deny, lasting: answer.scope) {
                policy.rules.append(rule)
                try await sink.deliver([.remember(rule)])
            } else if answer.scope != .once {
                try await sink.deliver([.notice("that holds for this call alone: no rule could say it of others")])
            }
            if answer.isAllowed { return try await allow(index, by: .person) }
            try await deny(index, by: .person, CallWords.declined(answer.reason))
        case .ended(.failure(InteractionError.unanswered)): try await denyUnapproved(index)
        case .ended(.failure(InteractionError.declined)):
            try await deny(index, by: .person, CallWords.declined(nil))
        case .ended(.failure(is CancellationError)), .stopped, .timedOut:
            try await settle(index, CallWords.stopped)
        case .ended(.failure(let error)):
            // Nobody has decided, and the turn must not look as if all had gone well.
            let message = AnyFailure(error).message
            if (error as? InteractionError)?.isUnfit == true { hasUnfitApproval = true } else { isUnapproved = true }
            try await sink.deliver([.notice(message)])
            try await deny(index, by: .nobody, CallWords.declined(message))
        }
    }

    private func allow(_ index: Int, by origin: ApprovalDecision.Origin) async throws {
        entries[index].update.state = .approved
        entries[index].update.decision = ApprovalDecision(isAllowed: true, by: origin)
        try await sink.deliver([.call(entries[index].update)])
    }

    private func denyUnapproved(_ index: Int) async throws {
        isUnapproved = true
        try await deny(index, by: .nobody, CallWords.nobody)
    }

    private func deny(_ index: Int, by origin: ApprovalDecision.Origin, _ words: String) async throws {
        entries[index].update.decision = ApprovalDecision(isAllowed: false, by: origin)
        try await settle(index, words, .denied)
    }
}

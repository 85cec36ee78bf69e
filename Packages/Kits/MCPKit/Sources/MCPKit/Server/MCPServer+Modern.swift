import Capabilities
import HTTPServer
import JSON
import RPCKit

/// The modern era: every request says everything about its client, and a question is a result.
extension MCPServer {
    /// Answers a request. If the task is cancelled, a call that runs for it is cancelled and awaited.
    ///
    /// - Parameters:
    ///   - owner: owns the calls that last over several requests.
    ///   - notify: sends a notification that belongs to the request.
    func answer(
        _ request: RPCRequest, _ peer: MCPPeer, level: MCPLogEntry.Level?, owner: TaskOwner,
        notify: @escaping @Sendable (String, JSONObject) -> Void
    ) async throws -> JSON {
        let params = try Self.members(of: request.params)
        if Self.isCall(request.method) {
            let logs = service.capabilities(for: peer).logging
            let line = ServerCall.Line(
                token: params["_meta"]?["progressToken"]?.unlessNull, level: { logs ? level : nil }, notify: notify)
            return try await call(request, params, peer, line, owner)
        }
        if request.method == "server/discover" { return discovery(for: peer) }
        if let result = try answerTask(request.method, params, peer, owner) { return complete(result) }
        guard let result = try await lookUp(request.method, params, for: peer) else {
            throw RPCError.noMethod(request.method)
        }
        return complete(result, isCacheable: request.method != "completion/complete")
    }

    // MARK: Calls

    private func call(
        _ request: RPCRequest, _ params: JSONObject, _ peer: MCPPeer, _ line: ServerCall.Line, _ owner: TaskOwner
    ) async throws -> JSON {
        let method = request.method
        let claim = SuspendedCalls.Claim(owner, peer.principal, method, params)
        let support = try await taskSupport(method, params, for: peer)
        if support == .required, !peer.capabilities.tasks { throw Self.missingTasks() }
        let call: ServerCall
        if let state = params["requestState"]?.unlessNull {
            guard let kept = state.string.flatMap({ suspended.take($0, claim) }) else {
                throw RPCError(
                    RPCError.invalidParams, "this requestState belongs to no request that waits; ask again without it")
            }
            kept.answer(params["inputResponses"]?.object ?? [:])
            call = kept
        } else {
            // It may have something to tell before anybody waits for it.
            call = ServerCall(.byResults(within: limits.patience), line)
            let context = MCPCallContext(peer: peer, meta: params["_meta"]?.object ?? [:], call: call)
            guard call.start(in: owner, { try await self.perform(method, params, in: context) }) else {
                throw CancellationError()
            }
        }
        do {
            return try await attend(call, line, claim, peer.capabilities.tasks ? support : .forbidden, owner) {
                try becomeTask(call, by: request.id, peer, owner)
            }
        } catch {
            // Of one that is over already, nothing is cancelled.
            call.cancel()
            await call.end()
            throw error
        }
    }

    /// Waits for the result of a call, or what its client must do first.
    private func attend(
        _ call: ServerCall, _ line: ServerCall.Line, _ claim: SuspendedCalls.Claim, _ support: MCPTool.TaskSupport,
        _ owner: TaskOwner, _ becomeTask: () throws -> JSON
    ) async throws -> JSON {
        var patience = support == .forbidden ? nil : limits.tasks.patience
        while true {
            guard let outcome = try await Self.outcome(of: call, line, within: patience, owner) else {
                do { return try becomeTask() } catch let error as RPCError {
                    if support == .required { throw error }
                    // It is answered when it is over, as calls are that become no tasks.
                    patience = nil
                    continue
                }
            }
            switch outcome {
            case .finished(let result): return complete(try result.get(), isCacheable: claim.method == "resources/read")
            case .questions(let questions):
                if let state = suspended.keep(call, claim) {
                    return [
                        "resultType": "input_required", "inputRequests": .object(questions),
                        "requestState": .string(state),
                    ]
                }
                call.refuse(
                    MCPError(
                        .limit,
                        "\(limits.suspended) calls wait for answers of their clients already, which is the limit"))
            }
        }
    }

    /// What a call has come to; nil if that takes too long.
    private static func outcome(
        of call: ServerCall, _ line: ServerCall.Line, within patience: Duration?, _ owner: TaskOwner
    ) async throws -> ServerCall.Outcome? {
        guard let patience else { return try await call.attend(line) }
        // Also what is over by then is a task, so that it does not depend on chance.
        guard patience > .zero else { return nil }
        let end = ContinuousClock.now + patience
        let place = owner.timer.add(call.news, at: end, in: owner)
        defer { owner.timer.remove(place) }
        return try await call.attend(line, until: end)
    }

    // MARK: Results

    private func discovery(for peer: MCPPeer) -> JSON {
        let spoken = MCPVersion.allCases.filter(\.isModern).map { JSON.string($0.rawValue) }
        var members: JSONObject = [
            "supportedVersions": .array(spoken), "capabilities": service.capabilities(for: peer).json(peer.version),
        ]
        members["instructions"] = service.instructions(for: peer).map { .string($0) }
        return complete(.object(members), isCacheable: true)
    }

    /// Adds what every result has. What a client may see depends on who it is and changes at any time, so that it is kept
    /// by nobody.
    func complete(_ result: JSON, isCacheable: Bool = false) -> JSON {
        guard var members = result.object else { return result }
        members["resultType"] = "complete"
        if isCacheable {
            members["ttlMs"] = 0
            members["cacheScope"] = "private"
        }
        var meta = members["_meta"]?.object ?? [:]
        meta[ModernEnvelope.Key.server] = service.identity.json
        members["_meta"] = .object(meta)
        return .object(members)
    }

    // MARK: Changes

    /// What a client wants to be told by one `subscriptions/listen`, as far as it is offered.
    func subscription(_ request: RPCRequest, _ peer: MCPPeer, _ owner: TaskOwner) async throws -> Subscription {
        let wanted = request.params?["notifications"] ?? [:]
        let offered = service.capabilities(for: peer)
        var changes: Set<MCPChange> = []
        if wanted["toolsListChanged"] == true, offered.tools?.tellsChanges == true { changes.insert(.tools) }
        if wanted["promptsListChanged"] == true, offered.prompts?.tellsChanges == true { changes.insert(.prompts) }
        if wanted["resourcesListChanged"] == true, offered.resources?.tellsChanges == true {
            changes.insert(.resources)
        }
        var told: [ServerTask] = []
        if offered.tasks, let ids = wanted["taskIds"]?.array {
            guard peer.capabilities.tasks else { throw Self.missingTasks() }
            let claim = ServerTask.Claim(owner, peer.principal)
            told = tasks.all(of: claim).filter { ids.contains(.string($0.id)) }
        }
        let addresses = (wanted["resourceSubscriptions"]?.array ?? []).compactMap(\.string)
        guard addresses.count <= limits.watched else {
            throw RPCError(
                RPCError.invalidParams, "a client may watch \(limits.watched) resources, and not \(addresses.count)")
        }
        for address in Set(addresses) where offered.subscribesResources {
            do {
                try await service.watch(address, for: peer)
                changes.insert(.resource(address))
            } catch {
                // The acknowledgement tells which are watched.
                guard Task.isCancelled else { continue }
                end(Subscription(id: request.id, changes: changes, tasks: told), peer)
                throw CancellationError()
            }
        }
        return Subscription(id: request.id, changes: changes, tasks: told)
    }

    /// Tells what a subscription is for until the returned function is called, which must happen once.
    func begin(
        _ subscription: Subscription, for peer: MCPPeer,
        _ notify: @escaping @Sendable (_ method: String, _ params: JSONObject) -> Void
    ) -> @Sendable () -> Void {
        let first = subscription.acknowledgement
        notify(first.method, first.params)
        let listener = service.changes.add { change in
            if let notice = subscription.notice(of: change) { notify(notice.method, notice.params) }
        }
        let tell: @Sendable (ServerTask) -> Void = { task in
            if let notice = subscription.notice(of: task) { notify(notice.method, notice.params) }
        }
        let watcher = subscription.tasks.isEmpty ? nil : tasks.add(tell)
        // What happened before must not be missed.
        for task in subscription.tasks { tell(task) }
        return { [self] in
            service.changes.remove(listener)
            if let watcher { tasks.removeListener(watcher) }
            end(subscription, peer)
        }
    }

    /// Nothing is told by it any more.
    private func end(_ subscription: Subscription, _ peer: MCPPeer) {
        for case .resource(let address) in subscription.changes { service.unwatch(address, for: peer) }
    }

    /// The changes that one request is told.
    struct Subscription: Sendable {
        let id: RPCID
        let changes: Set<MCPChange>
        let tasks: [ServerTask]

        /// The first notice, which tells what is told.
        var acknowledgement: (method: String, params: JSONObject) {
            var notifications: JSONObject = [:]
            if changes.contains(.tools) { notifications["toolsListChanged"] = true }
            if changes.contains(.prompts) { notifications["promptsListChanged"] = true }
            if changes.contains(.resources) { notifications["resourcesListChanged"] = true }
            var addresses: [String] = []
            for case .resource(let address) in changes { addresses.append(address) }
            if !addresses.isEmpty {
                notifications["resourceSubscriptions"] = .array(addresses.sorted().map { .string($0) })
            }
            if !tasks.isEmpty { notifications["taskIds"] = .array(tasks.map { .string($0.id) }) }
            return (
                "notifications/subscriptions/acknowledged", ["notifications": .object(notifications), "_meta": meta]
            )
        }

        /// The notice of a change, if it is told.
        func notice(of change: MCPChange) -> (method: String, params: JSONObject)? {
            guard changes.contains(change) else { return nil }
            let notice = change.notification
            var params = notice.params ?? [:]
            params["_meta"] = meta
            return (notice.method, params)
        }

        /// The notice of what a task has come to, if it is told.
        func notice(of task: ServerTask) -> (method: String, params: JSONObject)? {
            guard tasks.contains(where: { $0 === task }) else { return nil }
            var params = task.details
            params["_meta"] = meta
            return ("notifications/tasks", params)
        }

        private var meta: JSON { [ModernEnvelope.Key.subscription: id.json] }
    }
}

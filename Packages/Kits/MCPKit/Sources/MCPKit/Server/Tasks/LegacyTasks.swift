import Capabilities
import JSON
import RPCKit

/// The tasks of one client of the revision 2025-11-25, where the client says which calls run as one.
struct LegacyTasks: Sendable {
    let server: MCPServer
    let owner: TaskOwner
    let claim: ServerTask.Claim
    /// Whether the client can be asked at any time, and not only while it waits for an answer.
    let asksAtOnce: Bool
    /// Asks the client, by the way of the answer to a request if there is one.
    let ask: @Sendable (_ method: String, _ params: JSONObject, _ request: RPCID?) async throws -> JSON

    /// The name by which messages are said to belong to a task.
    private static let related = "io.modelcontextprotocol/related-task"
    /// Where FastMCP 2 looks for the task, as in an earlier draft.
    private static let draft = "modelcontextprotocol.io/task"

    // MARK: Calls

    /// Begins a call as a task, if its client wants that; nil for a call that is answered as usual.
    func begin(
        _ request: RPCRequest, _ params: JSONObject, _ peer: MCPPeer, _ line: ServerCall.Line
    ) async throws -> JSON? {
        guard request.method == "tools/call", server.service.capabilities(for: peer).tasks else { return nil }
        let wanted = params["task"]?.unlessNull
        let support = try await server.taskSupport(request.method, params, for: peer)
        switch (support, wanted) {
        case (.forbidden, nil), (.optional, nil): return nil
        case (.required, nil):
            throw RPCError(RPCError.methodNotFound, "this tool runs only as a task; name 'task' in the request")
        case (.forbidden, _?):
            // What is no tool at all is told as such.
            let name = try MCPServer.text("name", in: params)
            guard try await server.service.tool(name, for: peer) != nil else { throw MCPUnknown.tool(name) }
            throw RPCError(RPCError.methodNotFound, "this tool does not run as a task; call it without 'task'")
        case (_, let wanted?):
            guard wanted.object != nil else { throw RPCError(RPCError.invalidParams, "task is not an object") }
            return try begin(request.id, params, life: try Self.life(wanted["ttl"]), peer, line)
        }
    }

    private static func life(_ json: JSON?) throws(RPCError) -> Duration? {
        guard let json = json?.unlessNull else { return nil }
        // A time that is longer than any is not refused.
        guard let milliseconds = json.double, milliseconds >= 0 else {
            throw RPCError(RPCError.invalidParams, "task.ttl is not a number of milliseconds")
        }
        return .milliseconds(min(milliseconds, 1e12))
    }

    private func begin(
        _ request: RPCID, _ params: JSONObject, life: Duration?, _ peer: MCPPeer, _ line: ServerCall.Line
    ) throws -> JSON {
        let call = ServerCall(.byResults(within: server.limits.patience))
        let task = try server.tasks.begin(
            call, by: request, of: claim, peer.version, wanted: life, in: owner)
        let own = ServerCall.Line(token: nil, level: line.level, notify: line.notify, step: { task.heed($0) })
        call.lead(to: own) { [tasks = server.tasks] in tasks.keep($0, of: task) }
        let context = MCPCallContext(peer: peer, meta: params["_meta"]?.object ?? [:], call: call)
        let server = server
        let isStarted = call.start(in: owner) { try await server.perform("tools/call", params, in: context) }
        guard isStarted else {
            call.detach()
            task.abandon()
            throw CancellationError()
        }
        if asksAtOnce {
            _ = owner.start {
                do { _ = try await attend(task, by: nil) } catch {
                    // The connection ends, and the task with it.
                }
            }
        }
        return [
            "task": .object(task.json), "content": [],
            "_meta": .object([Self.draft: ["taskId": .string(task.id), "status": .string(task.status.rawValue)]]),
        ]
    }

    /// Waits until the work of a task is over, and asks the client meanwhile what the task wants to know.
    private func attend(_ task: ServerTask, by request: RPCID?) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            defer { group.cancelAll() }
            while !task.isOver, task.status != .cancelled {
                let seen = task.call.news.count
                task.call.askQuestions(in: &group) { method, params in
                    try await ask(method, Self.relating(params, to: task), request)
                }
                try await task.call.news.wait(beyond: seen)
            }
        }
    }

    private static func relating(_ members: JSONObject, to task: ServerTask) -> JSONObject {
        var members = members
        var meta = members["_meta"]?.object ?? [:]
        meta[related] = ["taskId": .string(task.id)]
        members["_meta"] = .object(meta)
        return members
    }

    // MARK: Requests

    /// Answers a request about tasks; nil for another request.
    func answer(_ request: RPCRequest, _ params: JSONObject, _ peer: MCPPeer) async throws -> JSON? {
        guard request.method.hasPrefix("tasks/"), server.service.capabilities(for: peer).tasks else { return nil }
        if request.method == "tasks/list" {
            return try server.page(of: "tasks", params, server.tasks.all(of: claim)) { .object($0.json) }
        }
        guard ["tasks/get", "tasks/result", "tasks/cancel"].contains(request.method) else { return nil }
        let task = try server.tasks.find(try MCPServer.text("taskId", in: params), of: claim)
        switch request.method {
        case "tasks/cancel":
            guard task.cancel() else {
                throw RPCError(RPCError.invalidParams, "the task is over already: \(task.status.rawValue)")
            }
            return .object(task.json)
        case "tasks/result":
            try await attend(task, by: request.id)
            guard task.status != .cancelled, let result = task.result else { throw ServerTask.cancellation }
            task.tell()
            return .object(Self.relating(try result.get().object ?? [:], to: task))
        default: return .object(task.json)
        }
    }

    /// What a client is told when the status of a task changes.
    static func notice(of task: ServerTask) -> (method: String, params: JSONObject) {
        ("notifications/tasks/status", task.json)
    }
}

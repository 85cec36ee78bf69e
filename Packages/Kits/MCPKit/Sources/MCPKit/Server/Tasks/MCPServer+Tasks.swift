import Capabilities
import HTTPServer
import JSON
import RPCKit

/// Tasks of the modern era, which are an extension: the server decides which calls become one.
extension MCPServer {
    /// Whether calls of a tool may become tasks.
    func taskSupport(_ method: String, _ params: JSONObject, for peer: MCPPeer) async throws -> MCPTool.TaskSupport {
        guard method == "tools/call", service.capabilities(for: peer).tasks, let name = params["name"]?.string else {
            return .forbidden
        }
        return try await service.tool(name, for: peer)?.tasks ?? .forbidden
    }

    /// What a client that does not take tasks is told where it must.
    static func missingTasks() -> RPCError {
        RPCError(
            MCPError.Code.missingCapability, "this needs a client that takes tasks",
            data: ["requiredCapabilities": ["extensions": .object([MCPServerCapabilities.tasksExtension: [:]])]])
    }

    /// Makes a call that takes long a task.
    func becomeTask(_ call: ServerCall, by request: RPCID, _ peer: MCPPeer, _ owner: TaskOwner) throws -> JSON {
        let task = try tasks.begin(
            call, by: request, of: ServerTask.Claim(owner, peer.principal), peer.version, in: owner)
        // Nothing is sent for a task but what it has come to.
        let line = ServerCall.Line(token: nil, level: { nil }, notify: { _, _ in }, step: { task.heed($0) })
        call.lead(to: line) { [tasks] in tasks.keep($0, of: task) }
        var members = task.json
        members["resultType"] = "task"
        return .object(members)
    }

    /// Answers a request about a task; nil for another request.
    func answerTask(_ method: String, _ params: JSONObject, _ peer: MCPPeer, _ owner: TaskOwner) throws -> JSON? {
        guard ["tasks/get", "tasks/update", "tasks/cancel"].contains(method), service.capabilities(for: peer).tasks
        else { return nil }
        guard peer.capabilities.tasks else { throw Self.missingTasks() }
        let task = try tasks.find(try Self.text("taskId", in: params), of: ServerTask.Claim(owner, peer.principal))
        switch method {
        case "tasks/get":
            let isOver = task.isOver
            defer { if isOver { task.tell() } }
            return .object(task.details)
        case "tasks/update": task.call.answer(try Self.members("inputResponses", in: params))
        default: _ = task.cancel()
        }
        return [:]
    }
}

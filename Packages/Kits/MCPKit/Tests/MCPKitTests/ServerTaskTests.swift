import Capabilities
import JSON
import RPCKit
import Synchronization
import Testing

@testable import MCPKit

/// What a client of a stream sees of tasks, message by message.
@Suite("Tasks of our server", .timeLimit(.minutes(2)))
struct ServerTaskTests {
    private static let extensions: JSON = ["extensions": ["io.modelcontextprotocol/tasks": [:]], "elicitation": [:]]

    private func with<Value: Sendable>(
        _ service: TaskService = TaskService(), _ limits: MCPServer.Limits = .tasks(),
        _ body: @escaping @Sendable (TaskClient, TaskService, MCPServer) async throws -> Value
    ) async throws -> Value {
        let server = MCPServer(service, limits: limits)
        let value = try await TestServers.paired(server) { channel in
            try await body(TaskClient(LineClient(channel)), service, server)
        }
        // A connection takes its tasks with it.
        #expect(server.tasks.count == 0)
        return value
    }

    // MARK: The legacy era

    @Test("A client of 2025-11-25 begins a task, sees how far it is, and waits for its result")
    func legacy() async throws {
        try await with { client, service, _ in
            let opened = try await client.line.open()
            #expect(
                opened["result"]?["capabilities"]?["tasks"]
                    == ["list": [:], "cancel": [:], "requests": ["tools": ["call": [:]]]])
            let tools = try await client.ask("tools/list")["result"]?["tools"]?.array ?? []
            #expect(
                tools.map { $0["execution"]?["taskSupport"]?.string }.prefix(3) == ["optional", "optional", "required"])
            let id = try await client.begin("slow")
            try await service.wait { $0.begun == 1 }
            let task = try await client.ask("tasks/get", ["taskId": .string(id)])["result"]
            #expect(task?["status"] == "working" && task?["statusMessage"] == "halfway (1 of 2)")
            #expect(task?["ttl"] == 600_000 && task?["pollInterval"] == 20)
            #expect(task?["createdAt"]?.string.flatMap(Timestamp.init(iso8601:)) != nil)
            let listed = try await client.ask("tasks/list")["result"]?["tasks"]?.array
            #expect(listed?.map { $0["taskId"]?.string } == [id])
            let result = try await client.send("tasks/result", ["taskId": .string(id)])
            service.mayEnd.settle(())
            let answer = try await client.answer(result)["result"]
            #expect(answer?["content"]?[0]?["text"] == "done for nobody")
            #expect(answer?["_meta"]?["io.modelcontextprotocol/related-task"] == ["taskId": .string(id)])
            // It can be asked for again, and was told of.
            #expect(try await client.ask("tasks/result", ["taskId": .string(id)])["result"] == answer)
            #expect(
                client.notices.contains {
                    $0["params"]?["taskId"]?.string == id && $0["params"]?["status"] == "completed"
                })
            #expect(Set(client.notices.map { $0["method"] }) == ["notifications/tasks/status"])
        }
    }

    @Test("A task that fails says how: by its result, or by the error of the call")
    func failures() async throws {
        try await with { client, _, _ in
            _ = try await client.line.open()
            let failed = try await client.begin("fail")
            #expect(try await client.ask("tasks/result", ["taskId": .string(failed)])["result"]?["isError"] == true)
            #expect(try await client.ask("tasks/get", ["taskId": .string(failed)])["result"]?["status"] == "failed")
            let broken = try await client.begin("break")
            let error = try await client.ask("tasks/result", ["taskId": .string(broken)])["error"]
            #expect(error == ["code": -32000, "message": "broken", "data": ["part": 5]])
        }
    }

    @Test("A tool that must be a task is one, one that cannot be is none, and older revisions know neither")
    func support() async throws {
        try await with { client, _, server in
            _ = try await client.line.open()
            func code(_ params: JSON) async throws -> Int? {
                try await client.ask("tools/call", params)["error"]?["code"]?.int
            }
            #expect(try await code(["name": "must"]) == -32601)
            #expect(try await code(["name": "quick", "task": [:]]) == -32601)
            #expect(try await code(["name": "nothing", "task": [:]]) == -32602)
            #expect(try await code(["name": "must", "task": 5]) == -32602)
            #expect(try await code(["name": "must", "task": ["ttl": "long"]]) == -32602)
            #expect(try await code(["name": "quick"]) == nil)
            #expect(server.tasks.count == 0)
            #expect(try await code(["name": "must", "task": ["ttl": 1e300]]) == nil)
        }
        try await with { client, _, server in
            let opened = try await client.line.open("2025-06-18")
            #expect(opened["result"]?["capabilities"]?["tasks"] == nil)
            let tools = try await client.ask("tools/list")["result"]?["tools"]?.array ?? []
            #expect(tools.allSatisfy { $0["execution"] == nil })
            let made = try await client.ask("tools/call", ["name": "must", "task": [:]])
            #expect(made["result"]?["content"]?[0]?["text"] == "made")
            #expect(try await client.ask("tasks/list")["error"]?["code"] == -32601 && server.tasks.count == 0)
        }
    }

    @Test("A task that is cancelled ends its work, once")
    func cancelled() async throws {
        try await with { client, service, _ in
            _ = try await client.line.open()
            let id = try await client.begin("slow")
            try await service.wait { $0.begun == 1 }
            let cancelled = try await client.ask("tasks/cancel", ["taskId": .string(id)])
            #expect(cancelled["result"]?["status"] == "cancelled")
            try await service.wait { $0.cancelled == 1 }
            #expect(try await client.ask("tasks/get", ["taskId": .string(id)])["result"]?["status"] == "cancelled")
            #expect(try await client.ask("tasks/result", ["taskId": .string(id)])["error"] != nil)
            #expect(try await client.ask("tasks/cancel", ["taskId": .string(id)])["error"]?["code"] == -32602)
            for method in ["get", "result", "cancel"] {
                let unknown = try await client.ask("tasks/\(method)", ["taskId": "x"])
                #expect(unknown["error"]?["code"] == -32602)
                #expect(try await client.ask("tasks/\(method)", [:])["error"]?["code"] == -32602)
            }
        }
    }

    @Test("A task that asks says so, and the question belongs to it")
    func questions() async throws {
        try await with { client, _, _ in
            _ = try await client.line.open(capabilities: ["elicitation": [:]])
            let id = try await client.begin("ask")
            let question = try await client.request()
            #expect(question["method"] == "elicitation/create")
            #expect(question["params"]?["_meta"]?["io.modelcontextprotocol/related-task"] == ["taskId": .string(id)])
            #expect(try await client.ask("tasks/get", ["taskId": .string(id)])["result"]?["status"] == "input_required")
            let result = try await client.send("tasks/result", ["taskId": .string(id)])
            let content: JSON = ["action": "accept", "content": ["color": "red"]]
            try await client.line.write(
                JSON.object(["jsonrpc": "2.0", "id": question["id"] ?? nil, "result": content]).text())
            #expect(try await client.answer(result)["result"]?["content"]?[0]?["text"] == "red")
        }
    }

    // MARK: The modern era

    @Test("tasks-status-notifications: a call that takes long becomes a task, and its client is told of it")
    func modern() async throws {
        try await with { client, service, _ in
            let found = try await client.ask("server/discover", .modern(capabilities: Self.extensions))
            #expect(found["result"]?["capabilities"]?["extensions"] == ["io.modelcontextprotocol/tasks": [:]])
            let begun = try await client.ask("tools/call", .modern(["name": "slow"], capabilities: Self.extensions))
            #expect(begun["result"]?["resultType"] == "task" && begun["result"]?["status"] == "working")
            let id = begun["result"]?["taskId"] ?? nil
            try await service.wait { $0.begun == 1 }
            let listening = try await client.send(
                "subscriptions/listen",
                .modern(["notifications": ["taskIds": [id, "other"]]], capabilities: Self.extensions))
            let get: JSON = .modern(["taskId": id], capabilities: Self.extensions)
            let task = try await client.ask("tasks/get", get)["result"]
            #expect(task?["status"] == "working" && task?["ttlMs"] == 3_600_000 && task?["resultType"] == "complete")
            service.mayEnd.settle(())
            let done = try await client.notice { $0["params"]?["status"] == "completed" }
            #expect(done["method"] == "notifications/tasks" && done["params"]?["taskId"] == id)
            #expect(done["params"]?["result"]?["content"]?[0]?["text"] == "done for nobody")
            #expect(client.notices.first?["params"]?["notifications"]?["taskIds"] == [id])
            #expect(
                done["params"]?["_meta"]?["io.modelcontextprotocol/subscriptionId"] == .string(listening)
                    && client.notices.allSatisfy { $0["method"] != "notifications/progress" })
            let ended = try await client.ask("tasks/get", get)["result"]
            #expect(ended?["status"] == "completed" && ended?["result"]?["resultType"] == "complete")
        }
    }

    @Test("A task of the modern era that asks is answered by an update, and cancelled by a request")
    func modernQuestions() async throws {
        try await with { client, service, _ in
            func about(_ id: JSON, _ more: JSONObject = [:]) -> JSON {
                var params = more
                params["taskId"] = id
                return .modern(params, capabilities: Self.extensions)
            }
            let call: JSON = .modern(["name": "ask"], capabilities: Self.extensions)
            let id = try await client.ask("tools/call", call)["result"]?["taskId"] ?? nil
            let asking = try await client.poll(about(id)) { $0 == "input_required" }
            let questions = asking["inputRequests"]?.object ?? [:]
            let key = try #require(questions.keys.first)
            #expect(questions.count == 1 && questions[key]?["method"] == "elicitation/create")
            let answer: JSON = ["action": "accept", "content": ["color": "blue"]]
            // An answer to a question that was not asked changes nothing.
            _ = try await client.ask("tasks/update", about(id, ["inputResponses": ["other": answer]]))
            let updated = try await client.ask(
                "tasks/update", about(id, ["inputResponses": .object([key: answer])]))
            #expect(updated["result"]?["resultType"] == "complete")
            let done = try await client.poll(about(id)) { $0 == "completed" }
            #expect(done["result"]?["content"]?[0]?["text"] == "blue")
            let slow = try await client.ask("tools/call", .modern(["name": "slow"], capabilities: Self.extensions))
            let other = slow["result"]?["taskId"] ?? nil
            try await service.wait { $0.begun == 1 }
            #expect(try await client.ask("tasks/cancel", about(other))["result"]?["resultType"] == "complete")
            try await service.wait { $0.cancelled == 1 }
            _ = try await client.poll(about(other)) { $0 == "cancelled" }
            #expect(try await client.ask("tasks/get", about("x"))["error"]?["code"] == -32602)
        }
    }

    @Test("A client that takes no tasks gets results, and the missing capability where it must")
    func without() async throws {
        try await with { client, service, server in
            service.mayEnd.settle(())
            let done = try await client.ask("tools/call", .modern(["name": "slow"]))["result"]
            #expect(done?["resultType"] == "complete")
            let refusals: [(String, JSON)] = [
                ("tools/call", .modern(["name": "must"])), ("tasks/get", .modern(["taskId": "x"])),
                ("subscriptions/listen", .modern(["notifications": ["taskIds": ["x"]]])),
            ]
            for (method, params) in refusals {
                let error = try await client.ask(method, params)["error"]
                #expect(error?["code"] == -32021)
                #expect(
                    error?["data"]?["requiredCapabilities"]?["extensions"] == ["io.modelcontextprotocol/tasks": [:]])
            }
            #expect(
                try await client.ask("tasks/list", .modern(capabilities: Self.extensions))["error"]?["code"] == -32601)
            #expect(server.tasks.count == 0)
        }
        // A call that does not take long is none either.
        try await with(TaskService(), .tasks { $0.patience = .seconds(60) }) { client, service, server in
            service.mayEnd.settle(())
            let done = try await client.ask("tools/call", .modern(["name": "slow"], capabilities: Self.extensions))
            #expect(done["result"]?["resultType"] == "complete" && server.tasks.count == 0)
        }
    }

    // MARK: Limits

    @Test("Only so many tasks run for one client, and those that are over make room")
    func many() async throws {
        try await with(TaskService(), .tasks { $0.each = 1 }) { client, service, server in
            _ = try await client.line.open()
            let first = try await client.begin("slow")
            let refused = try await client.ask("tools/call", ["name": "slow", "task": [:]])
            #expect(refused["error"]?["message"]?.string?.contains("1 of one client") == true)
            // In the modern era a call that need not be a task is then answered when it is over.
            let call = try await client.send("tools/call", .modern(["name": "slow"], capabilities: Self.extensions))
            try await service.wait { $0.begun == 2 }
            service.mayEnd.settle(())
            #expect(try await client.answer(call)["result"]?["resultType"] == "complete")
            _ = try await client.ask("tasks/result", ["taskId": .string(first)])
            let second = try await client.begin("must")
            #expect(try await client.ask("tasks/get", ["taskId": .string(first)])["error"]?["code"] == -32602)
            #expect(try await client.ask("tasks/get", ["taskId": .string(second)])["result"] != nil)
            #expect(server.tasks.count == 1)
        }
    }

    @Test("A result that nobody has asked for is not forgotten for others", arguments: [false, true])
    func unasked(isModern: Bool) async throws {
        try await with(TaskService(), .tasks { $0.each = 1 }) { client, _, server in
            _ = try await client.line.open()
            let call: JSON =
                isModern
                ? .modern(["name": "must"], capabilities: Self.extensions) : ["name": "must", "task": [:]]
            func task(_ answer: JSON) -> JSON? { (isModern ? answer["result"] : answer["result"]?["task"])?["taskId"] }
            let first = try #require(task(try await client.ask("tools/call", call)))
            let about: JSON = isModern ? .modern(["taskId": first], capabilities: Self.extensions) : ["taskId": first]
            while server.tasks.all.first?.isOver != true {
                try Task.checkCancellation()
                await Task.yield()
            }
            #expect(try await client.ask("tools/call", call)["error"] != nil)
            let result = try await client.ask(isModern ? "tasks/get" : "tasks/result", about)["result"]
            #expect((isModern ? result?["result"] : result)?["structuredContent"] == ["value": 1])
            // Control: once it was asked for, it makes room.
            #expect(task(try await client.ask("tools/call", call)) != nil)
            #expect(try await client.ask("tasks/get", about)["error"]?["code"] == -32602)
        }
    }

    @Test("A client that cancels the request of which it has not seen the answer cancels the task")
    func crossing() async throws {
        try await with { client, service, _ in
            _ = try await client.line.open()
            let params: [JSON] = [
                ["name": "slow", "task": [:]], .modern(["name": "slow"], capabilities: Self.extensions),
            ]
            for (number, params) in params.enumerated() {
                let id = try await client.send("tools/call", params)
                try await service.wait { $0.begun == number + 1 }
                // Another request is not meant.
                try await client.line.send(nil, "notifications/cancelled", ["requestId": "other"])
                _ = try await client.answer(id)
                #expect(service.cancelled == number)
                try await client.line.send(nil, "notifications/cancelled", ["requestId": .string(id)])
                try await service.wait { $0.cancelled == number + 1 }
            }
        }
    }

    @Test("A result that is too large fails the task, and old results make room for others")
    func large() async throws {
        let limits = MCPServer.Limits.tasks { ($0.result, $0.results) = (1_000, 1_500) }
        try await with(TaskService(), limits) { client, _, _ in
            _ = try await client.line.open()
            func get(_ id: String) async throws -> JSON { try await client.ask("tasks/get", ["taskId": .string(id)]) }
            let large = try await client.begin("large", ["bytes": 2_000])
            let error = try await client.ask("tasks/result", ["taskId": .string(large)])["error"]
            #expect(
                error?["message"]?.string?.contains("the limit is 1000 B for one task") == true, "\(error ?? nil)")
            #expect(try await get(large)["result"]?["status"] == "failed")
            func result(_ id: String) async throws -> JSON {
                try await client.ask("tasks/result", ["taskId": .string(id)])
            }
            let first = try await client.begin("large", ["bytes": 800])
            _ = try await client.notice { $0["params"]?["taskId"]?.string == first }
            // Nobody has asked for the first yet.
            #expect(try await result(try await client.begin("large", ["bytes": 801]))["error"] != nil)
            #expect(try await result(first)["result"] != nil)
            #expect(try await result(try await client.begin("large", ["bytes": 802]))["result"] != nil)
            #expect(try await get(first)["error"]?["code"] == -32602)
        }
    }

    @Test("A task whose time is over is cancelled and forgotten")
    func late() async throws {
        let life = Duration.milliseconds(50)
        try await with(TaskService(), .tasks { $0.life = life...life }) { client, service, server in
            _ = try await client.line.open()
            let id = try await client.begin("slow")
            try await service.wait { $0.cancelled == 1 }
            while server.tasks.count > 0 {
                try Task.checkCancellation()
                await Task.yield()
            }
            #expect(try await client.ask("tasks/get", ["taskId": .string(id)])["error"]?["code"] == -32602)
        }
    }

    @Test("A client that leaves takes its tasks with it")
    func left() async throws {
        let service = TaskService()
        try await with(service) { client, service, _ in
            _ = try await client.line.open()
            _ = try await client.begin("slow")
            _ = try await client.ask("tools/call", .modern(["name": "slow"], capabilities: Self.extensions))
            try await service.wait { $0.begun == 2 }
        }
        #expect(service.cancelled == 2)
    }

    // MARK: Our client

    @Test("Our client waits for tasks of both eras", arguments: [MCPVersion.november2025, .july2026])
    func ours(version: MCPVersion) async throws {
        let handler = TestHandler(answering: .accept(["color": "red"]))
        try await TestServers.paired(MCPServer(TaskService(), limits: .tasks())) { channel in
            let client = MCPClient(
                of: "ours", over: StreamTransport(channel), as: Peers.identity, handler: handler,
                knowing: version.isModern ? nil : version)
            try await client.whileRunning {
                #expect(try await client.server().capabilities.tasks)
                _ = try await client.tools()
                #expect(try await client.call("must").structured == ["value": 1])
                #expect(try await client.call("ask").parts == [.text("red")])
                #expect(try await client.call("fail") == MCPResult("because", isError: true))
                do {
                    _ = try await client.call("break")
                    Issue.record("it did not fail")
                } catch {
                    #expect("\(error)".contains("broken"))
                }
            }
        }
        #expect(handler.questions.count == 1 && handler.problems == [])
    }
}

/// A client of a stream that keeps what comes between the answers.
final class TaskClient: Sendable {
    let line: LineClient
    private let state = Mutex(State())

    private struct State {
        var next = 1
        var notices: [JSON] = []
        var requests: [JSON] = []
        var answers: [String: JSON] = [:]
    }

    init(_ line: LineClient) {
        self.line = line
    }

    /// The notifications so far.
    var notices: [JSON] { state.withLock { $0.notices } }

    /// Sends a request and returns its id.
    func send(_ method: String, _ params: JSON = [:]) async throws -> String {
        let id = state.withLock { state in
            state.next += 1
            return "r\(state.next)"
        }
        try await line.send(.string(id), method, params)
        return id
    }

    func answer(_ id: String) async throws -> JSON {
        while true {
            if let answer = state.withLock({ $0.answers.removeValue(forKey: id) }) { return answer }
            try await read()
        }
    }

    func ask(_ method: String, _ params: JSON = [:]) async throws -> JSON {
        try await answer(try await send(method, params))
    }

    /// The next request of the server.
    func request() async throws -> JSON {
        while true {
            if let request = state.withLock({ $0.requests.popLast() }) { return request }
            try await read()
        }
    }

    /// The first notification that fulfils a condition.
    func notice(_ isIt: (JSON) -> Bool) async throws -> JSON {
        while true {
            if let notice = notices.first(where: isIt) { return notice }
            try await read()
        }
    }

    /// Begins a task of the legacy era.
    func begin(_ tool: String, _ arguments: JSON = [:]) async throws -> String {
        let answer = try await ask("tools/call", ["name": .string(tool), "arguments": arguments, "task": ["ttl": 1]])
        guard let id = answer["result"]?["task"]?["taskId"]?.string else {
            throw RPCFailure(.refused, "no task: \(answer)")
        }
        return id
    }

    /// Asks for a task until it has a status.
    func poll(_ params: JSON, _ isIt: (JSON?) -> Bool) async throws -> JSON {
        while true {
            let task = try await ask("tasks/get", params)["result"] ?? nil
            if isIt(task["status"]) { return task }
            try Task.checkCancellation()
        }
    }

    private func read() async throws {
        let message = try await line.line()
        guard message != nil else { throw RPCFailure(.closed, "the server has ended") }
        state.withLock { state in
            if message["method"] != nil {
                if message["id"] != nil { state.requests.append(message) } else { state.notices.append(message) }
            } else {
                state.answers[message["id"]?.string ?? ""] = message
            }
        }
    }
}

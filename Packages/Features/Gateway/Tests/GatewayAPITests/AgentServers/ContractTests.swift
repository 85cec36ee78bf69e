import Capabilities
import GatewayAPI
import GatewayKit
import GatewayTurns
import HTTPClient
import HTTPCore
import JSON
import Testing

/// The same tests over the gateway in this process and over HTTP: whoever uses an `AgentServer` sees no difference.
@Suite("An agent server, in process and over HTTP", .timeLimit(.minutes(5)))
struct ContractTests {
    private static func run(
        _ way: Way, _ body: @escaping @Sendable (TestGateway, AnyGateway) async throws -> Void
    ) async throws {
        try await withGateway { gateway in
            let server = try gateway.reached(way)
            try await asCaller { try await body(gateway, server) }
        }
    }

    /// The kind and the subject of the error.
    private static func failure<Value: Sendable>(
        _ work: @Sendable () async throws -> Value, _ place: SourceLocation = #_sourceLocation
    ) async -> [String] {
        let error = await #expect(throws: AgentServerError.self, sourceLocation: place) { _ = try await work() }
        return [error?.code ?? "", error?.subject?.rawValue ?? ""]
    }

    @Test("projects", arguments: Way.allCases)
    func projects(way: Way) async throws {
        try await Self.run(way) { gateway, server in
            let new = NewAgentProject(name: "Site", summary: "The site", path: "site")
            let made = try #require(try await server.createProject(new).value)
            #expect(made.name == "Site" && made.summary == "The site" && made.sessions == 0)
            #expect(made.path == "\(gateway.folder)/projects/site")
            #expect(try await server.project(made.id) == .value(made))
            #expect(try await server.projects() == .value(AgentList([made])))
            let other = try #require(try await server.createProject(NewAgentProject(name: "Other")).value)
            #expect(try await server.projects().value?.rows.map(\.id).sorted() == [made.id, other.id].sorted())
            #expect(try await server.deleteProject(made.id).isOffered)
            #expect(await Self.failure { try await server.project(made.id) } == ["agent.not-found", "project"])
            #expect(await Self.failure { try await server.deleteProject(made.id) } == ["agent.not-found", "project"])
        }
    }

    @Test("more projects than a page has", arguments: Way.allCases)
    func pages(way: Way) async throws {
        try await Self.run(way) { _, server in
            for number in 1...205 {
                _ = try await server.createProject(NewAgentProject(name: "p\(number)", path: "same"))
            }
            let list = try #require(try await server.projects().value)
            #expect(Set(list.rows.map(\.name)).count == 205 && !list.isCut)
        }
    }

    @Test("sessions, their status, and the totals", arguments: Way.allCases)
    func sessions(way: Way) async throws {
        try await Self.run(way) { gateway, server in
            let project = try #require(try await server.createProject(NewAgentProject(name: "Site")).value)
            let tools = ToolSelection(servers: ["files"], tools: ["ls"], priority: ["files"], auditLog: true)
            let new = NewAgentSession(
                project: project.id, title: "Mine", model: "test/echo", systemPrompt: "Be brief.", tools: tools)
            let made = try #require(try await server.createSession(new).value)
            #expect(made.title == "Mine" && made.systemPrompt == "Be brief." && made.tools == tools)
            #expect(made.isRunning == false && made.messages == 0 && made.project == project.id)
            let body = asking("hello", "test/echo", ["session_id": .string(made.id)])
            _ = try await gateway.json(.post, "/v1/chat/completions", body)
            let used = try #require(try await server.session(made.id).value)
            #expect(used.messages == 2 && used.tokens == 15 && used.cost == Cost(nanodollars: 1500))
            #expect(try await server.sessions(ofProject: project.id) == .value(AgentList([used])))
            #expect(try await server.sessions(ofProject: "none").value?.rows == [])
            let status = try #require(try await server.status(ofSession: made.id).value)
            #expect(!status.isRunning && status.openApprovals == 0 && status.session.tools == tools)
            #expect(status.session.tokens == 15 && status.session.title == nil)
            let stats = try #require(try await server.stats().value)
            #expect(stats.sessions == 1 && stats.projects == 1 && stats.messages == 2 && stats.models == ["test/echo"])
            #expect(stats.activeSessions == 0 && stats.running == [] && stats.tokens == 15)
            #expect(try await server.stop(session: made.id) == .value(AgentStop(wasRunning: false)))
            let lost = NewAgentSession(project: "none")
            #expect(await Self.failure { try await server.createSession(lost) } == ["agent.not-found", "project"])
            let unknown = NewAgentSession(model: "test/none")
            #expect(await Self.failure { try await server.createSession(unknown) } == ["agent.not-found", "model"])
            #expect(try await server.endSession(made.id).isOffered)
            for work: @Sendable () async throws -> Void in [
                { _ = try await server.session(made.id) }, { _ = try await server.status(ofSession: made.id) },
                { _ = try await server.stop(session: made.id) }, { _ = try await server.endSession(made.id) },
                { _ = try await server.audit(ofSession: made.id) },
                { _ = try await server.approvals(ofSession: made.id) },
                { _ = try await server.setTools(ToolSelection(), ofSession: made.id) },
            ] { #expect(await Self.failure(work) == ["agent.not-found", "session"]) }
        }
    }

    @Test("a running turn is seen, protects its session, and is stopped", arguments: Way.allCases)
    func running(way: Way) async throws {
        try await Self.run(way) { gateway, server in
            let session = try #require(try await server.createSession(NewAgentSession(model: "test/endless")).value)
            let stream = try await gateway.open(
                "/v1/chat/completions",
                asking("go", "test/endless", ["session_id": .string(session.id), "stream": true]))
            #expect(try await server.status(ofSession: session.id).value?.isRunning == true)
            #expect(try await server.health().value?.activeSessions == 1)
            #expect(try await server.stats().value?.running == [session.id])
            #expect(await Self.failure { try await server.endSession(session.id) } == ["agent.busy", "session"])
            #expect(try await server.stop(session: session.id) == .value(AgentStop(wasRunning: true)))
            #expect(try await server.status(ofSession: session.id).value?.isRunning == false)
            for try await _ in stream.events() {}
        }
    }

    @Test("files", arguments: Way.allCases)
    func files(way: Way) async throws {
        try await Self.run(way) { _, server in
            let project = try #require(try await server.createProject(NewAgentProject(name: "Site")).value).id
            let name = "sub folder/a#1.txt"
            let written = try #require(
                try await server.writeFile(Array("hello".utf8), to: name, ofProject: project, if: .isNew).value)
            #expect(written.path == name && written.kind == .file && written.size == 5 && written.etag != nil)
            let all = AgentFileQuery(depth: 2)
            let list = try #require(try await server.files(ofProject: project, all).value)
            #expect(list.rows.map(\.path) == ["sub folder", name] && list.rows.last == written && !list.isCut)
            let few = AgentFileQuery(depth: 2, limit: 1)
            #expect(try await server.files(ofProject: project, few).value?.isCut == true)
            let found = try await server.files(ofProject: project, AgentFileQuery(glob: "**/*.txt")).value
            #expect(found?.rows == [written])
            let whole = AgentFileContent(bytes: Array("hello".utf8), etag: written.etag)
            #expect(try await server.readFile(name, ofProject: project, in: nil) == .value(whole))
            let part = AgentFileContent(bytes: Array("el".utf8), start: 1, size: 5, etag: written.etag)
            #expect(try await server.readFile(name, ofProject: project, in: 1..<3) == .value(part))
            let etag = try #require(written.etag)
            let next = try #require(
                try await server.writeFile([], to: name, ofProject: project, if: .matches(etag: etag)).value)
            #expect(next.size == 0)
            #expect(try await server.readFile(name, ofProject: project, in: nil).value?.bytes == [])
            for condition in [AgentWriteCondition.isNew, .matches(etag: etag)] {
                let failed = await Self.failure {
                    try await server.writeFile([1], to: name, ofProject: project, if: condition)
                }
                #expect(failed == ["agent.changed", "file"])
            }
            for path in ["none", "../x", "/etc/passwd", ""] {
                let failed = await Self.failure { try await server.readFile(path, ofProject: project, in: nil) }
                #expect(failed == ["agent.not-found", "file"], "\(path)")
            }
            let lost = await Self.failure { try await server.readFile("a", ofProject: "none", in: nil) }
            #expect(lost == ["agent.not-found", "project"])
            #expect(
                await Self.failure { try await server.files(ofProject: "none", all) } == ["agent.not-found", "project"])
        }
    }

    @Test("tools and their selection", arguments: Way.allCases)
    func tools(way: Way) async throws {
        try await Self.run(way) { _, server in
            let project = try #require(try await server.createProject(NewAgentProject(name: "Site")).value).id
            let sources = try #require(try await server.toolServers(.all, project: project).value)
            let files = try #require(sources.first { $0.id == "files" })
            #expect(files.status == "running" && files.scope == .user && files.isEnabled == true)
            #expect(try await server.toolServers(.project, project: project) == .value([]))
            let tools = try #require(try await server.tools(ofServer: "files", project: project).value)
            #expect(files.tools == tools.count && tools.first { $0.name == "fs.write" }?.effect == .writes)
            #expect(tools.allSatisfy { !$0.summary.isEmpty && $0.input["type"] == "object" })
            let unknown = await Self.failure { try await server.tools(ofServer: "none", project: project) }
            #expect(unknown == ["agent.not-found", "server"])
            let session = try #require(try await server.createSession(NewAgentSession(project: project)).value).id
            let selection = ToolSelection(servers: ["files"], tools: ["ls"], priority: ["files"], auditLog: true)
            #expect(try await server.setTools(selection, ofSession: session) == .value(selection))
            #expect(try await server.session(session).value?.tools == selection)
            let wrong = ToolSelection(tools: ["nonsense"])
            #expect(
                await Self.failure { try await server.setTools(wrong, ofSession: session) } == [
                    "agent.not-found", "tool",
                ])
        }
    }

    @Test("a call that waits for approval is listed and answered, and the audit log has it", arguments: Way.allCases)
    func approvals(way: Way) async throws {
        try await Self.run(way) { gateway, server in
            let project = try #require(try await server.createProject(NewAgentProject(name: "Site")).value).id
            let body = asking(
                #"fs.write {"path":"new.txt","content":"hello"}"#, "test/caller",
                ["project_id": .string(project), "stream": true])
            let stream = try await gateway.open("/v1/chat/completions", body)
            let session = try #require(stream.headers["X-Session-ID"])
            for try await event in stream.events() {
                guard let frame = AgentApproval(frame: Array(event.data)) else { continue }
                #expect(try await server.status(ofSession: session).value?.openApprovals == 1)
                var listed = try #require(try await server.approvals(ofSession: session).value?.first)
                let limit = try #require(listed.limit)
                #expect(
                    limit > .zero && limit <= .seconds(60)
                        && listed.paths == ["\(gateway.folder)/projects/site/new.txt"])
                // Less time is left than when the frame was written.
                listed.limit = frame.limit
                #expect(listed == frame && frame.session == session && frame.call.name == "fs.write")
                let answer = AgentApprovalAnswer(isAllowed: true, scope: .session)
                #expect(try await server.answer(frame.id, ofSession: session, answer).isOffered)
                let again = await Self.failure { try await server.answer(frame.id, ofSession: session, answer) }
                #expect(again == ["agent.not-found", "approval"])
            }
            #expect(
                try await server.readFile("new.txt", ofProject: project, in: nil).value?.bytes == Array("hello".utf8))
            #expect(try await server.approvals(ofSession: session) == .value([]))
            let rows = try #require(try await server.audit(ofSession: session).value?.rows)
            let answered = try #require(rows.first { $0.action == "approval.answered" })
            #expect(answered.actor == (way == .overHTTP ? "tester" : "owner") && answered.decision == "allowed")
            #expect(answered.subject == "fs.write" && answered.detail["scope"] == "conversation")
            #expect(answered.number != nil && answered.time != nil && answered.session == session)
        }
    }

    @Test("usage", arguments: Way.allCases)
    func usage(way: Way) async throws {
        try await Self.run(way) { gateway, server in
            _ = try await gateway.json(.post, "/v1/chat/completions", asking("hello"))
            _ = try await gateway.json(.post, "/v1/chat/completions", asking("hello"))
            let usage = Usage(inputTokens: 24, outputTokens: 6, cost: Cost(nanodollars: 3000))
            let sum = UsageSum(key: "test/echo", answers: 2, usage: usage)
            #expect(try await server.usage(by: .model, UsageFilter()) == .value([sum]))
            let same = UsageFilter(client: "tester", provider: "test", model: "echo", from: Day("2020-01-01"))
            #expect(try await server.usage(by: .model, same) == .value([sum]))
            #expect(try await server.usage(by: .day, UsageFilter(model: "none")) == .value([]))
            #expect(try await server.usage(by: .session, UsageFilter()).value?.map(\.key) == [nil])
        }
    }

    @Test("a gateway without an audit log offers none, which is no error", arguments: Way.allCases)
    func withoutAudit(way: Way) async throws {
        try await withGateway(audited: false) { gateway in
            let server = try gateway.reached(way)
            try await asCaller {
                let made = try #require(try await server.createSession(NewAgentSession()).value)
                #expect(try await server.audit(ofSession: made.id) == .notOffered)
                await #expect(throws: AgentServerError.self) { _ = try await server.audit(ofSession: "none") }
            }
            let answer = try await gateway.json(.get, "/v1/sessions/none/audit", status: 404)
            #expect(answer.errorCode == "session_not_found")
        }
    }

    @Test("both ways give the same values at the same time")
    func same() async throws {
        try await withGateway { gateway in
            let (near, far) = (try gateway.reached(.inProcess), try gateway.reached(.overHTTP))
            try await asCaller {
                let id = try await gateway.makeProject("Sample")
                let body = asking(#"ls {"path":"."}"#, "test/caller", ["project_id": .string(id)])
                let reply = try await gateway.json(.post, "/v1/chat/completions", body)
                let session = try #require(reply["session_id"]?.string)
                let selection = ToolSelection(auditLog: true)
                _ = try await near.setTools(selection, ofSession: session)
                let health = try await (near.health(), far.health())
                #expect(health.0 == health.1)
                #expect(try await near.projects() == far.projects())
                #expect(try await near.project(id) == far.project(id))
                #expect(try await near.sessions(ofProject: nil) == far.sessions(ofProject: nil))
                #expect(try await near.session(session) == far.session(session))
                #expect(try await near.status(ofSession: session) == far.status(ofSession: session))
                #expect(try await near.stats() == far.stats())
                #expect(try await near.toolServers(.all, project: id) == far.toolServers(.all, project: id))
                #expect(
                    try await near.tools(ofServer: "files", project: id) == far.tools(ofServer: "files", project: id))
                #expect(try await near.audit(ofSession: session) == far.audit(ofSession: session))
                for group in UsageGroup.allCases {
                    #expect(try await near.usage(by: group, UsageFilter()) == far.usage(by: group, UsageFilter()))
                }
            }
        }
    }
}

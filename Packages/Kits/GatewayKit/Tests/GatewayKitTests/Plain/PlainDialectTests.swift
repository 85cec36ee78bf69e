import Capabilities
import GatewayKit
import GatewayTesting
import HTTPCore
import HTTPTesting
import JSON
import Testing

@Suite("Plain dialect", .timeLimit(.minutes(1)))
struct PlainDialectTests {
    private let moment = Timestamp(iso8601: "2026-02-01T10:00:00.123456Z")

    @Test("projects are created, listed, read and deleted; a null description is unknown, and times are in UTC")
    func projects() async throws {
        try await Lab.run { server, gateway in
            let made = try #require(try await gateway.createProject(NewAgentProject(name: "Site")).value)
            #expect(made.name == "Site" && made.summary == nil && made.path?.hasPrefix("/srv/projects/") == true)
            #expect(made.created == moment && made.tokens == nil && made.cost == nil)
            #expect(try await gateway.projects() == .value(AgentList([made])))
            #expect(try await gateway.project(made.id) == .value(made))
            #expect(try await gateway.deleteProject(made.id).isOffered)
            #expect(try await gateway.projects().value?.rows == [])
            let error = await #expect(throws: AgentServerError.self) { try await gateway.project(made.id) }
            #expect(error?.kind == .notFound && error?.subject == .project)
            #expect(error?.message == "lab has no project '\(made.id)'; it may have been removed")
            #expect(server.requests.allSatisfy { $0.headers["Authorization"] == "Bearer \(Lab.key)" })
        }
    }

    @Test("all pages of a list are read")
    func pages() async throws {
        try await Lab.run { server, gateway in
            for number in 1...250 { _ = try await gateway.createProject(NewAgentProject(name: "p\(number)")) }
            let list = try #require(try await gateway.projects().value)
            #expect(list.rows.map(\.name) == (1...250).map { "p\($0)" } && !list.isCut)
            #expect(server.targets.suffix(3) == (1...3).map { "GET /v1/projects?page=\($0)&per_page=100" })
        }
    }

    @Test("sessions belong to projects; what the server makes up or does not count is unknown")
    func sessions() async throws {
        try await Lab.run { _, gateway in
            let project = try #require(try await gateway.createProject(NewAgentProject(name: "Site")).value)
            let new = NewAgentSession(project: project.id, title: "Mine", model: "claude-opus-4-6")
            let session = try #require(try await gateway.createSession(new).value)
            #expect(session.project == project.id && session.model == "claude-opus-4-6" && session.title == nil)
            #expect(session.tokens == nil && session.cost == nil && session.messages == 0 && session.tools == nil)
            #expect(try await gateway.sessions(ofProject: project.id).value?.rows == [session])
            #expect(try await gateway.sessions(ofProject: "other").value?.rows == [])
            let status = try #require(try await gateway.status(ofSession: session.id).value)
            #expect(!status.isRunning && status.session.id == session.id && status.openApprovals == nil)
            let stats = try #require(try await gateway.stats().value)
            #expect(stats.running == [session.id] && stats.activeSessions == 1 && stats.tokens == nil)
            #expect(try await gateway.endSession(session.id).isOffered)
            let error = await #expect(throws: AgentServerError.self) { try await gateway.session(session.id) }
            #expect(error?.kind == .notFound && error?.subject == .session)
        }
    }

    @Test("a session of a project that does not exist names the project")
    func lostProject() async throws {
        try await Lab.run { _, gateway in
            let error = await #expect(throws: AgentServerError.self) {
                try await gateway.createSession(NewAgentSession(project: "none"))
            }
            #expect(error?.kind == .notFound && error?.subject == .project)
        }
    }

    @Test("a stop ends the session, as its status says afterwards")
    func stop() async throws {
        try await Lab.run { _, gateway in
            let project = try #require(try await gateway.createProject(NewAgentProject(name: "Site")).value)
            let session = try #require(try await gateway.createSession(NewAgentSession(project: project.id)).value)
            #expect(try await gateway.stop(session: session.id) == .value(AgentStop(wasRunning: true)))
            let error = await #expect(throws: AgentServerError.self) { try await gateway.status(ofSession: session.id) }
            #expect(error?.kind == .notFound)
        }
    }

    @Test("the health is at the root, and the models have a list without capabilities")
    func models() async throws {
        try await Lab.run { server, gateway in
            let health = AgentHealth(isHealthy: true, version: "1.0.0", agentVersion: "2.1.0", activeSessions: 0)
            let told = try await gateway.health()
            #expect(told == .value(health))
            #expect(server.targets == ["GET /health"])
            #expect(try await gateway.models().value?.map(\.id) == ["claude-sonnet-4-5", "claude-opus-4-6"])
            #expect(try await gateway.modelCapabilities() == .notOffered)
            #expect(try await gateway.model("claude-opus-4-6").value?.id == "claude-opus-4-6")
            let error = await #expect(throws: AgentServerError.self) { try await gateway.model("team/none") }
            #expect(error?.kind == .notFound && error?.subject == .model)
            #expect(server.targets.last == "GET /v1/models/team%2Fnone")
        }
    }

    @Test("files, tools, approvals, usage, audit and debugging are not offered, which is no error")
    func notOffered() async throws {
        try await Lab.run { _, gateway in
            let project = try #require(try await gateway.createProject(NewAgentProject(name: "Site")).value)
            let id = try #require(try await gateway.createSession(NewAgentSession(project: project.id)).value?.id)
            #expect(try await gateway.files(ofProject: project.id, AgentFileQuery()) == .notOffered)
            #expect(try await gateway.readFile("a.txt", ofProject: project.id, in: nil) == .notOffered)
            #expect(try await gateway.writeFile([1], to: "a", ofProject: project.id, if: .always) == .notOffered)
            #expect(try await gateway.search("x", ofProject: project.id) == .notOffered)
            #expect(try await gateway.toolServers(.all, project: nil) == .notOffered)
            #expect(try await gateway.tools(ofServer: "files", project: nil) == .notOffered)
            #expect(try await gateway.setTools(ToolSelection(servers: []), ofSession: id) == .notOffered)
            #expect(try await gateway.approvals(ofSession: id) == .notOffered)
            #expect(try await !gateway.answer("a", ofSession: id, AgentApprovalAnswer(isAllowed: true)).isOffered)
            #expect(try await gateway.usage(by: .day, UsageFilter()) == .notOffered)
            #expect(try await gateway.audit(ofSession: id) == .notOffered)
            #expect(try await !gateway.debug(["messages": []]).isOffered)
            let error = #expect(throws: AgentServerError.self) {
                try Offered<Int>.notOffered.required("tool servers", of: gateway.server)
            }
            #expect(error?.message.hasPrefix("lab offers no tool servers;") == true)
        }
    }

    @Test("the server's reason is told, such as for a path outside its root")
    func reason() async throws {
        try await Lab.run { _, gateway in
            let error = await #expect(throws: RemoteGatewayError.self) {
                try await gateway.createProject(NewAgentProject(name: "Site", path: "/../etc"))
            }
            #expect(error?.kind == .refused && error?.status == 400)
            #expect(error?.message == "lab refused the request: Invalid path: it is outside the root")
        }
    }
}

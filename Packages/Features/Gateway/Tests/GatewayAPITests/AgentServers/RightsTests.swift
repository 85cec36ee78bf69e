import Capabilities
import GatewayAPI
import GatewayKit
import HTTPClient
import HTTPCore
import HTTPServer
import JSON
import Testing

@Suite("Rights of an agent server's caller", .timeLimit(.minutes(2)))
struct AgentServerRightsTests {
    @Test("in process, a caller needs the scopes of the routes")
    func scopes() async throws {
        try await withGateway { gateway in
            let server = try gateway.reached(.inProcess)
            let project = try await gateway.makeProject()
            let session = try #require(
                try await asCaller { try await server.createSession(NewAgentSession(project: project)) }.value
            ).id
            try await asCaller(scopes: [.read]) {
                let projects = try await server.projects()
                #expect(projects.value?.rows.count == 1)
                #expect(try await server.files(ofProject: project, AgentFileQuery()).isOffered)
                #expect(try await server.status(ofSession: session).isOffered)
                let refused: [@Sendable () async throws -> Void] = [
                    { _ = try await server.createProject(NewAgentProject(name: "x")) },
                    { _ = try await server.deleteProject(project) },
                    { _ = try await server.createSession(NewAgentSession()) },
                    { _ = try await server.endSession(session) }, { _ = try await server.stop(session: session) },
                    { _ = try await server.writeFile([], to: "a", ofProject: project, if: .always) },
                    { _ = try await server.setTools(ToolSelection(), ofSession: session) },
                    { _ = try await server.answer("a", ofSession: session, AgentApprovalAnswer(isAllowed: true)) },
                ]
                for work in refused { await #expect(throws: AccessFailure.self) { try await work() } }
            }
            try await asCaller(scopes: [.approve]) {
                // An answer for the whole project is a rule.
                let answer = AgentApprovalAnswer(isAllowed: true, scope: .project)
                await #expect(throws: AccessFailure.self) { try await server.answer("a", ofSession: session, answer) }
                await #expect(throws: AccessFailure.self) { try await server.projects() }
            }
        }
    }

    @Test("in process, code without a caller may do nothing but ask for the health")
    func nobody() async throws {
        try await withGateway { gateway in
            let server = try gateway.reached(.inProcess)
            let health = try await server.health()
            #expect(health.value?.isHealthy == true)
            await #expect(throws: AccessFailure.self) { try await server.projects() }
            await #expect(throws: AccessFailure.self) { try await server.stats() }
        }
    }

    @Test("only an admin turns off the audit log of a session", arguments: [true, false])
    func auditLog(isAdmin: Bool) async throws {
        try await withGateway { gateway in
            let server = try gateway.reached(.inProcess)
            let new = NewAgentSession(tools: ToolSelection(auditLog: true))
            let session = try #require(try await asCaller { try await server.createSession(new) }.value).id
            let scopes: Set<ClientScope> = isAdmin ? [.chat, .admin] : [.chat]
            let applied = try await asCaller(scopes: scopes) {
                try await server.setTools(ToolSelection(), ofSession: session)
            }
            #expect(applied.value?.auditLog == !isAdmin)
        }
    }

    @Test("over HTTP, a token without the scope is refused by the gateway, with what it needs")
    func token() async throws {
        try await withGateway { configuration in
            configuration.authenticate = { _ in Principal("reader", grant: .client("reader", scopes: [.read])) }
        } _: { gateway in
            let server = try gateway.reached(.overHTTP)
            let projects = try await server.projects()
            #expect(projects.value?.rows == [])
            let error = await #expect(throws: RemoteGatewayError.self) {
                try await server.createProject(NewAgentProject(name: "x"))
            }
            #expect(error?.kind == .forbidden && error?.exit == .denied)
            #expect(error?.message.contains("admin") == true && error?.message.hasPrefix("gateway ") == true)
        }
    }

    @Test("a route that this gateway does not have is not offered")
    func missingRoute() async throws {
        try await withGateway { gateway in
            let missing = try await gateway.json(.get, "/v1/nothing/here", status: 404)
            #expect(missing.errorCode == "route_not_found")
            let file = try await gateway.json(
                .get, "/v1/projects/\(gateway.makeProject())/files/none", status: 404)
            #expect(file.errorCode == "not_found")
        }
    }
}

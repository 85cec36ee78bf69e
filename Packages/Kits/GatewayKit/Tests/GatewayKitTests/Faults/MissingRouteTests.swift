import Capabilities
import GatewayKit
import GatewayTesting
import HTTPCore
import HTTPTesting
import JSON
import Testing

@Suite("Missing routes and missing things", .timeLimit(.minutes(1)))
struct MissingRouteTests {
    @Test(
        "a route that the server does not have is not an error",
        arguments: [
            PlainGateway.Reply.noRoute, .init(405, #"{"detail":"Method Not Allowed"}"#), .init(501, "no"),
            .error(404, "route_not_found", "there is nothing here"),
        ])
    func missingRoute(reply: PlainGateway.Reply) async throws {
        try await Lab.run { server, gateway in
            server.reply("/v1/sessions/s", with: reply)
            let answer = try await gateway.session("s")
            #expect(answer == .notOffered)
        }
    }

    @Test(
        "a session that does not exist is an error, in the words of any server",
        arguments: [
            PlainGateway.Reply.error(404, "session_not_found", "no"), .init(404, #"{"detail":"Session s not found"}"#),
            .init(404, #"{"detail":{"error":{"message":"no such session"}}}"#), .init(404, #"{"error":"none"}"#),
        ])
    func missingSession(reply: PlainGateway.Reply) async throws {
        try await Lab.run { server, gateway in
            server.reply("/v1/sessions/s", with: reply)
            let error = await #expect(throws: AgentServerError.self) { try await gateway.session("s") }
            #expect(error?.kind == .notFound && error?.subject == .session && error?.exit == .usage)
        }
    }

    @Test("a web page at the address is neither", arguments: [200, 404])
    func webPage(status: Int) async throws {
        try await Lab.run { server, gateway in
            server.reply("/v1/sessions/s", with: .init(status, "<html>Welcome</html>"))
            let error = await #expect(throws: RemoteGatewayError.self) { try await gateway.session("s") }
            #expect(error?.kind == .badAnswer && error?.message.contains("lab") == true)
            #expect(error?.message.contains("check that its address") == true)
        }
    }

    @Test(
        "an id that could lead elsewhere is of nothing, and nothing is sent",
        arguments: [
            "", ".", "..", "../projects/p", "a/b", "a\\b", "a\nb", "a/../b", String(repeating: "x", count: 500),
        ])
    func hostileIDs(id: String) async throws {
        try await Lab.run { server, gateway in
            let calls: [(AgentSubject, () async throws -> Void)] = [
                (.session, { _ = try await gateway.stop(session: id) }),
                (.session, { _ = try await gateway.endSession(id) }),
                (.project, { _ = try await gateway.deleteProject(id) }),
                (.approval, { _ = try await gateway.answer(id, ofSession: "s", AgentApprovalAnswer(isAllowed: true)) }),
            ]
            for (subject, call) in calls {
                let error = await #expect(throws: AgentServerError.self) { try await call() }
                #expect(error?.kind == .notFound && error?.subject == subject)
            }
            #expect(server.requests.isEmpty)
        }
    }

    @Test("a path that leads out of the project is no file", arguments: ["", "/etc/passwd", "../a", "a/./b", "a//b"])
    func hostilePaths(path: String) async throws {
        try await Lab.run { server, gateway in
            let error = await #expect(throws: AgentServerError.self) {
                try await gateway.readFile(path, ofProject: "p", in: nil)
            }
            #expect(error?.kind == .notFound && error?.subject == .file && server.requests.isEmpty)
        }
    }

    @Test("ids are escaped, whatever they contain")
    func escapes() async throws {
        try await Lab.run { server, gateway in
            await #expect(throws: AgentServerError.self) { try await gateway.session("a b?c#d%2e:é") }
            #expect(server.targets == ["GET /v1/sessions/a%20b%3Fc%23d%252e%3A%C3%A9"])
            _ = try await gateway.readFile("dir/a b?.txt", ofProject: "p", in: 0..<5)
            #expect(server.targets.last == "GET /v1/projects/p/files/dir/a%20b%3F.txt")
            #expect(server.requests.last?.headers["Range"] == "bytes=0-4")
        }
    }
}

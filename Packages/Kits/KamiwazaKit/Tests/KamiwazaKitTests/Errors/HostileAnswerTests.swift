import Capabilities
import HTTPClient
import HTTPCore
import HTTPServer
import KamiwazaKit
import KamiwazaTesting
import Testing

@Suite("Unexpected responses", .timeLimit(.minutes(5)))
struct HostileAnswerTests {
    static let bodies: [(String, [UInt8])] = [
        ("nothing", []), ("no JSON", Array("OK".utf8)), ("half", Array(#"{"username":"ada""#.utf8)),
        ("too deep", Array((String(repeating: "[", count: 100_000)).utf8)),
        ("deep in a member", Array((#"{"username":"# + String(repeating: "[", count: 500)).utf8)),
        ("no UTF-8 at all", [0xFF, 0xFE, 0x00, 0x80]), ("a list", Array("[]".utf8)), ("a text", Array("\"ada\"".utf8)),
        ("wrong types", Array(#"{"username":["ada"],"sub":{},"email":true}"#.utf8)),
        ("names without a value", Array(#"{"username":"","sub":null}"#.utf8)),
    ]

    @Test("An invalid response gives a clear error", arguments: bodies)
    func unusable(_ name: String, _ body: [UInt8]) async throws {
        try await Lab.session { server, api, _ in
            server.fail("/api/auth/users/me", with: .json(bytes: body))
            let error = await Lab.failure { _ = try await api.whoAmI() }
            #expect(error?.kind == .badAnswer && error?.exit == .failed, "\(name)")
            #expect((20...200).contains(error?.message.count ?? 0), "\(error?.message ?? "")")
        }
    }

    @Test("A response larger than 4 MiB is refused")
    func huge() async throws {
        try await Lab.session { server, api, _ in
            let body = Array(#"{"username":"\#(String(repeating: "a", count: 4 << 20))"}"#.utf8)
            server.fail("/api/auth/users/me", with: .json(bytes: body))
            let error = await Lab.failure { _ = try await api.whoAmI() }
            #expect(
                error?.kind == .badAnswer && error?.message.contains("larger than 4.0 MiB") == true,
                "\(error?.message ?? "")")
        }
    }

    @Test("Invalid UTF-8 in a usable response is repaired, and a duplicate key counts once")
    func repaired() async throws {
        try await Lab.session { server, api, _ in
            let body =
                Array(#"{"username":"nobody","username":"a"#.utf8) + [0xFF]
                + Array(#"da","roles":[1,"user",null]}"#.utf8)
            server.fail("/api/auth/users/me", with: .json(bytes: body))
            let user = try await api.whoAmI()
            #expect(user.name == "a\u{FFFD}da" && user.roles == ["user"])
        }
    }

    @Test(
        "A web page is recognised as such",
        arguments: [
            Fault.webPage(), .text("  \n<html></html>"), .json(bytes: Array("<!DOCTYPE html>".utf8)),
        ])
    func webPage(_ fault: Fault) async throws {
        try await Lab.session { server, api, _ in
            server.fail("/api/auth/users/me", with: fault)
            let error = await Lab.failure { _ = try await api.whoAmI() }
            #expect(error?.kind == .badAnswer && error?.message.contains("a web page") == true)
            server.fail("/api/auth/token", with: fault)
            let login = await Lab.failure { _ = try await api.signIn(user: "ada", password: Lab.password) }
            #expect(login?.kind == .badAnswer)
            server.fail("/api/auth/pats/x", with: fault)
            let revoked = await Lab.failure { try await api.revokePersonalToken("x") }
            #expect(revoked?.kind == .badAnswer)
            server.fail("/api/auth/logout", with: fault)
            let logout = await Lab.failure { _ = try await api.logOut() }
            #expect(logout?.kind == .badAnswer)
        }
    }

    @Test("An empty response is accepted if only the status matters")
    func empty() async throws {
        try await Lab.session { server, api, _ in
            for path in ["pats/x", "logout"] { server.fail("/api/auth/\(path)", with: .answers(.empty())) }
            try await api.revokePersonalToken("x")
            let logout = try await api.logOut()
            #expect(logout.browserURL == nil && server.requests.count == 3)
        }
    }

    @Test("A truncated response does not give a partial token")
    func cut() async throws {
        try await Lab.platform { server, api in
            server.fail("/api/auth/token", with: .cut)
            let error = await Lab.failure { _ = try await api.signIn(user: "ada", password: Lab.password) }
            #expect(error?.kind == .unreachable && server.requests.count == 1)
        }
    }

    @Test("A request without a response ends at the timeout")
    func timedOut() async throws {
        try await Lab.session { server, api, _ in
            var api = api
            #expect(api.patience == .seconds(30))
            api.patience = .milliseconds(100)
            server.fail("/api/auth/users/me", with: .held)
            let error = await Lab.failure { [api] in _ = try await api.whoAmI() }
            #expect(error?.kind == .timedOut && error?.exit == .unreachable && error?.code == "kamiwaza.timed-out")
            #expect(error?.message.contains("within 100ms") == true, "\(error?.message ?? "")")
            #expect(server.count(.get, "/api/auth/users/me") == 1)
        }
    }

    @Test("Cancelling ends the wait with a cancellation error, and the next call works")
    func cancelled() async throws {
        try await Lab.session { server, api, _ in
            server.fail("/api/auth/users/me", with: .held)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { _ = try await api.whoAmI() }
                try await server.until { $0.contains { $0.path == "/api/auth/users/me" } }
                group.cancelAll()
                await #expect(throws: CancellationError.self) { try await group.next() }
            }
            server.heal("/api/auth/users/me")
            #expect(try await api.whoAmI().name == "ada")
        }
    }

    @Test("A closed client reports that it is closed, not that the server is unreachable")
    func closed() async throws {
        try await Lab.session { _, api, _ in
            await api.client.close()
            let error = await #expect(throws: HTTPError.self) { try await api.whoAmI() }
            #expect(error?.kind == .closed)
        }
    }
}

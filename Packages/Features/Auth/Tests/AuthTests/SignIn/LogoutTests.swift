import Capabilities
import CoreTesting
import HTTPCore
import HostTesting
import JSON
import KamiwazaTesting
import Testing

@testable import Auth

@Suite("Signing out", .timeLimit(.minutes(10)))
struct LogoutTests {
    @Test("The token is revoked, then the session is ended, then the credentials are removed")
    func order() async throws {
        try await Lab.signedIn(remember: true) { server, bench in
            let kept = try #require(try await bench.session())
            let id = try #require(kept["id"]?.string)
            let done = try await bench.perform("auth.logout")
            #expect(done["state"] == "signed-out")
            let lines = server.lines
            let revoked = try #require(lines.firstIndex(of: "DELETE /api/auth/pats/\(id)"))
            let ended = try #require(lines.firstIndex(of: "POST /api/auth/logout"))
            #expect(revoked < ended)
            #expect(server.requests[revoked].credential == .personalToken)
            #expect(try await bench.session() == nil)
            // The remembered user name is gone too, so the next login asks for it.
            let ada = ScriptedPerson(["auth.login.method": ["User name and password"]], otherwise: .declines)
            bench.person = ada
            #expect(try await bench.failure("auth.login", ["server": "lab"]) != nil)
            #expect(ada.asked.contains("auth.login.user"), "\(ada.asked)")
            #expect(try await bench.perform("auth.status").json[0]?["user"] ?? .null == .null)
        }
    }

    @Test("A session is ended at the server although its access token has expired")
    func session() async throws {
        for isOver in [false, true] {
            try await Lab.signedIn { server, bench in
                if isOver { bench.time?.advance(by: .seconds(600)) }
                let done = try await bench.perform("auth.logout")
                #expect(done.notices.contains("sign your browser out"))
                let ended = server.requests.last { $0.path == "/api/auth/logout" }
                #expect(ended?.credential == .accessToken)
                #expect(try await bench.session() == nil)
            }
        }
    }

    @Test("Signing out succeeds when the server is unreachable or fails, and reports what stays valid")
    func unreachable() async throws {
        try await Lab.signedIn(remember: true) { server, bench in
            server.fail("/api/auth/logout", with: .status(.internalServerError))
            let done = try await bench.perform("auth.logout")
            #expect(
                done.exit == .done && done.notices.contains("You are signed out here, but the token may stay valid"))
            #expect(try await bench.session() == nil)
        }
        try await TestWorkbench.withAuth { bench in
            try await KamiwazaServer.run { server in
                try await bench.perform("auth.server.add", ["name": "lab", "address": .string(server.origin)])
                try await bench.signIn(remember: true)
            }
            let done = try await bench.perform("auth.logout")
            #expect(done.exit == .done && done.notices.contains("cannot reach the server"))
            #expect(try await bench.session() == nil)
            #expect(try await bench.perform("auth.status").json[0]?["state"] == "signed-out")
        }
    }

    @Test("Without a session the server gets no request, and other servers are left alone")
    func others() async throws {
        try await Lab.signedIn { server, bench in
            try await KamiwazaServer.run { other in
                try await bench.perform("auth.server.add", ["name": "two", "address": .string(other.origin)])
                other.forgetRequests()
                #expect(try await bench.perform("auth.logout", ["server": "two"]).exit == .done)
                #expect(other.requests.isEmpty && server.requests.isEmpty)
                #expect(try await bench.perform("auth.whoami", ["server": "lab"])["user"] == "ada")
            }
        }
    }

    @Test("Signing out twice, or with a revoked token, is not an error")
    func again() async throws {
        try await Lab.signedIn(remember: true) { server, bench in
            server.revokePersonalTokens()
            let first = try await bench.perform("auth.logout")
            #expect(first.exit == .done)
            let second = try await bench.perform("auth.logout")
            #expect(second.exit == .done)
            let session = try await bench.session()
            #expect(session == nil)
        }
    }
}

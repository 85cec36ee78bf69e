import Capabilities
import HTTPCore
import JSON
import KamiwazaTesting
import Testing

@testable import Auth

@Suite("Signing out", .timeLimit(.minutes(10)))
struct LogoutTests {
    @Test("The token is revoked, then the session is ended, then the credentials are removed")
    func order() async throws {
        try await Lab.signedIn(remember: true) { server, desk in
            let kept = try #require(try await desk.session())
            let id = try #require(kept["id"]?.string)
            let done = try await desk.run("auth.logout")
            #expect(done["state"] == "signed-out")
            let lines = server.lines
            let revoked = try #require(lines.firstIndex(of: "DELETE /api/auth/pats/\(id)"))
            let ended = try #require(lines.firstIndex(of: "POST /api/auth/logout"))
            #expect(revoked < ended)
            #expect(server.requests[revoked].credential == .personalToken)
            #expect(try await desk.session() == nil)
            // The name that was remembered is gone too, so that it is asked for anew.
            let ada = Person(["auth.login.method": ["User name and password"]])
            desk.person = ada
            _ = await desk.failure("auth.login", ["server": "lab"])
            #expect(try await desk.run("auth.status").json[0]?["user"] ?? .null == .null)
        }
    }

    @Test("A session is ended at the server although its access token has expired")
    func session() async throws {
        for isOver in [false, true] {
            try await Lab.signedIn { server, desk in
                if isOver { desk.time.advance(by: .seconds(600)) }
                let done = try await desk.run("auth.logout")
                #expect(done.said.contains("sign your browser out"))
                let ended = server.requests.last { $0.path == "/api/auth/logout" }
                #expect(ended?.credential == .accessToken)
                #expect(try await desk.session() == nil)
            }
        }
    }

    @Test("Signing out succeeds when the server is unreachable or fails, and reports what stays valid")
    func unreachable() async throws {
        try await Lab.signedIn(remember: true) { server, desk in
            server.fail("/api/auth/logout", with: .status(.internalServerError))
            let done = try await desk.run("auth.logout")
            #expect(done.exit == .done && done.said.contains("You are signed out here, but the token may stay valid"))
            #expect(try await desk.session() == nil)
        }
        try await Desk.run { desk in
            try await KamiwazaServer.run { server in
                try await desk.run("auth.server.add", ["name": "lab", "address": .string(server.origin)])
                try await desk.signIn(remember: true)
            }
            let done = try await desk.run("auth.logout")
            #expect(done.exit == .done && done.said.contains("cannot reach the server"))
            #expect(try await desk.session() == nil)
            #expect(try await desk.run("auth.status").json[0]?["state"] == "signed-out")
        }
    }

    @Test("Without a session the server gets no request, and other servers are left alone")
    func others() async throws {
        try await Lab.signedIn { server, desk in
            try await KamiwazaServer.run { other in
                try await desk.run("auth.server.add", ["name": "two", "address": .string(other.origin)])
                other.forgetRequests()
                #expect(try await desk.run("auth.logout", ["server": "two"]).exit == .done)
                #expect(other.requests.isEmpty && server.requests.isEmpty)
                #expect(try await desk.run("auth.whoami", ["server": "lab"])["user"] == "ada")
            }
        }
    }

    @Test("Signing out twice, or with a revoked token, is not an error")
    func again() async throws {
        try await Lab.signedIn(remember: true) { server, desk in
            server.revokePersonalTokens()
            let first = try await desk.run("auth.logout")
            #expect(first.exit == .done)
            let second = try await desk.run("auth.logout")
            #expect(second.exit == .done)
            let session = try await desk.session()
            #expect(session == nil)
        }
    }
}

import Capabilities
import FileKit
import HTTPCore
import JSON
import KamiwazaTesting
import Testing

@testable import Auth

@Suite("Sessions left at a server", .timeLimit(.minutes(10)))
struct LeftoverTests {
    /// A vault with a passphrase that nobody gives any more.
    private func lock(_ desk: inout Desk) async throws {
        desk.overrides = "{auth: {'keep-unlocked': '0s'}}"
        desk.environment["MARTLET_PASSPHRASE"] = "the vault's own"
        try await desk.run("auth.secret.set", ["name": "openai", "value": "some-key-of-mine"])
        desk.environment["MARTLET_PASSPHRASE"] = nil
    }

    @Test("A locked vault is opened before any request, so no session is left")
    func locked() async throws {
        try await Lab.run { server, desk in
            try await lock(&desk)
            server.forgetRequests()
            let login: JSONObject = ["user": "ada", "password": .string(Lab.password), "remember": true]
            let failure = await desk.failure("auth.login", login)
            #expect(failure?.code == "auth.vault.unanswered" && failure?.exit == .unanswered)
            desk.environment["MARTLET_PASSPHRASE"] = "another one"
            #expect(await desk.failure("auth.login", login)?.code == "auth.vault.wrong-passphrase")
            #expect(server.requests.isEmpty && server.personalTokens.isEmpty)
            desk.environment["MARTLET_PASSPHRASE"] = "the vault's own"
            #expect(try await desk.run("auth.login", login)["user"] == "ada")
        }
    }

    @Test("A session that cannot be stored is ended", arguments: [false, true])
    func unkept(remember: Bool) async throws {
        try await Lab.run { server, desk in
            // Where the vault's lock should be is something else.
            try Files.makeDirectories("\(desk.folder)/data/vault.lock")
            let failure = await desk.failure(
                "auth.login", ["user": "ada", "password": .string(Lab.password), "remember": .bool(remember)])
            #expect(failure != nil)
            #expect(server.count(.post, "/api/auth/token") == 1)
            #expect(server.personalTokens.isEmpty && server.openSessions == 0)
        }
    }

    @Test("Staying signed in leaves one token and ends the session that created it")
    func remembered() async throws {
        try await Lab.signedIn(remember: true) { server, desk in
            #expect(server.personalTokens == ["martlet on \(Machine.name)"] && server.openSessions == 0)
            let me = try await desk.run("auth.whoami")
            #expect(me["user"] == "ada")
        }
    }

    @Test("The session is ended when the server creates no token")
    func noToken() async throws {
        try await Lab.run { server, desk in
            server.fail("/api/auth/pats", with: .status(HTTPStatus(403), ["detail": "PATs are switched off"]))
            _ = await desk.failure(
                "auth.login", ["user": "ada", "password": .string(Lab.password), "remember": true])
            #expect(server.openSessions == 0)
        }
    }

    @Test("A second sign-in leaves only the newest session", arguments: [false, true], [false, true])
    func replaced(first: Bool, second: Bool) async throws {
        try await Lab.signedIn(remember: first) { server, desk in
            if !first { desk.time.advance(by: .seconds(400)) }
            let done = try await desk.signIn(remember: second)
            #expect(done.notices.isEmpty, "\(done.said)")
            #expect(server.personalTokens.count == (second ? 1 : 0) && server.openSessions == (second ? 0 : 1))
            #expect(try await desk.run("auth.whoami")["user"] == "ada")
        }
    }

    @Test("A notice reports a former token that cannot be revoked")
    func notRevoked() async throws {
        try await Lab.signedIn(remember: true) { server, desk in
            let id = try #require(try await desk.session()?["id"]?.string)
            server.fail("/api/auth/pats/\(id)", with: .status(.internalServerError))
            let done = try await desk.signIn()
            #expect(
                done.exit == .done && done.said.contains("an access token that is no longer used may stay valid"))
        }
    }

    @Test("A token that the user supplied is left valid, because other programs may use it")
    func brought() async throws {
        try await Lab.signedIn { server, desk in
            let made = try await desk.run("auth.pat.create", ["name": "shared"])
            try await desk.run("auth.login", ["token": try #require(made["token"])])
            try await desk.signIn()
            #expect(server.personalTokens == ["shared"])
        }
    }

    @Test("Signing out reports a token without an id")
    func opaque() async throws {
        try await Lab.run { server, desk in
            server.fail("/api/auth/users/me", with: .status(.ok, ["username": "ada"]))
            try await desk.run("auth.login", ["token": "an-opaque-token-0815"])
            let done = try await desk.run("auth.logout")
            #expect(done.said.contains("has no id, so it was not revoked") && done.exit == .done)
            #expect(server.count(.delete, "/api/auth/pats/") == 0)
        }
    }

    @Test("Signing out reports a failed revocation and still ends the session")
    func revokeFails() async throws {
        try await Lab.signedIn(remember: true) { server, desk in
            let id = try #require(try await desk.session()?["id"]?.string)
            server.fail("/api/auth/pats/\(id)", with: .status(.internalServerError))
            let done = try await desk.run("auth.logout")
            #expect(done.said.contains("may stay valid") && done.exit == .done)
            #expect(server.count(.post, "/api/auth/logout") == 1)
        }
    }

    @Test("Removing or replacing a server leaves no session")
    func removed() async throws {
        try await Lab.signedIn(remember: true) { server, desk in
            try await desk.run("auth.server.remove", ["name": "lab"], isAgreed: true)
            #expect(server.personalTokens.isEmpty)
        }
        try await Lab.signedIn(remember: true) { server, desk in
            try await KamiwazaServer.run { other in
                try await desk.run("auth.server.add", ["name": "lab", "address": .string(other.origin)])
                #expect(server.personalTokens.isEmpty)
                #expect(other.requests.allSatisfy { $0.credential == .none })
            }
        }
    }
}

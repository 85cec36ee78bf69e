import Capabilities
import FileKit
import HTTPCore
import JSON
import KamiwazaTesting
import Testing

@testable import Auth

@Suite("What is left at a server", .timeLimit(.minutes(10)))
struct LeftoverTests {
    /// A vault with a passphrase that nobody gives any more.
    private func lock(_ desk: inout Desk) async throws {
        desk.overrides = "{auth: {'keep-unlocked': '0s'}}"
        desk.environment["MARTLET_PASSPHRASE"] = "the vault's own"
        try await desk.run("auth.secret.set", ["name": "openai", "value": "some-key-of-mine"])
        desk.environment["MARTLET_PASSPHRASE"] = nil
    }

    @Test("is nothing when the vault is locked: it is opened before anything is sent")
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

    @Test("is nothing when what came cannot be kept", arguments: [false, true])
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

    @Test("after a remembered login is one token, and not the session that it was made with")
    func remembered() async throws {
        try await Lab.signedIn(remember: true) { server, desk in
            #expect(server.personalTokens == ["martlet on \(Machine.name)"] && server.openSessions == 0)
            let me = try await desk.run("auth.whoami")
            #expect(me["user"] == "ada")
        }
    }

    @Test("is no session either where the server makes no token")
    func noToken() async throws {
        try await Lab.run { server, desk in
            server.fail("/api/auth/pats", with: .status(HTTPStatus(403), ["detail": "PATs are switched off"]))
            _ = await desk.failure(
                "auth.login", ["user": "ada", "password": .string(Lab.password), "remember": true])
            #expect(server.openSessions == 0)
        }
    }

    @Test("after another login is only what came last", arguments: [false, true], [false, true])
    func replaced(first: Bool, second: Bool) async throws {
        try await Lab.signedIn(remember: first) { server, desk in
            if !first { desk.time.advance(by: .seconds(400)) }
            let done = try await desk.signIn(remember: second)
            #expect(done.notices.isEmpty, "\(done.said)")
            #expect(server.personalTokens.count == (second ? 1 : 0) && server.openSessions == (second ? 0 : 1))
            #expect(try await desk.run("auth.whoami")["user"] == "ada")
        }
    }

    @Test("is told when the former token cannot be revoked")
    func notRevoked() async throws {
        try await Lab.signedIn(remember: true) { server, desk in
            let id = try #require(try await desk.session()?["id"]?.string)
            server.fail("/api/auth/pats/\(id)", with: .status(.internalServerError))
            let done = try await desk.signIn()
            #expect(
                done.exit == .done && done.said.contains("an access token that is not used any more may stay valid"))
        }
    }

    @Test("stays what somebody brought: it may be used elsewhere")
    func brought() async throws {
        try await Lab.signedIn { server, desk in
            let made = try await desk.run("auth.pat.create", ["name": "shared"])
            try await desk.run("auth.login", ["token": try #require(made["token"])])
            try await desk.signIn()
            #expect(server.personalTokens == ["shared"])
        }
    }

    @Test("is told at logout where the token names no id to revoke it by")
    func opaque() async throws {
        try await Lab.run { server, desk in
            server.fail("/api/auth/users/me", with: .status(.ok, ["username": "ada"]))
            try await desk.run("auth.login", ["token": "an-opaque-token-0815"])
            let done = try await desk.run("auth.logout")
            #expect(done.said.contains("names no id, so it was not revoked") && done.exit == .done)
            #expect(server.count(.delete, "/api/auth/pats/") == 0)
        }
    }

    @Test("is told at logout where the revoke failed, and the logout is tried all the same")
    func revokeFails() async throws {
        try await Lab.signedIn(remember: true) { server, desk in
            let id = try #require(try await desk.session()?["id"]?.string)
            server.fail("/api/auth/pats/\(id)", with: .status(.internalServerError))
            let done = try await desk.run("auth.logout")
            #expect(done.said.contains("may stay valid") && done.exit == .done)
            #expect(server.count(.post, "/api/auth/logout") == 1)
        }
    }

    @Test("is nothing when the server is removed, or its name is given to another")
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

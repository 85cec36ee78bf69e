import Capabilities
import CoreTesting
import FileKit
import HTTPCore
import HostTesting
import JSON
import KamiwazaTesting
import Testing

@testable import Auth

@Suite("Sessions left at a server", .timeLimit(.minutes(10)))
struct LeftoverTests {
    /// Creates a vault whose passphrase is no longer provided.
    private func lock(_ bench: inout TestWorkbench) async throws {
        bench.settings = "{auth: {'keep-unlocked': '0s'}}"
        bench.environment["MARTLET_PASSPHRASE"] = "the vault's own"
        try await bench.perform("auth.secret.set", ["name": "openai", "value": "some-key-of-mine"])
        bench.environment["MARTLET_PASSPHRASE"] = nil
    }

    @Test("A locked vault is opened before any request, so no session is left")
    func locked() async throws {
        try await Lab.run { server, bench in
            try await lock(&bench)
            server.forgetRequests()
            let login: JSONObject = ["user": "ada", "password": .string(Lab.password), "remember": true]
            let failure = try await bench.failure("auth.login", login)
            #expect(failure?.code == "auth.vault.unanswered" && failure?.exit == .unanswered)
            bench.environment["MARTLET_PASSPHRASE"] = "another one"
            #expect(try await bench.failure("auth.login", login)?.code == "auth.vault.wrong-passphrase")
            #expect(server.requests.isEmpty && server.personalTokens.isEmpty)
            bench.environment["MARTLET_PASSPHRASE"] = "the vault's own"
            #expect(try await bench.perform("auth.login", login)["user"] == "ada")
        }
    }

    @Test("A session that cannot be stored is ended", arguments: [false, true])
    func unkept(remember: Bool) async throws {
        try await Lab.run { server, bench in
            // A folder is in the place of the vault's lock file.
            try Files.makeDirectories("\(bench.folder)/data/vault.lock")
            let failure = try await bench.failure(
                "auth.login", ["user": "ada", "password": .string(Lab.password), "remember": .bool(remember)])
            #expect(failure != nil)
            #expect(server.count(.post, "/api/auth/token") == 1)
            #expect(server.personalTokens.isEmpty && server.openSessions == 0)
        }
    }

    @Test("Staying signed in leaves one token and ends the session that created it")
    func remembered() async throws {
        try await Lab.signedIn(remember: true) { server, bench in
            #expect(server.personalTokens == ["martlet on \(Machine.name)"] && server.openSessions == 0)
            let me = try await bench.perform("auth.whoami")
            #expect(me["user"] == "ada")
        }
    }

    @Test("The session is ended when the server creates no token")
    func noToken() async throws {
        try await Lab.run { server, bench in
            server.fail("/api/auth/pats", with: .status(HTTPStatus(403), ["detail": "PATs are switched off"]))
            let refused = try await bench.failure(
                "auth.login", ["user": "ada", "password": .string(Lab.password), "remember": true])
            #expect(refused?.message.contains("PATs are switched off") == true, "\(refused?.message ?? "it succeeded")")
            #expect(server.openSessions == 0)
        }
    }

    @Test("A second sign-in leaves only the newest session", arguments: [false, true], [false, true])
    func replaced(first: Bool, second: Bool) async throws {
        try await Lab.signedIn(remember: first) { server, bench in
            if !first { bench.time?.advance(by: .seconds(400)) }
            let done = try await bench.signIn(remember: second)
            #expect(done.notices.isEmpty, "\(done.notices)")
            #expect(server.personalTokens.count == (second ? 1 : 0) && server.openSessions == (second ? 0 : 1))
            #expect(try await bench.perform("auth.whoami")["user"] == "ada")
        }
    }

    @Test("A notice reports a former token that cannot be revoked")
    func notRevoked() async throws {
        try await Lab.signedIn(remember: true) { server, bench in
            let id = try #require(try await bench.session()?["id"]?.string)
            server.fail("/api/auth/pats/\(id)", with: .status(.internalServerError))
            let done = try await bench.signIn()
            #expect(
                done.exit == .done && done.notices.contains("an access token that is no longer used may stay valid"))
        }
    }

    @Test("A token that the user supplied is left valid, because other programs may use it")
    func brought() async throws {
        try await Lab.signedIn { server, bench in
            let made = try await bench.perform("auth.pat.create", ["name": "shared"])
            try await bench.perform("auth.login", ["token": try #require(made["token"])])
            try await bench.signIn()
            #expect(server.personalTokens == ["shared"])
        }
    }

    @Test("Signing out reports a token without an id")
    func opaque() async throws {
        try await Lab.run { server, bench in
            server.fail("/api/auth/users/me", with: .status(.ok, ["username": "ada"]))
            try await bench.perform("auth.login", ["token": "an-opaque-token-0815"])
            let done = try await bench.perform("auth.logout")
            #expect(done.notices.contains("has no id, so it was not revoked") && done.exit == .done)
            #expect(server.count(.delete, "/api/auth/pats/") == 0)
        }
    }

    @Test("Signing out reports a failed revocation and still ends the session")
    func revokeFails() async throws {
        try await Lab.signedIn(remember: true) { server, bench in
            let id = try #require(try await bench.session()?["id"]?.string)
            server.fail("/api/auth/pats/\(id)", with: .status(.internalServerError))
            let done = try await bench.perform("auth.logout")
            #expect(done.notices.contains("may stay valid") && done.exit == .done)
            #expect(server.count(.post, "/api/auth/logout") == 1)
        }
    }

    @Test("Removing or replacing a server leaves no session")
    func removed() async throws {
        try await Lab.signedIn(remember: true) { server, bench in
            try await bench.perform("auth.server.remove", ["name": "lab"], isAgreed: true)
            #expect(server.personalTokens.isEmpty)
        }
        try await Lab.signedIn(remember: true) { server, bench in
            try await KamiwazaServer.run { other in
                try await bench.perform("auth.server.add", ["name": "lab", "address": .string(other.origin)])
                #expect(server.personalTokens.isEmpty)
                #expect(other.requests.allSatisfy { $0.credential == .none })
            }
        }
    }
}

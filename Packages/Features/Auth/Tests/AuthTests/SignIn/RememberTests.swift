import Capabilities
import CoreTesting
import HTTPCore
import HostTesting
import JSON
import KamiwazaTesting
import Testing

@testable import Auth

@Suite("Staying signed in", .timeLimit(.minutes(10)))
struct RememberTests {
    @Test("An access token with the machine's name replaces the session for a hundred days")
    func named() async throws {
        try await Lab.run { server, bench in
            let done = try await bench.signIn(remember: true)
            let name = "martlet on \(Machine.name)"
            #expect(done["credential"]?.string == "access token '\(name)'")
            let kept = try #require(try await bench.session())
            #expect(kept["kind"] == "personal" && kept["name"]?.string == name && kept["refresh_token"] == nil)
            let rows = try #require(try await bench.perform("auth.pat.list").json.array)
            #expect(rows.count == 1 && rows[0]["name"]?.string == name && rows[0]["this_machine"] == true)
            #expect(rows[0]["id"] == kept["id"] && rows[0]["state"] == "active")
            #expect(server.requests.last?.credential == .personalToken)
            bench.time?.advance(by: .seconds(8_640_000 - 60))
            #expect(try await bench.perform("auth.whoami")["user"] == "ada")
            bench.time?.advance(by: .seconds(120))
            let over = try await bench.failure("auth.whoami")
            #expect(over?.exit == .denied && over?.code == "auth.sign-in-again", "\(over?.message ?? "")")
            #expect(server.count(.post, "/api/auth/refresh") == 0)
        }
    }

    @Test("The answer to the question decides")
    func asked() async throws {
        for yes in [true, false] {
            try await Lab.run { server, bench in
                bench.person = ScriptedPerson(["auth.login.remember": [.bool(yes)]], otherwise: .declines)
                let done = try await bench.perform(
                    "auth.login", ["user": "ada", "password": .string(Lab.password)])
                #expect(done["credential"]?.string?.hasPrefix("access token") == yes)
                #expect(server.count(.post, "/api/auth/pats") == (yes ? 1 : 0))
            }
        }
    }

    @Test("The device is not remembered when the server creates no token")
    func refused() async throws {
        try await Lab.run { server, bench in
            server.fail("/api/auth/pats", with: .status(HTTPStatus(403), ["detail": "PATs are switched off"]))
            let failure = try await bench.failure(
                "auth.login", ["user": "ada", "password": .string(Lab.password), "remember": true])
            #expect(failure?.code == "kamiwaza.forbidden" && failure?.message.contains("PATs are switched off") == true)
            let session = try await bench.session()
            #expect(session == nil)
        }
    }

    @Test("The user is warned before the token expires and after it has expired")
    func warning() async throws {
        try await Lab.signedIn(remember: true) { _, bench in
            #expect(try await bench.perform("auth.whoami").notices.isEmpty)
            bench.time?.advance(by: .seconds(8_640_000 - 13 * 86_400))
            let soon = try await bench.perform("auth.whoami")
            #expect(soon.output.notices.count == 1 && soon.notices.contains("martlet auth pat rotate lab"))
            #expect(try await bench.perform("auth.status").notices.contains("expires on"))
            #expect(try await bench.perform("auth.pat.list").json[0]?["state"] == "expiring")
            bench.time?.advance(by: .seconds(14 * 86_400))
            let status = try await bench.perform("auth.status", ["server": "lab"])
            #expect(status.json[0]?["state"] == "expired" && status.exit == .denied)
            #expect(status.notices.contains("has expired; sign in again: martlet auth login lab"))
        }
    }
}

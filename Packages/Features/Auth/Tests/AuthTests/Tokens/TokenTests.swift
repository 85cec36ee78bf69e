import Capabilities
import CoreTesting
import HTTPCore
import HostTesting
import JSON
import KamiwazaTesting
import Registry
import Screens
import Testing

@Suite("Access tokens", .timeLimit(.minutes(10)))
struct TokenTests {
    @Test("Tokens are created, listed and revoked")
    func life() async throws {
        try await Lab.signedIn { server, bench in
            let made = try await bench.perform("auth.pat.create", ["name": "ci", "days": 30])
            let (token, id) = (try #require(made["token"]?.string), try #require(made["id"]?.string))
            #expect(made["name"] == "ci" && made["expires"] != nil)
            let list = try await bench.perform("auth.pat.list")
            let rows = try #require(list.json.array)
            #expect(rows.count == 1 && rows[0]["id"]?.string == id && rows[0]["this_machine"] == false)
            #expect(rows[0]["state"] == "active" && !list.json.text().contains(token))
            #expect(try await bench.failure("auth.pat.revoke", ["id": .string(id)])?.exit == .unanswered)
            let person = ScriptedPerson(otherwise: .declines)
            bench.person = person
            #expect(try await bench.failure("auth.pat.revoke", ["id": "nonsense"])?.code == "auth.token-unknown")
            #expect(person.asked.isEmpty)
            #expect(try await bench.failure("auth.pat.revoke", ["id": .string(id)])?.code == "interaction.declined")
            #expect(person.prompts.joined().contains("access token ci (\(id)) at"), "\(person.prompts)")
            try await bench.perform("auth.pat.revoke", ["id": .string(id)], isAgreed: true)
            #expect(try await bench.perform("auth.pat.list").json[0]?["state"] == "revoked")
            let gone = try await bench.failure("auth.pat.revoke", ["id": "nonsense"], isAgreed: true)
            #expect(gone?.code == "auth.token-unknown" && gone?.exit == .usage)
            #expect(server.count(.post, "/api/auth/pats") == 1)
        }
    }

    @Test("The screen of a server's tokens revokes at that server")
    func screen() async throws {
        try await Lab.signedIn { server, bench in
            try await bench.perform("auth.pat.create", ["name": "ci"])
            let name = try #require(try await bench.perform("auth.status").json[0]?["name"])
            let person = bench.person
            let block = try await bench.open { open in
                try await open.session.open(
                    "auth.tokens", ["server": name], as: .person(person), output: RecordingOutput()
                ) { view in
                    for try await state in view.states {
                        if case .failed(let failure, _) = state { throw failure }
                        if let block = state.block { return block }
                    }
                    throw CancellationError()
                }
            }
            guard case .table(let table) = block.content, case .all(let rows) = table.rows else {
                Issue.record("\(block)")
                return
            }
            #expect(rows.map { $0["name"] } == ["ci"])
            let arguments = try #require(table.rowLinks.first).arguments(for: rows[0])
            #expect(arguments["server"] == name && arguments["id"] == rows[0]["id"])
        }
    }

    @Test("A token needs a name")
    func names() async throws {
        try await Lab.signedIn { server, bench in
            for name in ["", "  "] {
                let failure = try await bench.failure("auth.pat.create", ["name": .string(name)])
                #expect(failure?.code == "auth.token-name" && failure?.exit == .usage)
            }
            #expect(server.requests.isEmpty)
        }
    }

    @Test("A new token is redacted at once")
    func redacted() async throws {
        try await Lab.signedIn { _, bench in
            try await bench.open { open in
                let token = try #require(try await open.perform("auth.pat.create", ["name": "ci"])["token"]?.string)
                let text = open.host.redactor.redact("the token is \(token)")
                #expect(!text.contains(token))
            }
        }
    }

    @Test("The state of a token follows from the time")
    func states() async throws {
        try await Lab.signedIn(remember: true) { _, bench in
            try await bench.perform("auth.pat.create", ["name": "short", "days": 20])
            func state() async throws -> String? {
                let rows = try await bench.perform("auth.pat.list").json.array ?? []
                return rows.first { $0["name"] == "short" }?["state"]?.string
            }
            #expect(try await state() == "active")
            bench.time?.advance(by: .seconds(7 * 86_400))
            #expect(try await state() == "expiring")
            bench.time?.advance(by: .seconds(13 * 86_400))
            #expect(try await state() == "expired")
        }
    }

    @Test("Rotation stores the new token before it revokes the old one")
    func rotate() async throws {
        try await Lab.signedIn(remember: true) { server, bench in
            let old = try #require(try await bench.session())
            let id = try #require(old["id"]?.string)
            try await bench.perform("auth.pat.rotate", ["server": "lab"])
            let new = try #require(try await bench.session())
            #expect(new["access_token"] != old["access_token"] && new["id"] != old["id"])
            let lines = server.lines
            let made = try #require(lines.firstIndex(of: "POST /api/auth/pats"))
            let revoked = try #require(lines.firstIndex(of: "DELETE /api/auth/pats/\(id)"))
            #expect(made < revoked)
            let rows = try await bench.perform("auth.pat.list").json.array ?? []
            #expect(rows.filter { $0["state"] == "active" }.map { $0["id"] } == [new["id"]])
            #expect(rows.filter { $0["state"] == "revoked" }.map { $0["id"] } == [.string(id)])
        }
    }

    @Test("An interrupted rotation leaves a valid token at every step")
    func halfRotated() async throws {
        try await Lab.signedIn(remember: true) { server, bench in
            let old = try #require(try await bench.session())
            let id = try #require(old["id"]?.string)
            server.fail("/api/auth/pats", with: .status(.internalServerError))
            #expect(try await bench.failure("auth.pat.rotate")?.code == "kamiwaza.server-failed")
            #expect(try await bench.session()?["id"]?.string == id)
            server.heal("/api/auth/pats")
            server.fail("/api/auth/pats/\(id)", with: .status(.internalServerError))
            #expect(try await bench.failure("auth.pat.rotate")?.code == "kamiwaza.server-failed")
            #expect(try await bench.session()?["id"]?.string != id)
            #expect(try await bench.perform("auth.whoami")["user"] == "ada")
        }
    }

    @Test("A token that the user supplied is rotated and revoked by the id in it")
    func byHand() async throws {
        try await Lab.signedIn { server, bench in
            let made = try await bench.perform("auth.pat.create", ["name": "by hand"])
            try await bench.perform("auth.login", ["token": try #require(made["token"])])
            try await bench.perform("auth.pat.rotate")
            #expect(try await bench.perform("auth.pat.list").json.array?.first?["state"] == "revoked")
            #expect(server.requests.contains { $0.method == .delete })
        }
    }

    @Test("Rotation fails with a plain session, and without a sign-in")
    func notOffered() async throws {
        try await Lab.signedIn { server, bench in
            let failure = try await bench.failure("auth.pat.rotate")
            #expect(failure?.code == "auth.not-offered" && failure?.exit == .failed)
            try await bench.perform("auth.logout")
            server.forgetRequests()
            for (action, arguments) in [
                ("auth.pat.list", [:]), ("auth.pat.create", ["name": "x"]), ("auth.pat.revoke", ["id": "x"]),
                ("auth.pat.rotate", [:]), ("auth.whoami", [:]),
            ] as [(String, JSONObject)] {
                let failure = try await bench.failure(action, arguments, isAgreed: true)
                #expect(failure?.code == "auth.no-token" && failure?.exit == .denied, "\(action)")
                #expect(failure?.message.contains("martlet auth login lab") == true)
            }
            #expect(server.requests.isEmpty)
        }
    }

    @Test("Revoking this machine's own token signs it out")
    func own() async throws {
        try await Lab.signedIn(remember: true) { _, bench in
            let id = try #require(try await bench.session()?["id"])
            let done = try await bench.perform("auth.pat.revoke", ["id": id], isAgreed: true)
            #expect(done.notices.contains("you are now signed out of lab"))
            #expect(try await bench.session() == nil)
        }
    }
}

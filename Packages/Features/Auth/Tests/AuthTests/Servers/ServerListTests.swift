import Capabilities
import HTTPCore
import HTTPServer
import JSON
import KamiwazaTesting
import Testing

@Suite("Server list", .timeLimit(.minutes(10)))
struct ServerListTests {
    @Test("Servers are listed, chosen and removed")
    func life() async throws {
        try await KamiwazaServer.run { first in
            try await KamiwazaServer.run { second in
                try await Desk.run { desk in
                    try await desk.run("auth.server.add", ["name": "one", "address": .string(first.origin)])
                    let added = try await desk.run(
                        "auth.server.add", ["name": "two", "address": .string(second.origin)])
                    #expect(added["in_use"] == false)
                    func inUse() async throws -> [String] {
                        let rows = try await desk.run("auth.server.list").json.array ?? []
                        #expect(rows.compactMap { $0["name"]?.string } == ["one", "two"])
                        return rows.filter { $0["in_use"] == true }.compactMap { $0["name"]?.string }
                    }
                    #expect(try await inUse() == ["one"])
                    try await desk.run("auth.server.use", ["name": "two"])
                    #expect(try await inUse() == ["two"])
                    try await desk.run(
                        "auth.server.add", ["name": "one", "address": .string(first.origin), "use": true])
                    #expect(try await inUse() == ["one"])

                    let unagreed = await desk.failure("auth.server.remove", ["name": "one"])
                    #expect(unagreed?.exit == .unanswered && unagreed?.code == "interaction.unanswered")
                    try await desk.run("auth.server.remove", ["name": "one"], isAgreed: true)
                    #expect(try desk.kept()["profile"] == nil)
                    #expect(try desk.kept()["profiles"]?["one"] == nil)
                    // The only one left is meant without being chosen.
                    #expect(try await desk.run("auth.server.check")["name"] == "two")
                }
            }
        }
    }

    @Test("An unknown name gets a suggestion", arguments: ["auth.server.use", "auth.server.remove"])
    func unknown(action: String) async throws {
        try await Lab.run { _, desk in
            let failure = await desk.failure(action, ["name": "lba"], isAgreed: true)
            #expect(failure?.code == "auth.profile-unknown" && failure?.exit == .usage)
            #expect(failure?.message.contains("did you mean 'lab'?") == true)
        }
    }

    @Test("The question before a removal names the server; an unknown server gets no question")
    func named() async throws {
        try await Lab.run { _, desk in
            let person = Person()
            desk.person = person
            #expect(await desk.failure("auth.server.remove", ["name": "lba"])?.code == "auth.profile-unknown")
            #expect(person.asked.isEmpty)
            let declined = await desk.failure("auth.server.remove", ["name": "lab"])
            #expect(declined?.code == "interaction.declined" && declined?.exit == .failed)
            #expect(person.prompts.hasPrefix("Remove the server lab (http"), "\(person.prompts)")
        }
    }

    @Test("A command needs a name with several servers and no default, and a server when none exists")
    func ambiguous() async throws {
        try await Desk.run { desk in
            let none = await desk.failure("auth.server.check")
            #expect(none?.code == "auth.no-server" && none?.exit == .usage)
            #expect(none?.message.contains("martlet auth server add") == true)
            desk.overrides = "{profiles: {a: {server: 'https://a.example'}, b: {server: 'https://b.example'}}}"
            let several = await desk.failure("auth.whoami")
            #expect(several?.code == "auth.profile-ambiguous" && several?.exit == .usage)
            #expect(several?.message.contains("name one of a, b") == true)
            desk.overrides = "{profiles: {a: {server: 'ftp://a.example'}}}"
            let bad = await desk.failure("auth.whoami")
            #expect(bad?.code == "auth.server-address" && bad?.exit == .usage)
        }
    }

    @Test("A profile with an invalid address is fixed by adding it again")
    func mended() async throws {
        try await KamiwazaServer.run { server in
            try await Desk.run { desk in
                try desk.keep("{profiles: {lab: {server: 'ftp://lab.example'}}}")
                let bad = await desk.failure("auth.whoami", ["server": "lab"])
                #expect(bad?.message.contains("correct it with martlet auth server add") == true)
                try await desk.run("auth.server.add", ["name": "lab", "address": .string(server.origin)])
                #expect(try await desk.run("auth.server.check")["state"] == "ok")
            }
        }
    }

    @Test("Credentials are removed only when the name gets a different server")
    func changed() async throws {
        try await Lab.signedIn { server, desk in
            try await KamiwazaServer.run { other in
                let same = try await desk.run("auth.server.add", ["name": "lab", "address": .string(server.api)])
                #expect(same.notices.isEmpty)
                #expect(try await desk.session() != nil)
                let failed = await desk.failure("auth.server.add", ["name": "lab", "address": "http://127.0.0.1:1"])
                #expect(failed?.exit == .unreachable)
                #expect(try await desk.session() != nil)

                let moved = try await desk.run("auth.server.add", ["name": "lab", "address": .string(other.origin)])
                #expect(moved.said.contains("was a different server before, so its credentials were removed"))
                #expect(try await desk.session() == nil)
                #expect(try await desk.run("auth.status", ["server": "lab"])["0"] == nil)
                let status = try await desk.run("auth.status")
                #expect(status.json[0]?["state"] == "signed-out")
                #expect(other.requests.allSatisfy { $0.credential == .none })
            }
        }
    }

    @Test("Editing the settings does not pass credentials on to another server")
    func changedByHand() async throws {
        try await Lab.signedIn { server, desk in
            try await KamiwazaServer.run { other in
                desk.overrides = "{profiles: {lab: {server: '\(other.api)'}}}"
                let failure = await desk.failure("auth.whoami")
                #expect(failure?.code == "auth.no-token" && failure?.exit == .denied)
                #expect(other.requests.isEmpty && server.requests.isEmpty)
            }
        }
    }

    @Test("The health check shows the state of each kind of server")
    func check() async throws {
        try await Lab.run { server, desk in
            let well = try await desk.run("auth.server.check", ["name": "lab"])
            #expect(well["state"] == "ok" && well.exit == .done && well["latency"] != nil)
            server.fail("/api/auth/health", with: .status(.ok, ["status": "degraded\u{1B}[31m"]))
            let ill = try await desk.run("auth.server.check")
            #expect(ill.exit == .failed)
            #expect(ill["state"]?.string?.hasPrefix("degraded") == true)
            #expect(ill["state"]?.string?.contains("\u{1B}") == false)
            server.fail("/api/auth/health", with: .status(.internalServerError))
            let failed = await desk.failure("auth.server.check")
            #expect(failed?.code == "kamiwaza.server-failed" && failed?.exit == .failed)
            server.fail("/api/auth/health", with: .webPage())
            #expect(await desk.failure("auth.server.check")?.code == "kamiwaza.bad-answer")
        }
        try await SmallServer.run(SmallServer.gateway) { gateway in
            try await Desk.run { desk in
                try await desk.run("auth.server.add", ["name": "gate", "address": .string(gateway.origin)])
                let health = try await desk.run("auth.server.check")
                #expect(health["version"] == "1.4.2" && health["active_sessions"] == 3 && health["state"] == "ok")
            }
        }
    }
}

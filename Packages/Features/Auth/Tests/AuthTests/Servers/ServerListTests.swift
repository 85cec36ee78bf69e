import Capabilities
import CoreTesting
import HTTPCore
import HTTPServer
import HostTesting
import JSON
import KamiwazaTesting
import Testing

@Suite("Server list", .timeLimit(.minutes(10)))
struct ServerListTests {
    @Test("Servers are listed, chosen and removed")
    func life() async throws {
        try await KamiwazaServer.run { first in
            try await KamiwazaServer.run { second in
                try await TestWorkbench.withAuth { bench in
                    try await bench.perform("auth.server.add", ["name": "one", "address": .string(first.origin)])
                    let added = try await bench.perform(
                        "auth.server.add", ["name": "two", "address": .string(second.origin)])
                    #expect(added["in_use"] == false)
                    func inUse() async throws -> [String] {
                        let rows = try await bench.perform("auth.server.list").json.array ?? []
                        #expect(rows.compactMap { $0["name"]?.string } == ["one", "two"])
                        return rows.filter { $0["in_use"] == true }.compactMap { $0["name"]?.string }
                    }
                    #expect(try await inUse() == ["one"])
                    try await bench.perform("auth.server.use", ["name": "two"])
                    #expect(try await inUse() == ["two"])
                    try await bench.perform(
                        "auth.server.add", ["name": "one", "address": .string(first.origin), "use": true])
                    #expect(try await inUse() == ["one"])

                    let unagreed = try await bench.failure("auth.server.remove", ["name": "one"])
                    #expect(unagreed?.exit == .unanswered && unagreed?.code == "interaction.unanswered")
                    try await bench.perform("auth.server.remove", ["name": "one"], isAgreed: true)
                    #expect(try bench.readSettings()["profile"] == nil)
                    #expect(try bench.readSettings()["profiles"]?["one"] == nil)
                    // The only remaining server is used without being chosen.
                    #expect(try await bench.perform("auth.server.check")["name"] == "two")
                }
            }
        }
    }

    @Test("An unknown name gets a suggestion", arguments: ["auth.server.use", "auth.server.remove"])
    func unknown(action: String) async throws {
        try await Lab.run { _, bench in
            let failure = try await bench.failure(action, ["name": "lba"], isAgreed: true)
            #expect(failure?.code == "auth.profile-unknown" && failure?.exit == .usage)
            #expect(failure?.message.contains("did you mean 'lab'?") == true)
        }
    }

    @Test("The question before a removal names the server; an unknown server gets no question")
    func named() async throws {
        try await Lab.run { _, bench in
            let person = ScriptedPerson(otherwise: .declines)
            bench.person = person
            #expect(try await bench.failure("auth.server.remove", ["name": "lba"])?.code == "auth.profile-unknown")
            #expect(person.asked.isEmpty)
            let declined = try await bench.failure("auth.server.remove", ["name": "lab"])
            #expect(declined?.code == "interaction.declined" && declined?.exit == .failed)
            #expect(person.prompts.joined().hasPrefix("Remove the server lab (http"), "\(person.prompts)")
        }
    }

    @Test("A command needs a name with several servers and no default, and a server when none exists")
    func ambiguous() async throws {
        try await TestWorkbench.withAuth { bench in
            let none = try await bench.failure("auth.server.check")
            #expect(none?.code == "auth.no-server" && none?.exit == .usage)
            #expect(none?.message.contains("martlet auth server add") == true)
            bench.settings = "{profiles: {a: {server: 'https://a.example'}, b: {server: 'https://b.example'}}}"
            let several = try await bench.failure("auth.whoami")
            #expect(several?.code == "auth.profile-ambiguous" && several?.exit == .usage)
            #expect(several?.message.contains("name one of a, b") == true)
            bench.settings = "{profiles: {a: {server: 'ftp://a.example'}}}"
            let bad = try await bench.failure("auth.whoami")
            #expect(bad?.code == "auth.server-address" && bad?.exit == .usage)
        }
    }

    @Test("A profile with an invalid address is fixed by adding it again")
    func mended() async throws {
        try await KamiwazaServer.run { server in
            try await TestWorkbench.withAuth { bench in
                try bench.write(settings: "{profiles: {lab: {server: 'ftp://lab.example'}}}")
                let bad = try await bench.failure("auth.whoami", ["server": "lab"])
                #expect(bad?.message.contains("correct it with martlet auth server add") == true)
                try await bench.perform("auth.server.add", ["name": "lab", "address": .string(server.origin)])
                #expect(try await bench.perform("auth.server.check")["state"] == "ok")
            }
        }
    }

    @Test("Credentials are removed only when the name gets a different server")
    func changed() async throws {
        try await Lab.signedIn { server, bench in
            try await KamiwazaServer.run { other in
                let same = try await bench.perform("auth.server.add", ["name": "lab", "address": .string(server.api)])
                #expect(same.notices.isEmpty)
                #expect(try await bench.session() != nil)
                let failed = try await bench.failure(
                    "auth.server.add", ["name": "lab", "address": "http://127.0.0.1:1"])
                #expect(failed?.exit == .unreachable)
                #expect(try await bench.session() != nil)

                let moved = try await bench.perform(
                    "auth.server.add", ["name": "lab", "address": .string(other.origin)])
                #expect(moved.notices.contains("was a different server before, so its credentials were removed"))
                #expect(try await bench.session() == nil)
                #expect(try await bench.perform("auth.status", ["server": "lab"])["0"] == nil)
                let status = try await bench.perform("auth.status")
                #expect(status.json[0]?["state"] == "signed-out")
                #expect(other.requests.allSatisfy { $0.credential == .none })
            }
        }
    }

    @Test("Editing the settings does not pass credentials on to another server")
    func changedByHand() async throws {
        try await Lab.signedIn { server, bench in
            try await KamiwazaServer.run { other in
                bench.settings = "{profiles: {lab: {server: '\(other.api)'}}}"
                let failure = try await bench.failure("auth.whoami")
                #expect(failure?.code == "auth.no-token" && failure?.exit == .denied)
                #expect(other.requests.isEmpty && server.requests.isEmpty)
            }
        }
    }

    @Test("The health check shows the state of each kind of server")
    func check() async throws {
        try await Lab.run { server, bench in
            let well = try await bench.perform("auth.server.check", ["name": "lab"])
            #expect(well["state"] == "ok" && well.exit == .done && well["latency"] != nil)
            server.fail("/api/auth/health", with: .status(.ok, ["status": "degraded\u{1B}[31m"]))
            let ill = try await bench.perform("auth.server.check")
            #expect(ill.exit == .failed)
            #expect(ill["state"]?.string?.hasPrefix("degraded") == true)
            #expect(ill["state"]?.string?.contains("\u{1B}") == false)
            server.fail("/api/auth/health", with: .status(.internalServerError))
            let failed = try await bench.failure("auth.server.check")
            #expect(failed?.code == "kamiwaza.server-failed" && failed?.exit == .failed)
            server.fail("/api/auth/health", with: .webPage())
            #expect(try await bench.failure("auth.server.check")?.code == "kamiwaza.bad-answer")
        }
        try await SmallServer.run(SmallServer.gateway) { gateway in
            try await TestWorkbench.withAuth { bench in
                try await bench.perform("auth.server.add", ["name": "gate", "address": .string(gateway.origin)])
                let health = try await bench.perform("auth.server.check")
                #expect(health["version"] == "1.4.2" && health["active_sessions"] == 3 && health["state"] == "ok")
            }
        }
    }
}

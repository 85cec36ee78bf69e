import Capabilities
import CoreTesting
import Cryptography
import HTTPCore
import HTTPServer
import HTTPTesting
import HostTesting
import JSON
import KamiwazaTesting
import Testing

@Suite("Adding a server", .timeLimit(.minutes(10)))
struct AddTests {
    @Test("A platform is found by its web address or its API address", arguments: ["", "/", "/api", "/api/"])
    func platform(path: String) async throws {
        try await KamiwazaServer.run { server in
            try await TestWorkbench.withAuth { bench in
                let done = try await bench.perform(
                    "auth.server.add", ["name": "lab", "address": .string(server.origin + path)])
                #expect(done["server"]?.string == server.api && done["kind"] == "kamiwaza" && done["in_use"] == true)
                let settings = try bench.readSettings()
                #expect(settings["profiles"]?["lab"]?["server"]?.string == server.api)
                #expect(settings["profiles"]?["lab"]?["kind"] == "kamiwaza")
                #expect(settings["profile"] == "lab")
                #expect(server.requests.allSatisfy { $0.method == .get && $0.credential == .none })
                #expect(server.requests.allSatisfy { $0.path.hasSuffix("/auth/health") })
            }
        }
    }

    @Test("A gateway and a model server are detected; other servers need their kind")
    func kinds() async throws {
        try await SmallServer.run(SmallServer.gateway) { gateway in
            try await TestWorkbench.withAuth { bench in
                let found = try await bench.perform(
                    "auth.server.add", ["name": "gate", "address": .string(gateway.origin)])
                #expect(found["kind"] == "gateway" && found["server"]?.string == "\(gateway.origin)/")
            }
        }
        let list: JSON = ["object": "list", "data": [["id": "m"]]]
        let secretive: JSON = ["error": ["message": "no key"]]
        for answers in [
            ["/v1/models": .json(list)], ["/v1/models": .json(secretive, status: .unauthorized)],
            // The health check of llama.cpp returns only its status.
            ["/v1/models": .json(list), "/v1/health": .json(["status": "ok"]), "/health": .json(["status": "ok"])],
        ] as [[String: HTTPAnswer]] {
            try await SmallServer.run(answers) { models in
                try await TestWorkbench.withAuth { bench in
                    for path in ["", "/v1", "/v1/"] {
                        let found = try await bench.perform(
                            "auth.server.add", ["name": "local", "address": .string(models.origin + path)])
                        #expect(found["kind"] == "openai" && found["server"]?.string == "\(models.origin)/v1")
                    }
                }
            }
        }
        try await SmallServer.run(["/v1/models": .json(["models": []] as JSON)]) { models in
            try await TestWorkbench.withAuth { bench in
                let address: JSONObject = ["name": "local", "address": .string("\(models.origin)/v1")]
                let refused = try await bench.failure("auth.server.add", address)
                #expect(refused?.code == "auth.server-kind" && refused?.exit == .unreachable)
                #expect(refused?.message.contains("check the address, or use '--kind openai'") == true)
                #expect(try bench.readSettings() == [:])
                var named = address
                named["kind"] = "openai"
                let found = try await bench.perform("auth.server.add", named)
                #expect(found["kind"] == "openai" && found["server"]?.string == "\(models.origin)/v1")
            }
        }
    }

    @Test("An address without a known server is not saved, and the error names what to check")
    func unusable() async throws {
        try await SmallServer.run(["/": .text("welcome"), "/health": .text("fine")]) { page in
            try await TestWorkbench.withAuth { bench in
                for (address, code, exit, words) in [
                    (page.origin, "auth.server-kind", ExitCode.unreachable, "check the address"),
                    ("http://127.0.0.1:1", "kamiwaza.unreachable", .unreachable, "cannot reach the server"),
                    ("http://nowhere.invalid", "kamiwaza.unreachable", .unreachable, "cannot reach the server"),
                    // An address without a scheme means https and never falls back to http.
                    (
                        String(page.origin.dropFirst("http://".count)), "kamiwaza.unreachable", .unreachable,
                        "if the server uses http without TLS, name it as \(page.origin)"
                    ),
                    ("\(page.origin)/?x=1#f", "kamiwaza.invalid-address", .usage, "remove that part"),
                    ("", "usage.arguments", .usage, "needs a host, not empty text"),
                    ("ftp://lab.example", "kamiwaza.invalid-address", .usage, "ftp"),
                    ("http://", "kamiwaza.invalid-address", .usage, ""),
                    ("https://ada:secret-word@lab.example", "kamiwaza.invalid-address", .usage, ""),
                ] {
                    let failure = try await bench.failure(
                        "auth.server.add", ["name": "x", "address": .string(address)])
                    #expect(failure?.code == code && failure?.exit == exit, "\(address): \(failure?.message ?? "")")
                    #expect(failure?.message.contains(words) == true, "\(failure?.message ?? "")")
                    #expect(failure?.report.text().contains("secret-word") == false)
                }
                let kept = try bench.readSettings()
                #expect(kept == [:])
            }
        }
    }

    @Test(
        "A name must be valid as a settings key",
        arguments: ["", "Lab", "-lab", "a b", "a.b", "lab/../x", "ä", "'", "\u{1B}"])
    func names(name: String) async throws {
        try await KamiwazaServer.run { server in
            try await TestWorkbench.withAuth { bench in
                let failure = try await bench.failure(
                    "auth.server.add", ["name": .string(name), "address": .string(server.origin)])
                #expect(failure?.code == "auth.profile-name" && failure?.exit == .usage)
                #expect(failure?.message.contains("\u{1B}") == false)
                #expect(server.requests.isEmpty)
                let kept = try bench.readSettings()
                #expect(kept == [:])
            }
        }
    }

    @Test("An unknown certificate is asked about, and rejected without a terminal")
    func certificate() async throws {
        var setup = KamiwazaSetup()
        setup.tls = try TLSServerContext(identity: TestCertificates.shared().selfSigned)
        try await KamiwazaServer.run(setup) { server in
            try await TestWorkbench.withAuth { bench in
                let add: JSONObject = ["name": "lab", "address": .string(server.origin)]
                let refused = try await bench.failure("auth.server.add", add)
                #expect(refused?.code == "auth.certificate-unknown" && refused?.exit == .denied)
                #expect(refused?.message.contains("martlet auth trust add 127.0.0.1:") == true)
                #expect(server.requests.isEmpty)

                let no = ScriptedPerson(["auth.trust": [false]], otherwise: .declines)
                bench.person = no
                let declined = try await bench.failure("auth.server.add", add)
                #expect(declined?.code == "auth.certificate-unknown" && declined?.exit == .denied)
                #expect(no.asked == ["auth.trust"] && server.requests.isEmpty)

                let yes = ScriptedPerson(["auth.trust": [true]], otherwise: .declines)
                bench.person = yes
                let added = try await bench.perform("auth.server.add", add)
                #expect(added["server"]?.string == server.api)
                #expect(yes.asked == ["auth.trust"])
                bench.person = HeadlessInteraction()
                let health = try await bench.perform("auth.server.check")
                #expect(health.exit == .done)
            }
        }
    }
}

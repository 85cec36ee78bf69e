import AuthVault
import Capabilities
import CoreTesting
import FileKit
import HTTPTesting
import HostKit
import HostTesting
import JSON
import KamiwazaTesting
import Registry
import Testing

@testable import Auth

@Suite("Secret actions", .timeLimit(.minutes(10)))
struct SecretActionTests {
    @Test("Secrets are stored, printed, listed by name and removed")
    func life() async throws {
        try await TestWorkbench.withAuth { bench in
            #expect(try await bench.perform("auth.secret.list").json == [])
            let first = try await bench.perform("auth.secret.set", ["name": "openai", "value": "kept-secret-1"])
            #expect(first.notices.contains("open with the key file"))
            let second = try await bench.perform("auth.secret.set", ["name": "openai", "value": "kept-secret-2"])
            #expect(second.output.notices == ["the secret openai is stored in the encrypted vault"])
            #expect(try await bench.perform("auth.secret.get", ["name": "openai"]).json == "kept-secret-2")
            let list = try await bench.perform("auth.secret.list")
            #expect(list.json[0]?["name"] == "openai" && list.json[0]?["source"] == "vault")
            #expect(list.json.array?.count == 1 && !list.json.text().contains("kept-secret"))
            #expect(try await bench.failure("auth.secret.remove", ["name": "openai"])?.exit == .unanswered)
            let person = ScriptedPerson(otherwise: .declines)
            bench.person = person
            #expect(try await bench.failure("auth.secret.remove", ["name": "opneai"])?.code == "auth.secret-unknown")
            #expect(person.asked.isEmpty)
            #expect(try await bench.failure("auth.secret.remove", ["name": "openai"])?.code == "interaction.declined")
            #expect(person.prompts.joined() == "Delete the secret openai. Continue?")
            bench.person = HeadlessInteraction()
            try await bench.perform("auth.secret.remove", ["name": "openai"], isAgreed: true)
            for action in ["auth.secret.get", "auth.secret.remove"] {
                let failure = try await bench.failure(action, ["name": "openai"], isAgreed: true)
                #expect(failure?.code == "auth.secret-unknown" && failure?.exit == .usage)
            }
            let vault = String(decoding: try Files.read("\(bench.folder)/data/vault", limit: 1 << 20), as: UTF8.self)
            #expect(!vault.contains("kept-secret"))
        }
    }

    @Test("Invalid names and oversized values are rejected")
    func rules() async throws {
        try await TestWorkbench.withAuth { bench in
            for (name, value) in [("", "x"), ("A", "x"), ("../x", "x"), ("a b", "x"), ("x", "")] {
                let failure = try await bench.failure(
                    "auth.secret.set", ["name": .string(name), "value": .string(value)])
                #expect(failure?.exit == .usage, "'\(name)': \(failure?.message ?? "")")
            }
            #expect(try await bench.perform("auth.secret.list").json == [])
            let near = try await bench.perform("auth.secret.set", ["name": "anthropic", "value": "kept-secret"])
            #expect(near.exit == .done)
            let failure = try await bench.failure("auth.secret.get", ["name": "antropic"])
            #expect(failure?.message.contains("did you mean 'anthropic'?") == true)
        }
    }

    @Test("Secrets in the environment come first, are never written, and are listed as such")
    func environment() async throws {
        try await TestWorkbench.withAuth { bench in
            try await bench.perform("auth.secret.set", ["name": "openai", "value": "kept-secret"])
            bench.environment["OPENAI_API_KEY"] = "from-environment"
            bench.environment["GROQ_API_KEY"] = "groq-environment"
            #expect(try await bench.perform("auth.secret.get", ["name": "openai"]).json == "from-environment")
            let rows = try await bench.perform("auth.secret.list").json.array ?? []
            #expect(rows.map { $0["name"] } == ["groq", "openai"])
            #expect(rows.map { $0["source"] } == ["environment", "environment"])
            #expect(rows.map { $0["overrides_stored"] } == [false, true])

            let stored = try await bench.perform("auth.secret.set", ["name": "openai", "value": "kept-anew"])
            #expect(stored.notices.contains("OPENAI_API_KEY"))
            let groq = try await bench.failure("auth.secret.remove", ["name": "groq"], isAgreed: true)
            #expect(groq?.code == "auth.secret-unknown")
            let removed = try await bench.perform("auth.secret.remove", ["name": "openai"], isAgreed: true)
            #expect(removed.notices.contains("OPENAI_API_KEY"))
            #expect(try await bench.perform("auth.secret.get", ["name": "openai"]).json == "from-environment")
            bench.environment = [:]
            #expect(try await bench.perform("auth.secret.list").json == [])
        }
    }

    @Test("An import stores all secrets or none, and a problem shows its line but no value")
    func importing() async throws {
        try await TestWorkbench.withAuth { bench in
            _ = try bench.write("# mine\nOPENAI_API_KEY=sk-one\nexport lab.token='two words'\n", to: "good.env")
            let done = try await bench.perform("auth.secret.import", ["file": "good.env"])
            #expect(done.json.array?.compactMap { $0["name"]?.string } == ["openai", "lab.token"])
            #expect(try await bench.perform("auth.secret.get", ["name": "lab.token"]).json == "two words")
            _ = try bench.write(#"{"third": "three", "openai": "sk-four"}"#, to: "more.json")
            try await bench.perform("auth.secret.import", ["file": .string("\(bench.folder)/more.json")])
            #expect(try await bench.perform("auth.secret.get", ["name": "openai"]).json == "sk-four")
            _ = try bench.write("fifth=five\nsixth\nhidden-value=\n", to: "bad.env")
            let bad = try await bench.failure("auth.secret.import", ["file": "bad.env"])
            #expect(bad?.code == "auth.import" && bad?.exit == .usage)
            #expect(bad?.message.contains("bad.env:2:") == true)
            #expect(bad?.message.contains("nothing was imported") == true)
            #expect(bad?.message.contains("five") == false)
            #expect(try await bench.failure("auth.secret.get", ["name": "fifth"])?.code == "auth.secret-unknown")
            let absent = try await bench.failure("auth.secret.import", ["file": "absent.env"])
            #expect(absent?.message.contains("absent.env") == true)
        }
    }

    @Test("A passphrase protects the secrets until it is removed")
    func passphrase() async throws {
        try await TestWorkbench.withAuth { bench in
            bench.settings = "{auth: {'keep-unlocked': '0s'}}"
            try await bench.perform("auth.secret.set", ["name": "openai", "value": "kept-secret"])
            try await bench.perform("auth.secret.passphrase", ["new": "correct horse battery"])
            let nobody = try await bench.failure("auth.secret.get", ["name": "openai"])
            #expect(nobody?.exit == .unanswered && nobody?.code == "auth.vault.unanswered")
            bench.environment["MARTLET_PASSPHRASE"] = "wrong horse battery"
            let wrong = try await bench.failure("auth.secret.get", ["name": "openai"])
            #expect(wrong?.exit == .denied && wrong?.code == "auth.vault.wrong-passphrase")
            #expect(wrong?.report.text().contains("horse") == false)
            bench.environment["MARTLET_PASSPHRASE"] = "correct horse battery"
            #expect(try await bench.perform("auth.secret.get", ["name": "openai"]).json == "kept-secret")

            bench.environment = [:]
            let ada = ScriptedPerson(["auth.passphrase": ["first try", "correct horse battery"]], otherwise: .declines)
            bench.person = ada
            #expect(try await bench.perform("auth.secret.get", ["name": "openai"]).json == "kept-secret")
            #expect(ada.asked == ["auth.passphrase", "auth.passphrase"])
            bench.person = ScriptedPerson(
                [
                    "auth.passphrase": ["correct horse battery"], "auth.new-passphrase": ["another battery"],
                    "auth.new-passphrase-again": ["another battery"],
                ], otherwise: .declines)
            try await bench.perform("auth.secret.passphrase")
            #expect(
                try await bench.perform("auth.secret.lock").notices.contains("the next use asks for its passphrase"))
            bench.person = ScriptedPerson(["auth.passphrase": ["another battery"]], otherwise: .declines)
            try await bench.perform("auth.secret.passphrase", ["none": true])
            bench.person = HeadlessInteraction()
            #expect(try await bench.perform("auth.secret.get", ["name": "openai"]).json == "kept-secret")
            let locked = try await bench.perform("auth.secret.lock")
            #expect(locked.exit == .done && locked.notices.contains("cannot be locked"))
        }
    }

    @Test("The vault stays unlocked across settings changes until it is locked")
    func changedSettings() async throws {
        try await TemporaryDirectory.run { folder in
            let test = try TestHost([AuthFeature.self, HostFeature.self], settings: Self.alone, folder: folder)
            try await test.perform("auth.secret.set", ["name": "openai", "value": "kept-secret"])
            try await test.perform("auth.secret.passphrase", ["new": "correct horse battery"])
            try test.change(settings: "{auth: {'keep-unlocked': '0s', client: 'another'}}")
            #expect(try await test.perform("auth.secret.get", ["name": "openai"]) == "kept-secret")
            try await test.perform("auth.secret.lock")
            for settings in [Self.alone, "{auth: {'keep-unlocked': '0s', client: 'a third'}}"] {
                try test.change(settings: settings)
                await #expect(throws: VaultError.self) {
                    try await test.perform("auth.secret.get", ["name": "openai"])
                }
            }
            await test.session.close()
        }
    }

    /// Settings without the kernel's keyring, in which another process would find the key.
    private static let alone = "{auth: {'keep-unlocked': '0s'}}"

    @Test("Secrets in the environment need no passphrase")
    func noUnlock() async throws {
        try await TestWorkbench.withAuth { bench in
            bench.settings = "{auth: {'keep-unlocked': '0s'}}"
            bench.environment = ["MARTLET_PASSPHRASE": "correct horse battery"]
            try await bench.perform("auth.secret.set", ["name": "openai", "value": "kept-secret"])
            bench.environment = ["OPENAI_API_KEY": "from-environment"]
            #expect(try await bench.perform("auth.secret.get", ["name": "openai"]).json == "from-environment")
        }
    }
}

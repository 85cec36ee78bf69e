import AuthVault
import Capabilities
import CoreTesting
import FileKit
import HTTPTesting
import JSON
import KamiwazaTesting
import Registry
import Testing

@testable import Auth

@Suite("Secret actions", .timeLimit(.minutes(10)))
struct SecretActionTests {
    @Test("Secrets are stored, printed, listed by name and removed")
    func life() async throws {
        try await Desk.run { desk in
            #expect(try await desk.run("auth.secret.list").json == [])
            let first = try await desk.run("auth.secret.set", ["name": "openai", "value": "kept-secret-1"])
            #expect(first.said.contains("open with the key file"))
            let second = try await desk.run("auth.secret.set", ["name": "openai", "value": "kept-secret-2"])
            #expect(second.notices == ["the secret openai is stored in the encrypted vault"])
            #expect(try await desk.run("auth.secret.get", ["name": "openai"]).json == "kept-secret-2")
            let list = try await desk.run("auth.secret.list")
            #expect(list.json[0]?["name"] == "openai" && list.json[0]?["source"] == "vault")
            #expect(list.json.array?.count == 1 && !list.json.text().contains("kept-secret"))
            #expect(await desk.failure("auth.secret.remove", ["name": "openai"])?.exit == .unanswered)
            let person = Person()
            desk.person = person
            #expect(await desk.failure("auth.secret.remove", ["name": "opneai"])?.code == "auth.secret-unknown")
            #expect(person.asked.isEmpty)
            #expect(await desk.failure("auth.secret.remove", ["name": "openai"])?.code == "interaction.declined")
            #expect(person.prompts == "Delete the secret openai. Continue?")
            desk.person = HeadlessInteraction()
            try await desk.run("auth.secret.remove", ["name": "openai"], isAgreed: true)
            for action in ["auth.secret.get", "auth.secret.remove"] {
                let failure = await desk.failure(action, ["name": "openai"], isAgreed: true)
                #expect(failure?.code == "auth.secret-unknown" && failure?.exit == .usage)
            }
            let vault = String(decoding: try Files.read("\(desk.folder)/data/vault", limit: 1 << 20), as: UTF8.self)
            #expect(!vault.contains("kept-secret"))
        }
    }

    @Test("Invalid names and oversized values are rejected")
    func rules() async throws {
        try await Desk.run { desk in
            for (name, value) in [("", "x"), ("A", "x"), ("../x", "x"), ("a b", "x"), ("x", "")] {
                let failure = await desk.failure(
                    "auth.secret.set", ["name": .string(name), "value": .string(value)])
                #expect(failure?.exit == .usage, "'\(name)': \(failure?.message ?? "")")
            }
            #expect(try await desk.run("auth.secret.list").json == [])
            let near = try await desk.run("auth.secret.set", ["name": "anthropic", "value": "kept-secret"])
            #expect(near.exit == .done)
            let failure = await desk.failure("auth.secret.get", ["name": "antropic"])
            #expect(failure?.message.contains("did you mean 'anthropic'?") == true)
        }
    }

    @Test("Secrets in the environment come first, are never written, and are listed as such")
    func environment() async throws {
        try await Desk.run { desk in
            try await desk.run("auth.secret.set", ["name": "openai", "value": "kept-secret"])
            desk.environment["OPENAI_API_KEY"] = "from-environment"
            desk.environment["GROQ_API_KEY"] = "groq-environment"
            #expect(try await desk.run("auth.secret.get", ["name": "openai"]).json == "from-environment")
            let rows = try await desk.run("auth.secret.list").json.array ?? []
            #expect(rows.map { $0["name"] } == ["groq", "openai"])
            #expect(rows.map { $0["source"] } == ["environment", "environment"])
            #expect(rows.map { $0["overrides_stored"] } == [false, true])

            let stored = try await desk.run("auth.secret.set", ["name": "openai", "value": "kept-anew"])
            #expect(stored.said.contains("OPENAI_API_KEY"))
            let groq = await desk.failure("auth.secret.remove", ["name": "groq"], isAgreed: true)
            #expect(groq?.code == "auth.secret-unknown")
            let removed = try await desk.run("auth.secret.remove", ["name": "openai"], isAgreed: true)
            #expect(removed.said.contains("OPENAI_API_KEY"))
            #expect(try await desk.run("auth.secret.get", ["name": "openai"]).json == "from-environment")
            desk.environment = [:]
            #expect(try await desk.run("auth.secret.list").json == [])
        }
    }

    @Test("An import stores all secrets or none, and a problem shows its line but no value")
    func importing() async throws {
        try await Desk.run { desk in
            _ = try desk.write("# mine\nOPENAI_API_KEY=sk-one\nexport lab.token='two words'\n", to: "good.env")
            let done = try await desk.run("auth.secret.import", ["file": "good.env"])
            #expect(done.json.array?.compactMap { $0["name"]?.string } == ["openai", "lab.token"])
            #expect(try await desk.run("auth.secret.get", ["name": "lab.token"]).json == "two words")
            _ = try desk.write(#"{"third": "three", "openai": "sk-four"}"#, to: "more.json")
            try await desk.run("auth.secret.import", ["file": .string("\(desk.folder)/more.json")])
            #expect(try await desk.run("auth.secret.get", ["name": "openai"]).json == "sk-four")
            _ = try desk.write("fifth=five\nsixth\nhidden-value=\n", to: "bad.env")
            let bad = await desk.failure("auth.secret.import", ["file": "bad.env"])
            #expect(bad?.code == "auth.import" && bad?.exit == .usage)
            #expect(bad?.message.contains("bad.env:2:") == true)
            #expect(bad?.message.contains("nothing was imported") == true)
            #expect(bad?.message.contains("five") == false)
            #expect(await desk.failure("auth.secret.get", ["name": "fifth"])?.code == "auth.secret-unknown")
            let absent = await desk.failure("auth.secret.import", ["file": "absent.env"])
            #expect(absent?.message.contains("absent.env") == true)
        }
    }

    @Test("A passphrase protects the secrets until it is removed")
    func passphrase() async throws {
        try await Desk.run { desk in
            desk.overrides = "{auth: {'keep-unlocked': '0s'}}"
            try await desk.run("auth.secret.set", ["name": "openai", "value": "kept-secret"])
            try await desk.run("auth.secret.passphrase", ["new": "correct horse battery"])
            let nobody = await desk.failure("auth.secret.get", ["name": "openai"])
            #expect(nobody?.exit == .unanswered && nobody?.code == "auth.vault.unanswered")
            desk.environment["MARTLET_PASSPHRASE"] = "wrong horse battery"
            let wrong = await desk.failure("auth.secret.get", ["name": "openai"])
            #expect(wrong?.exit == .denied && wrong?.code == "auth.vault.wrong-passphrase")
            #expect(wrong?.report.text().contains("horse") == false)
            desk.environment["MARTLET_PASSPHRASE"] = "correct horse battery"
            #expect(try await desk.run("auth.secret.get", ["name": "openai"]).json == "kept-secret")

            desk.environment = [:]
            let ada = Person(["auth.passphrase": ["first try", "correct horse battery"]])
            desk.person = ada
            #expect(try await desk.run("auth.secret.get", ["name": "openai"]).json == "kept-secret")
            #expect(ada.asked == ["auth.passphrase", "auth.passphrase"])
            desk.person = Person([
                "auth.passphrase": ["correct horse battery"], "auth.new-passphrase": ["another battery"],
                "auth.new-passphrase-again": ["another battery"],
            ])
            try await desk.run("auth.secret.passphrase")
            #expect(try await desk.run("auth.secret.lock").said.contains("the next use asks for its passphrase"))
            desk.person = Person(["auth.passphrase": ["another battery"]])
            try await desk.run("auth.secret.passphrase", ["none": true])
            desk.person = HeadlessInteraction()
            #expect(try await desk.run("auth.secret.get", ["name": "openai"]).json == "kept-secret")
            let locked = try await desk.run("auth.secret.lock")
            #expect(locked.exit == .done && locked.said.contains("cannot be locked"))
        }
    }

    @Test("The vault stays unlocked across settings changes until it is locked")
    func changedSettings() async throws {
        try await TemporaryDirectory.run { folder in
            let test = try TestHost([AuthFeature.self, SettingsFileFeature.self], settings: Self.alone, folder: folder)
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

    /// Without the kernel's keyring, in which another process would find the key.
    private static let alone = "{auth: {'keep-unlocked': '0s'}}"

    @Test("Secrets in the environment need no passphrase")
    func noUnlock() async throws {
        try await Desk.run { desk in
            desk.overrides = "{auth: {'keep-unlocked': '0s'}}"
            desk.environment = ["MARTLET_PASSPHRASE": "correct horse battery"]
            try await desk.run("auth.secret.set", ["name": "openai", "value": "kept-secret"])
            desk.environment = ["OPENAI_API_KEY": "from-environment"]
            #expect(try await desk.run("auth.secret.get", ["name": "openai"]).json == "from-environment")
        }
    }
}

import Capabilities
import CoreTesting
import FileKit
import HostTesting
import JSON
import MCPServers
import Registry
import Settings
import Synchronization
import Testing

@testable import MCP

/// What servers ask the person for before they start.
struct InputTests {
    private static let inputs: JSON = [
        ["type": "promptString", "id": "token", "description": "API key", "password": true],
        ["type": "promptString", "id": "city", "description": "Where", "default": "Bern"],
        [
            "type": "pickString", "id": "mode", "description": "How",
            "options": ["fast", ["label": "Slow", "value": "slow"]],
        ],
        ["type": "command", "id": "code", "command": "editor.run"],
    ]
    private static let answers: [String: JSON] = [
        "mcp.agree.theirs": true, "mcp.agree.theirs.input:token": true, "mcp.input.theirs.token": "canary-123456",
        "mcp.input.theirs.mode": "slow",
    ]

    private func bench(
        _ environment: JSON = ["A_KEY": "${input:token}", "A_PLACE": "${input:city}/${input:mode}"],
        _ body: (inout TestWorkbench) async throws -> Void
    ) async throws {
        try await TestWorkbench.run([MCPFeature.self, VaultFeature.self]) { (bench) async throws in
            let file: JSON = ["inputs": Self.inputs, "servers": ["theirs": Plain.entry(more: ["env": environment])]]
            try bench.write(file.text(), to: ".vscode/mcp.json")
            try await body(&bench)
        }
    }

    private func variables(_ bench: TestWorkbench) async throws -> TestResult {
        try await bench.attempt("mcp.call", ["server": "theirs", "tool": "environment"])
    }

    @Test("they are asked for once, a password is kept in the vault and the others in the records")
    func asks() async throws {
        try await bench { (bench) async throws in
            bench.person = HeadlessInteraction(answers: [
                "mcp.agree.theirs": true, "mcp.agree.theirs.input:token": true,
            ])
            let missing = try await variables(bench).failure
            #expect(missing?.code == "mcp.input-missing" && missing?.exit == .unanswered)
            #expect(missing?.message.contains("mcp.input.theirs.mode") == true, "\(missing?.message ?? "")")
            bench.person = HeadlessInteraction(answers: Self.answers)
            let result = try await variables(bench)
            let text = result["text"]?.string ?? ""
            #expect(text.contains("A_PLACE=Bern/slow") && text.contains("A_KEY=canary-123456"))
            #expect(!result.output.text.contains("canary"), "no secret is shown")
            let vault = try bench.read("vault.json")
            #expect(vault.contains("canary-123456") && vault.contains("mcp.theirs.token.") && !vault.contains("slow"))
            // Another process knows them.
            bench.person = HeadlessInteraction()
            #expect(try await variables(bench)["text"]?.string?.contains("A_PLACE=Bern/slow") == true)
            // They are asked for again if that is wanted.
            var answers = Self.answers
            answers["mcp.input.theirs.mode"] = "fast"
            bench.person = HeadlessInteraction(answers: answers)
            try await bench.perform("mcp.test", ["name": "theirs", "inputs": true])
            #expect(try await variables(bench)["text"]?.string?.contains("A_PLACE=Bern/fast") == true)
        }
    }

    @Test("an option that is not there is refused, and a password goes elsewhere only after another yes")
    func refuses() async throws {
        try await bench { (bench) async throws in
            var answers = Self.answers
            answers["mcp.input.theirs.mode"] = "sideways"
            bench.person = HeadlessInteraction(answers: answers)
            #expect(try await variables(bench).failure?.code == "interaction.unfit-answer")
            bench.person = HeadlessInteraction(answers: Self.answers)
            #expect(try await variables(bench).error == nil)
            // The same password into another variable needs another yes.
            let moved: JSON = [
                "inputs": Self.inputs, "servers": ["theirs": Plain.entry(more: ["env": ["OTHER": "${input:token}"]])],
            ]
            try bench.write(moved.text(), to: ".vscode/mcp.json")
            bench.person = HeadlessInteraction(answers: ["mcp.agree.theirs": true])
            #expect(try await variables(bench).failure?.code == "mcp.server-not-agreed")
        }
    }

    @Test("a model's turn goes on without a server for which nobody answers")
    func models() async throws {
        try await bench { (bench) async throws in
            try await bench.open { (session) async throws in
                let told = Said()
                func sources(_ answers: [String: JSON]) async throws -> Int {
                    let person = Caller.person(HeadlessInteraction(answers: answers))
                    return try await Caller.$current.withValue(person) {
                        try await session.registry.toolSources(
                            at: ToolPlace(folder: bench.folder, isLastTurn: true), telling: told.add
                        ).count
                    }
                }
                let agreed = Self.answers.filter { $0.key.hasPrefix("mcp.agree") }
                #expect(try await sources(agreed) == 0)
                #expect(told.all.contains { $0.contains("mcp.input.theirs.mode") })
                #expect(try await sources(Self.answers) == 1)
            }
        }
    }

    @Test("what only an editor knows leaves the server out, by its name")
    func unknown() async throws {
        for (text, words) in [
            ("${input:code}", "'command'"), ("${input:none}", "does not define"), ("${config:a.b}", "config:a.b"),
        ] {
            try await bench(["A": .string(text)]) { (bench) async throws in
                let output = RecordingOutput()
                #expect(try await bench.perform("mcp.list", to: output).json.array?.isEmpty == true)
                #expect(output.notices.contains { $0.contains("theirs") && $0.contains(words) }, "\(output.notices)")
            }
        }
    }

    @Test("a server that is taken over keeps its inputs, and removing it forgets the answers")
    func imports() async throws {
        try await bench { (bench) async throws in
            bench.settings = "{mcp: {'project-files': false}}"
            try await bench.perform("mcp.import", ["from": ".vscode/mcp.json", "names": ["theirs"]])
            let entry = try bench.readSettings()["mcp"]?["servers"]?["theirs"]
            #expect(entry?["inputs"]?["token"] == ["prompt": "API key", "password": true])
            #expect(entry?["inputs"]?["code"] == nil)
            bench.person = HeadlessInteraction(answers: Self.answers)
            #expect(try await variables(bench)["text"]?.string?.contains("Bern/slow") == true)
            bench.person = HeadlessInteraction()
            #expect(try await variables(bench).error == nil)
            try await bench.perform("mcp.remove", ["name": "theirs"])
            #expect(try !bench.read("vault.json").contains("canary"))
            try await bench.perform("mcp.import", ["from": ".vscode/mcp.json", "names": ["theirs"]])
            #expect(try await variables(bench).failure?.code == "mcp.input-missing")
        }
    }
}

/// A vault in a plain file, which only tests want.
private struct VaultFeature: Feature {
    static let manifest = Manifest(
        id: "vault", summary: "A vault for tests", version: "1.0", provides: [.single((any SecretStore).self)])

    init(_ settings: FeatureSettings) {}

    func register(in registry: inout RegistryBuilder) {
        let home = registry.surroundings.environment["HOME"] ?? "/"
        registry.provide((any SecretStore).self, FileVault(home + "/vault.json"))
    }
}

private final class FileVault: SecretStore {
    private let path: String
    private let lock = Mutex(())

    init(_ path: String) {
        self.path = path
    }

    private func edit<Value>(_ body: (inout JSONObject) -> Value) throws -> Value {
        try lock.withLock { _ in
            var secrets: JSONObject = [:]
            if Files.exists(path) { secrets = try JSON(parsing: try Files.read(path, limit: 1 << 20)).object ?? [:] }
            let value = body(&secrets)
            try Files.writeAtomically(Array(JSON.object(secrets).text().utf8), to: path)
            return value
        }
    }

    func secret(named name: SecretName) async throws -> Secret? {
        try edit { $0[name.text]?.string }.map { Secret($0) }
    }

    func store(_ secret: Secret, named name: SecretName) async throws {
        let text = secret.withText { $0 }
        try edit { $0[name.text] = .string(text) }
    }

    func remove(named name: SecretName) async throws { try edit { $0[name.text] = nil } }
    func names() async throws -> [SecretName] { try edit { $0.map { SecretName($0.key) } } }
}

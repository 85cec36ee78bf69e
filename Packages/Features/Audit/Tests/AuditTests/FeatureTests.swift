import Capabilities
import CoreTesting
import FileKit
import Glibc
import JSON
import Registry
import Settings
import StorageKit
import Testing

@testable import Audit

/// A vault in memory as a feature. Each composition has its own.
struct TestVaultFeature: Feature {
    static let manifest = Manifest(
        id: "vault", summary: "Secrets in memory", version: "1.0", provides: [.single((any SecretStore).self)])

    init(_ settings: FeatureSettings) {}

    func register(in registry: inout RegistryBuilder) {
        registry.provide((any SecretStore).self, registry.shared("vault") { TestVault() } as any SecretStore)
    }
}

@Suite("The audit log as a feature", .timeLimit(.minutes(5)))
struct FeatureTests {
    @Test("The feature keeps the rules for features") func conforms() async throws {
        try await TemporaryDirectory.run { folder in
            await #expect(processExitsWith: .success) { [folder = folder as String] in
                let violations = try await FeatureConformance.violations(
                    of: AuditFeature.self, with: [TestVaultFeature.self], in: folder)
                for violation in violations { Issue.record("\(violation)") }
            }
        }
    }

    private func withHost(
        _ body: (TestHost, any AuditLog) async throws -> Void
    ) async throws {
        try await TemporaryDirectory.run { folder in
            let host = try TestHost([AuditFeature.self, TestVaultFeature.self], folder: folder)
            let log = try #require(host.composition.registry.optional((any AuditLog).self))
            try await Caller.$current.withValue(host.context().caller) { try await body(host, log) }
            await host.session.close()
        }
    }

    @Test("The list has filters and pages, and its rows have what was recorded")
    func list() async throws {
        try await withHost { host, log in
            #expect(try await host.perform("audit.list") == [])
            for number in 0..<5 {
                try await log.record(
                    AuditEntry(
                        session: number == 1 ? "s" : nil, actor: "model", action: "tool.call", subject: "t\(number)"))
            }
            let page = try await host.perform("audit.list", ["limit": 2, "page": 2])
            #expect(page.array?.compactMap { $0["subject"]?.string } == ["t2", "t1"])
            #expect(host.output.notices.last == "1 more; '--page 3' shows the next")
            let rows = try await host.perform("audit.list", ["session": "s"])
            #expect(rows.array?.compactMap { $0["number"]?.string } == ["2"])
        }
    }

    @Test("The check fails if the log was changed, and says where")
    func verify() async throws {
        try await withHost { host, log in
            for _ in 0..<3 { try await log.record(AuditEntry(actor: "model", action: "tool.call")) }
            let person = host.context().caller
            func check(_ arguments: JSONObject = [:]) async throws -> (ExitCode, JSON) {
                let value = try await host.session.perform("audit.verify", arguments, as: person, output: host.output)
                return (value.exit, value.json)
            }
            let (exit, whole) = try await check()
            #expect(exit == .done && whole["state"] == "whole" && whole["sealed_through"] == 3)
            let mark = try #require(whole["mark"])
            try await log.record(AuditEntry(actor: "model", action: "tool.call"))
            #expect(try await check(["contains": mark]).0 == .done)
            #expect(try await check(["contains": .string("9:" + String(repeating: "0", count: 64))]).0 == .failed)
            await #expect(throws: AuditError.self) { try await check(["contains": "9:0"]) }

            let path = "\(host.host.locations.data)/audit.db"
            let other = try Connection.open(path, migrations: AuditStore.migrations)
            try other.run("UPDATE entries SET action = 'x' WHERE number = 2")
            other.close()
            let (broken, row) = try await check()
            #expect(broken == .failed && row["state"] == "broken")
            #expect(row["problems"]?.array?.first?["number"] == 2)
            #expect(host.output.notices.last?.contains("entry 2") == true)
        }
    }

    @Test("Seals that cannot be checked do not count as checked")
    func unchecked() async throws {
        try await withHost { host, log in
            try await log.record(AuditEntry(actor: "model", action: "tool.call"))
            let vault = try #require(host.composition.registry.optional((any SecretStore).self) as? TestVault)
            vault.edit { $0.isOpen = false }
            let value = try await host.session.perform(
                "audit.verify", as: host.context().caller, output: host.output)
            #expect(value.exit == .denied && value.json["state"] == "unchecked")
            #expect(host.output.notices.last?.contains("seals were not checked") == true)
        }
    }

    @Test("The key is made by 'audit seal', which is not for bundles that do not name it")
    func seal() async throws {
        try await withHost { host, log in
            let vault = try #require(host.composition.registry.optional((any SecretStore).self) as? TestVault)
            vault.edit { $0.exists = false }
            try await log.record(AuditEntry(actor: "model", action: "tool.call"))
            #expect(vault.edit { $0.secrets.isEmpty })
            #expect(try await host.perform("audit.seal") == "the log is sealed up to entry 2")
            #expect(vault.edit { Array($0.secrets.keys) } == ["martlet.audit"])
        }
    }

    @Test(
        "Models and code without a caller see nothing of the log; the person does",
        arguments: [
            "audit.list", "audit.verify", "audit.export", "audit.seal",
        ])
    func rights(action: String) async throws {
        try await withHost { host, log in
            try await log.record(AuditEntry(actor: "model", action: "tool.call"))
            let person = host.context().caller
            for grant in [Grant.model, .nobody] {
                await #expect(throws: AccessFailure.self) {
                    try await host.session.perform(
                        action, as: person.narrowed(by: grant), output: host.output, isAgreed: true)
                }
            }
            _ = try await host.session.perform(action, as: person, output: host.output)
        }
    }

    @Test("The screen shows the newest entries")
    func screen() async throws {
        try await withHost { host, log in
            try await log.record(AuditEntry(actor: "model", action: "tool.call", subject: "shown"))
            _ = try await host.open("audit.log") { screen in
                try await screen.block { "\($0)".contains("shown") }
            }
        }
    }

    @Test("Another program checks an export, and finds what was changed in it")
    func export() async throws {
        try await withHost { host, log in
            for number in 0..<4 {
                let entry = AuditEntry(
                    session: "s", actor: "model", action: "tool.call", subject: "wörk \(number)",
                    detail: ["id": .int(number), "input": ["text": "a\n\"ü\" \(number)"]])
                try await log.complete(try await log.record(entry), AuditCompletion(outcome: "done"))
            }
            try await log.eraseContent(of: [.session("none")])
            let vault = try #require(host.composition.registry.optional((any SecretStore).self) as? TestVault)
            let key = try #require(vault.edit { $0.secrets["martlet.audit"] }).withText { $0 }
            let text = try #require(try await host.perform("audit.export").string)
            #expect(text.split(separator: "\n").count == 9)
            #expect(try await Self.check(text, key) == "whole 8")
            let broken = text.replacing("wörk 2", with: "work 2")
            #expect(try await Self.check(broken, key) == "changed 5")
            #expect(try await Self.check(text, key + "x") == "seal 1")
            let cut = text.split(separator: "\n").dropLast().joined(separator: "\n")
            #expect(try await Self.check(cut, key) == "cut")
            // Into a file it is the same.
            let file = "\(host.host.locations.current)/log.ndjson"
            try await host.perform("audit.export", ["output": .string(file)])
            #expect(String(decoding: try Files.read(file, limit: 1 << 20), as: UTF8.self) == text)
        }
    }

    /// Runs the program of docs/AUDIT.md.
    private static func check(_ text: String, _ key: String) async throws -> String {
        try await TemporaryDirectory.run { folder in
            let root = #filePath.split(separator: "/").dropLast(6).joined(separator: "/")
            let page = String(decoding: try Files.read("/\(root)/docs/AUDIT.md", limit: 1 << 20), as: UTF8.self)
            let program = try #require(page.split(separator: "```python\n").last?.split(separator: "```").first)
            try Files.writeAtomically(Array(program.utf8), to: "\(folder)/check.py")
            try Files.writeAtomically(Array(text.utf8), to: "\(folder)/log")
            try Files.writeAtomically(Array(key.utf8), to: "\(folder)/key")
            let command = "python3 '\(folder)/check.py' '\(folder)/log' '\(folder)/key'"
            guard let pipe = unsafe popen(command, "r") else { return "no pipe" }
            defer { unsafe pclose(pipe) }
            var line = [CChar](repeating: 0, count: 200)
            guard unsafe fgets(&line, 200, pipe) != nil else { return "nothing" }
            let bytes = line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
            return String(String(decoding: bytes, as: UTF8.self).dropLast())
        }
    }
}

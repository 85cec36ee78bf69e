import Capabilities
import CoreTesting
import FileKit
import Glibc
import JSON
import Registry
import SSHTesting
import Testing

@testable import SSH

@Suite("Hosts", .timeLimit(.minutes(5)))
struct HostTests {
    @Test("The feature keeps the rules for features") func conforms() async throws {
        try await TemporaryDirectory.run { folder in
            try Files.writeAtomically(Array("Host web\n  HostName 127.0.0.1\n".utf8), to: "\(folder)/config")
            await #expect(processExitsWith: .success) { [folder = folder as String] in
                let reason = "the grant decides about the address of each host that the names lead to"
                let violations = try await FeatureConformance.violations(
                    of: SSHFeature.self, with: [TestVaultFeature.self], in: folder,
                    settings: #"{"ssh": {"config": "\#(folder)/config"}}"#,
                    texts: [
                        "ssh.hosts.match": reason, "ssh.test.hosts": reason, "ssh.run.hosts": reason,
                        "ssh.trust.hosts": reason, "ssh.forward.host": reason, "ssh.forward.to": reason,
                        "ssh.trust.fingerprint": "it is compared, and leads nowhere",
                    ])
                for violation in violations { Issue.record("\(violation)") }
            }
        }
    }

    @Test("Hosts of the settings are listed with where they lead, their known keys, and who connects")
    func list() async throws {
        try await SSHServer.withHost { server, host in
            try server.trust("ed25519")
            let rows = try await host.perform("ssh.hosts")
            #expect(rows.array?.compactMap { $0["host"]?.string } == ["web1", "web2", "db", "dead", "jump"])
            #expect(rows.array?[0]["address"]?.string?.hasSuffix("@127.0.0.1:\(server.port)") == true)
            #expect(
                rows.array?.compactMap { $0["key"]?.string } == ["ED25519", "ED25519", "ED25519", "unknown", "ED25519"])
            #expect(rows.array?.compactMap { $0["by"]?.string } == ["martlet", "martlet", "martlet", "martlet", "ssh"])
            #expect(rows.array?[4]["reason"]?.string?.contains("ProxyJump") == true)
            let some = try await host.perform("ssh.hosts", ["match": "web*,!web2,10.9.8.7"])
            #expect(some.array?.compactMap { $0["host"]?.string } == ["web1", "10.9.8.7"])
            let none = try await host.failure("ssh.hosts", ["match": "nas*"])
            #expect(none.code == "ssh.no-match" && none.exit == .usage && none.message.contains("web1, web2"))
        }
    }

    @Test("A test signs in, and its exit code tells the worst of what went wrong")
    func test() async throws {
        try await SSHServer.withHost { server, host in
            let person = HeadlessInteraction()
            // Nobody is there to accept a key.
            let refused = try await host.perform("ssh.test", ["hosts": "web1,dead"], asking: person)
            #expect(refused.exit == .denied)
            #expect(refused.json.array?.compactMap { $0["state"]?.string } == ["refused", "unreachable"])
            #expect(refused.json.array?[0]["code"] == "ssh.unknown-host")
            try server.trust("ed25519")
            let tested = try await host.perform("ssh.test", ["hosts": "web*,dead"], asking: person)
            #expect(tested.exit == .unreachable)
            #expect(tested.json.array?.compactMap { $0["state"]?.string } == ["ok", "ok", "unreachable"])
            // Through another host, which only the system's ssh can.
            let both = try await host.perform("ssh.test", ["hosts": "db,jump"], asking: person)
            #expect(both.exit == .done && both.json.array?.compactMap { $0["by"]?.string } == ["martlet", "ssh"])
            let run = try await host.perform(
                "ssh.run", ["hosts": "jump", "program": "sh", "arguments": ["-c", "exit 9"]], asking: person)
            #expect(run.exit == .toolFailed && run.json.array?[0]["exit_code"] == 9)
        }
    }

    @Test("Keys of unknown hosts are asked about together, and added when the person agrees")
    func together() async throws {
        try await SSHServer.withHost(lines: "Host web1\n  HostKeyAlias one\nHost web2\n  HostKeyAlias two") {
            server, host in
            let fingerprint = String(
                decoding: try await SSHServer.shell("ssh-keygen -lf \(server.folder)/host-ed25519.pub"), as: UTF8.self
            ).split(separator: " ")[1]
            let output = RecordingOutput()
            let no = ScriptedPerson(says: false)
            let declined = try await host.perform("ssh.test", ["hosts": "web*"], asking: no, output: output)
            #expect(declined.exit == .denied && no.asked == ["ssh.unknown-hosts"])
            let shown = try #require(output.notices.first { $0.contains("not known") })
            #expect(shown.contains("web1 (127.0.0.1)  ED25519 \(fingerprint)") && shown.contains("web2 (127.0.0.1)"))
            #expect(!Files.exists(server.known))
            let yes = ScriptedPerson(says: true)
            #expect(try await host.perform("ssh.test", ["hosts": "web*"], asking: yes).exit == .done)
            #expect(yes.asked == ["ssh.unknown-hosts"])
            let lines = try Files.read(server.known, limit: 1 << 16).split(separator: 10)
            #expect(lines.count == 2)
            // They are known now.
            let again = ScriptedPerson(says: false)
            #expect(try await host.perform("ssh.test", ["hosts": "web*"], asking: again).exit == .done)
            #expect(again.asked.isEmpty)
        }
    }

    @Test("A key is trusted by its fingerprint or an answer, and one that has changed is refused")
    func trust() async throws {
        try await SSHServer.withHost { server, host in
            let unanswered = try await host.failure("ssh.trust", ["hosts": "web1"])
            #expect(unanswered.code == "interaction.unanswered" && unanswered.exit == .unanswered)
            let fingerprint = String(
                decoding: try await SSHServer.shell("ssh-keygen -lf \(server.folder)/host-ed25519.pub"), as: UTF8.self
            ).split(separator: " ")[1]
            let other = "SHA256:\(String(repeating: "A", count: 43))"
            let wrong = try await host.failure("ssh.trust", ["hosts": "web1", "fingerprint": .string(other)])
            #expect(wrong.code == "ssh.host-key-refused" && wrong.message.contains(fingerprint))
            #expect(!Files.exists(server.known))
            let several = try await host.failure("ssh.trust", ["hosts": "web*", "fingerprint": .string(other)])
            #expect(several.exit == .usage)
            let added = try await host.perform(
                "ssh.trust", ["hosts": "web1", "fingerprint": .string(String(fingerprint))])
            #expect(added.array?.first?["key"] == "added")
            #expect(try await host.perform("ssh.trust", ["hosts": "web1"]).array?.first?["key"] == "known")
            try await SSHServer.makeKeys(["other-ed25519"], in: server.folder)
            try server.know("[127.0.0.1]:\(server.port) \(try server.publicKey("other-ed25519"))\n")
            let changed = try await host.failure("ssh.trust", ["hosts": "web1"], asking: ScriptedPerson(says: true))
            #expect(changed.code == "ssh.host-key-changed" && changed.message.contains("\(server.known):1"))
            // The way around is the one that the error of an unknown host names.
            try server.know("")
            let unknown = try await host.failure("ssh.run", ["hosts": "web1", "program": "true"])
            #expect(unknown.message.contains("martlet ssh trust web1 --fingerprint \(fingerprint)"))
        }
    }
}

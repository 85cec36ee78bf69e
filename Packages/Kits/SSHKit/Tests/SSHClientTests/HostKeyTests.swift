import Capabilities
import CoreTesting
import FileKit
import JSON
import SSHClient
import SSHCore
import SSHTesting
import Synchronization
import Testing

@Suite("Keys of hosts in a connection", .timeLimit(.minutes(5)))
struct HostKeyConnectionTests {
    @Test("An unknown host is refused, or a person decides, and a known one is not asked about")
    func unknown() async throws {
        try await Server.run { server in
            let shown = try HostKey(
                blob: Base64.decode(String(try server.publicKey("host-ed25519").split(separator: " ")[1])) ?? [])
            let nobody = try await failure { try await server.with() }
            #expect(nobody.kind == .unknownHost && nobody.exit == .denied)
            #expect(
                nobody.message.contains("accept it with martlet ssh trust server --fingerprint \(shown.fingerprint)"))
            #expect(nobody.details["fingerprint"] == .string(shown.fingerprint))
            let asked = Mutex(0)
            func answering(_ decision: HostKeyDecision) -> SSHQuestions {
                var questions = SSHQuestions()
                questions.hostKey = { question in
                    #expect(question.key == shown && question.name.description == "[127.0.0.1]:\(server.port)")
                    asked.withLock { $0 += 1 }
                    return decision
                }
                return questions
            }
            #expect(try await failure { try await server.with(asking: answering(.refuse)) }.kind == .hostKeyRefused)
            #expect(!Files.exists(server.known))
            #expect(
                try await failure { try await server.with("BatchMode yes", asking: answering(.add)) }.kind
                    == .unknownHost)
            #expect(
                try await failure { try await server.with("StrictHostKeyChecking yes", asking: answering(.add)) }.kind
                    == .unknownHost)
            #expect(asked.withLock { $0 } == 1)
            try await server.with("HashKnownHosts yes", asking: answering(.add))
            try await server.with()
            #expect(asked.withLock { $0 } == 2)
            #expect(try String(decoding: Files.read(server.known, limit: 1 << 16), as: UTF8.self).hasPrefix("|1|"))
            try server.know("")
            try await server.with("StrictHostKeyChecking accept-new")
            try await server.with("StrictHostKeyChecking yes")
        }
    }

    @Test(
        "A changed or revoked key, one of another type, and an authority are refused with their line, never asked about"
    )
    func refused() async throws {
        try await Server.run(host: ["ed25519", "ecdsa"], user: ["ed25519", "ecdsa"]) { server in
            var questions = SSHQuestions()
            questions.hostKey = { _ in
                Issue.record("a person was asked")
                return .add
            }
            let name = "[127.0.0.1]:\(server.port)"
            let (own, other) = (try server.publicKey("host-ed25519"), try server.publicKey("user-ed25519"))
            let rsa =
                "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAAAgQC5hK/dUPQRRlyKpgqhAmLDWOvTeWQjdu8jH/odLdYJkN6DxLQa4tde6hRPXLJuuYlvFiQYgYfRsJGCcDzEl8ZBm8eAnHXrFu3YZjRy8c+G0pQq9TMJeOOV/NuavU2n5pcYOnfyJYmtbi7UhY/kjN3XnydDknZDnmFEjiVRulrRQw=="
            let cases: [(text: String, kind: SSHError.Kind, words: String)] = [
                ("# a comment\n\(name) \(other)\n", .hostKeyChanged, "known:2"),
                ("\(name) \(own)\n@revoked * \(own)\n", .hostKeyRevoked, "known:2"),
                ("@cert-authority * \(other)\n", .needsSystem, "known:1"),
                ("\(name) \(rsa)\n", .needsSystem, "RSA"),
            ]
            for (text, kind, words) in cases {
                try server.know(text)
                let error = try await failure { try await server.with(asking: questions) }
                #expect(error.kind == kind && error.message.contains(words), "\(error)")
            }
            // The type that is known is agreed on, although the host and libssh2 prefer the other one.
            for type in ["ed25519", "ecdsa"] {
                try server.trust(type)
                try await server.with(asking: questions)
            }
            // A key that only its line for another host has.
            try server.know("[127.0.0.1]:1 \(own)\n")
            #expect(try await failure { try await server.with() }.kind == .unknownHost)
        }
        try await Server.run(host: ["rsa"]) { server in
            let error = try await failure { try await server.with() }
            #expect(error.kind == .needsSystem && error.message.contains("RSA"), "\(error)")
        }
    }

    @Test("Only a host that the caller may reach is connected to, and only by settings that we can carry out")
    func permission() async throws {
        try await Server.run { server in
            try server.trust("ed25519")
            let settings = try server.settings()
            let configuration = SSHConfiguration(loop: Server.loop)
            await #expect(throws: AccessFailure.self) {
                _ = try await SSHConnection.connect(to: settings, with: configuration)
            }
            try await Caller.$current.withValue(.person(ScriptedPerson())) {
                try await SSHConnection.connect(to: settings, with: configuration).close()
            }
            let other = Caller.person(ScriptedPerson()).narrowed(by: .nobody)
            await #expect(throws: AccessFailure.self) {
                try await Caller.$current.withValue(other) {
                    _ = try await SSHConnection.connect(to: settings, with: .standalone(loop: Server.loop))
                }
            }
            // A name with two addresses, only one of which answers.
            try await server.with("HostName localhost\nStrictHostKeyChecking accept-new")
            let jump = try await failure { try await server.with("ProxyJump other") }
            #expect(jump.kind == .needsSystem && jump.message.contains("ProxyJump"))
        }
    }
}

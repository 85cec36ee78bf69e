import Capabilities
import CoreTesting
import FileKit
import Glibc
import LoopKit
import SSHCore
import SSHTesting
import Synchronization
import Testing

@testable import SSHClient

@Suite("Connections by the system's ssh", .timeLimit(.minutes(5)))
struct SystemTests {
    /// Connects by whatever can, lends the connection and closes it.
    private func with(
        _ server: Server, _ lines: String = "", asking questions: SSHQuestions = SSHQuestions(),
        _ body: (any SSHLink) async throws -> Void = { _ in }
    ) async throws {
        var configuration = SSHConfiguration.standalone(loop: Server.loop)
        configuration.questions = questions
        let link = try await SSHHost.connect(to: server.settings(lines), with: configuration)
        do { try await body(link) } catch {
            await link.close()
            throw error
        }
        await link.close()
    }

    private func outcome(
        _ link: any SSHLink, _ line: String, input: SSHInput = .none
    ) async throws -> (exit: SSHExit, printed: Collected) {
        let printed = Collected()
        let exit = try await link.run(SSHCommand(line: line), input: input) { printed.take($0) }
        return (exit, printed)
    }

    @Test("An RSA host and an RSA user: streams, input and exits are those of a connection of our own")
    func rsa() async throws {
        try await Server.run(host: ["rsa"], user: ["ed25519", "rsa"]) { server in
            try server.trust("rsa")
            try await with(server) { link in
                #expect(link.reason?.contains("RSA") == true)
                let plain = try await outcome(link, "echo out; echo err >&2; exit 3")
                #expect(plain.exit == .exited(3) && plain.printed.text == "out\n")
                #expect(plain.printed.errors == Array("err\n".utf8))
                #expect(try await outcome(link, "exit 255").exit == .exited(255))
                #expect(try await outcome(link, "kill -9 $$").exit == .signalled("unknown"))
                let input = (0..<(1 << 20)).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
                let echoed = try await outcome(link, "cat", input: .bytes(input))
                #expect(echoed.exit.isSuccess && echoed.printed.output == input)
                #expect(try await outcome(link, "exit 4", input: .bytes(input)).exit == .exited(4))
                let began = Promise<Void>()
                let cancelled = Task {
                    _ = try await link.run(SSHCommand(line: "echo started; exec sleep 1000"), input: .none) { _ in
                        began.settle(())
                    }
                }
                try await began.value()
                cancelled.cancel()
                await #expect(throws: CancellationError.self) { try await cancelled.value }
                #expect(try await outcome(link, "exit 7").exit == .exited(7))
            }
        }
    }

    @Test("A key of the user that only ssh can use, with its passphrase, and no password is asked for before")
    func userKey() async throws {
        try await Server.run(user: ["rsa"]) { server in
            try server.trust("ed25519")
            _ = try await Server.shell("ssh-keygen -q -p -P '' -N 'open sesame' -f \(server.folder)/user-rsa")
            let asked = Mutex<[String]>([])
            var questions = SSHQuestions()
            questions.passphrase = { file in
                asked.withLock { $0.append(String(file.split(separator: "/").last ?? "")) }
                return Secret("open sesame")
            }
            questions.password = { _ in
                asked.withLock { $0.append("password") }
                return nil
            }
            let lines = "IdentityFile \(server.folder)/user-rsa"
            try await with(server, lines, asking: questions) { link in
                #expect(link.reason?.contains("user-rsa is of the type RSA") == true, "\(link.reason ?? "")")
                let printed = try await outcome(link, "echo $SSH_ASKPASS").printed
                #expect(printed.text == "\n")
            }
            #expect(asked.withLock { $0 } == ["user-rsa"])
            let refused = try await failure { try await with(server, lines) }
            #expect(refused.kind == .authentication && refused.exit == .denied, "\(refused)")
        }
    }

    @Test("An unknown RSA host is a question, its key is added, and a changed or revoked one is refused")
    func keys() async throws {
        try await Server.run(host: ["rsa"]) { server in
            let nobody = try await failure { try await with(server) }
            #expect(nobody.kind == .unknownHost && nobody.message.contains("martlet ssh trust"), "\(nobody)")
            var questions = SSHQuestions()
            let answer = Mutex(HostKeyDecision.refuse)
            questions.hostKey = { question in
                #expect(question.key.type == .rsa)
                return answer.withLock { $0 }
            }
            let refused = try await failure { try await with(server, asking: questions) }
            #expect(refused.kind == .hostKeyRefused && !Files.exists(server.known))
            answer.withLock { $0 = .add }
            try await with(server, asking: questions) { link in
                let done = try await outcome(link, "exit 5")
                #expect(done.exit == .exited(5))
            }
            #expect(try String(decoding: Files.read(server.known, limit: 1 << 16), as: UTF8.self).contains("ssh-rsa"))
            let shown = try await SSHHost.hostKey(
                of: server.settings(), with: SSHConfiguration.standalone(loop: Server.loop))
            #expect(shown.key.type == .rsa && shown.verdict.isAccepted)
            try await Server.makeKeys(["other-rsa"], in: server.folder)
            let name = "[127.0.0.1]:\(server.port)"
            try server.know("\(name) \(server.publicKey("other-rsa"))\n")
            let changed = try await failure { try await with(server, asking: questions) }
            #expect(changed.kind == .hostKeyChanged && changed.message.contains("\(server.known):1"), "\(changed)")
            try server.know("@revoked \(name) \(server.publicKey("host-rsa"))\n")
            #expect(try await failure { try await with(server, asking: questions) }.kind == .hostKeyRevoked)
        }
    }

    @Test("A host behind another is reached through it, if both are known")
    func jump() async throws {
        try await Server.run { server in
            let name = "[127.0.0.1]:\(server.port)"
            let lines =
                "Host server\nProxyJump jump\nHost jump\n"
                + Server.configuration(
                    port: server.port, in: server.folder, user: try SSHAccount.current(environment: [:]).name)
                + "Host *"
            let unknown = try await failure { try await with(server, lines) }
            #expect(unknown.kind == .unknownHost && unknown.message.contains("ssh trust"), "\(unknown)")
            try server.know("\(name) \(server.publicKey("host-ed25519"))\n")
            try await with(server, lines) { link in
                #expect(link.reason?.contains("ProxyJump") == true)
                let done = try await outcome(link, "exit 6")
                #expect(done.exit == .exited(6))
            }
        }
    }

    @Test("A host that does not answer, a lost connection, and too many commands are the usual errors")
    func faults() async throws {
        try await Server.run(host: ["rsa"], options: ["MaxSessions=1"]) { server in
            try server.trust("rsa")
            try await with(server) { link in
                let process = Promise<Int32>()
                async let first = failure {
                    _ = try await link.run(SSHCommand(line: "echo $PPID; exec sleep 1000"), input: .none) { piece in
                        if case .output(let bytes) = piece {
                            process.settle(Int32(String(decoding: bytes.filter { $0 > 32 }, as: UTF8.self)) ?? 0)
                        }
                    }
                }
                let server = try await process.value()
                let refused = try await failure { _ = try await outcome(link, "true") }
                #expect(refused.kind == .channelRefused && refused.message.contains("MaxSessions"), "\(refused)")
                #expect(kill(server, SIGKILL) == 0)
                let lost = try await first
                #expect(lost.kind == .disconnected && lost.message.contains("may have run"), "\(lost)")
                #expect(try await failure { _ = try await outcome(link, "true") }.kind == .disconnected)
            }
            let dead = try await failure { try await with(server, "Port 1\nHostKeyAlgorithms rsa-sha2-512") }
            #expect(dead.kind == .unreachable && dead.exit == .unreachable, "\(dead)")
        }
    }

    @Test("Nothing is left when a connection is closed")
    func clean() async throws {
        try await Server.run(host: ["rsa"]) { server in
            try server.trust("rsa")
            let folder = "\(server.folder)/run"
            try Files.makeDirectories(folder)
            var account = try SSHAccount.current(environment: ["XDG_RUNTIME_DIR": folder, "PATH": "/usr/bin:/bin"])
            account.hasKerberosTicket = false
            let file = "\(server.folder)/config"
            try Files.writeAtomically(
                Array(Server.configuration(port: server.port, in: server.folder, user: account.name).utf8), to: file)
            // Of a process that was killed.
            let left = "\(folder)/martlet-ssh-999999999-abcdef"
            try Files.makeDirectories(left)
            try Files.writeAtomically([1], to: "\(left)/log")
            // A link that somebody has put there, whose target is none of them.
            let other = "\(server.folder)/other"
            try Files.makeDirectories(other)
            try Files.writeAtomically([1], to: "\(other)/file")
            let foreign = "\(folder)/martlet-ssh-999999998-abcdef"
            try #require(unsafe symlink(other, foreign) == 0)
            let settings = try SSHConfig(file: file, of: account).settings(for: SSHAddress("server"))
            let link = try await SSHHost.connect(to: settings, with: .standalone(loop: Server.loop))
            #expect(Files.exists("\(other)/file"))
            unsafe unlink(foreign)
            let inside = try Files.list(folder)
            #expect(inside.count == 1 && !Files.exists(left))
            #expect(try Files.info("\(folder)/\(inside[0].name)").mode & 0o777 == 0o700)
            await link.close()
            #expect(try Files.list(folder).isEmpty)
        }
    }
}

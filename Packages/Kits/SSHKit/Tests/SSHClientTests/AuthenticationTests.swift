import Capabilities
import CoreTesting
import FileKit
import Glibc
import ProcessKit
import SSHClient
import SSHCore
import SSHTesting
import Synchronization
import Testing

@Suite("Authentication to a host", .timeLimit(.minutes(5)))
struct AuthenticationTests {
    private static func giving(passphrases: String...) -> (questions: SSHQuestions, asked: @Sendable () -> [String]) {
        let state = Mutex((left: passphrases[...], asked: [String]()))
        var questions = SSHQuestions()
        questions.passphrase = { file in
            state.withLock { state in
                state.asked.append(PathParts(file).name)
                return state.left.popFirst().map { Secret($0) }
            }
        }
        return (questions, { state.withLock { $0.asked } })
    }

    @Test("Keys in files are used, with their passphrase if the host would accept them")
    func files() async throws {
        try await Server.run(user: ["ed25519", "ecdsa"], options: ["MaxAuthTries=20"]) { server in
            try server.trust("ed25519")
            let folder = server.folder
            try await server.with()
            try await server.with("IdentityFile \(folder)/none\nIdentityFile \(folder)/user-ecdsa\nIdentitiesOnly yes")
            _ = try await Server.shell("ssh-keygen -q -p -P '' -N 'open sesame' -f \(folder)/user-ed25519")
            try await Server.makeKeys(["other-ed25519"], in: folder, passphrase: "x marks")
            let identities = "IdentityFile \(folder)/other-ed25519"
            let (questions, asked) = Self.giving(passphrases: "wrong one", "open sesame")
            try await server.with(identities, asking: questions)
            // Nobody is asked for that of a key that the host does not accept.
            #expect(asked() == ["user-ed25519", "user-ed25519"])
            let error = try await failure { try await server.with(identities) }
            #expect(error.kind == .authentication && error.exit == .denied)
            #expect(error.message.contains("user-ed25519 needs its passphrase"), "\(error)")
            let (wrong, _) = Self.giving(passphrases: "wrong one", "wrong two")
            let refused = try await failure { try await server.with(asking: wrong) }
            #expect(refused.kind == .authentication && !"\(refused)".contains("wrong"), "\(refused)")
            #expect(try await failure { try await server.with("BatchMode yes", asking: wrong) }.kind == .authentication)
            try await Server.makeKeys(["other-rsa"], in: folder)
            #expect(unsafe chmod("\(folder)/user-ecdsa", 0o644) == 0)
            let told = try await failure {
                try await server.with("IdentityFile \(folder)/other-rsa\nIdentityFile \(folder)/user-ecdsa")
            }
            #expect(told.message.contains("other-rsa is of the type") && told.message.contains("only the system's ssh"))
            #expect(told.message.contains("user-ecdsa can be read by others"))
            #expect(try await failure { try await server.with("PubkeyAuthentication no") }.kind == .authentication)
        }
    }

    @Test("An agent signs, before keys in files are tried, and only for keys of files if the settings say so")
    func agent() async throws {
        try await Server.run(user: ["ed25519", "ecdsa"], options: ["AuthenticationMethods=publickey,publickey"]) {
            server in
            try server.trust("ed25519")
            let folder = server.folder
            let socket = "\(folder)/agent"
            var agent = Command("ssh-agent", ["-D", "-a", socket], environment: Server.variables)
            agent.endsDescendants = true
            try await Launcher.standalone.withChild(agent) { child in
                // It prints where it listens.
                _ = try await child.output.nextLine()
                _ = try await Server.shell(
                    "SSH_AUTH_SOCK=\(socket) ssh-add -q \(folder)/user-ed25519 \(folder)/user-ecdsa")
                _ = try await Server.shell("rm \(folder)/user-ed25519 \(folder)/user-ecdsa")
                // The host wants two keys.
                try await server.with("IdentityAgent \(socket)")
                let only = try await failure { try await server.with("IdentityAgent \(socket)\nIdentitiesOnly yes") }
                #expect(only.kind == .authentication)
                let missing = try await failure { try await server.with("IdentityAgent \(folder)/none") }
                #expect(missing.message.contains("agent at \(folder)/none cannot be reached"), "\(missing)")
            }
        }
    }

    @Test(
        "Passwords and answers to questions are sent only as the settings allow, and other methods follow a partial success"
    )
    func passwords() async throws {
        try await TemporaryDirectory.run { folder in
            try await Server.makeKeys(["host-ed25519", "user-ed25519"], in: folder)
            try Files.writeAtomically(Array(Self.peer.utf8), to: "\(folder)/peer.py")
            var command = Command(
                "/usr/bin/python3", ["-S", "\(folder)/peer.py", folder], environment: Server.variables)
            command.endsDescendants = true
            try await Launcher.standalone.withChild(command) { child in
                let line = try await child.output.nextLine() ?? []
                let port = try #require(
                    Int(String(decoding: line, as: UTF8.self)), "\(String(decoding: child.errorTail, as: UTF8.self))")
                let server = Server(port: port, folder: folder, process: child)
                try server.trust("ed25519")
                let asked = Mutex<[String]>([])
                func questions(_ passwords: String...) -> SSHQuestions {
                    let left = Mutex(passwords[...])
                    var questions = SSHQuestions()
                    questions.password = { account in
                        asked.withLock { $0.append(account) }
                        return left.withLock { $0.popFirst() }.map { Secret($0) }
                    }
                    questions.answers = { question in
                        asked.withLock { $0 += question.prompts.map { "\($0.text) \($0.isShown)" } }
                        return left.withLock { $0.popFirst() }.map { [Secret($0), Secret("123456")] }
                    }
                    return questions
                }
                func take() -> [String] { asked.withLock { exchange(&$0) } }
                let ask = "Password:  false"
                try await server.with("User password", asking: questions("wrong one", "hunter22"))
                #expect(take() == ["password@127.0.0.1", "password@127.0.0.1"])
                try await server.with("User questions", asking: questions("wrong one", "hunter22"))
                #expect(take() == [ask, "Code: true", ask, "Code: true"].map { $0.replacing("  ", with: " ") })
                try await server.with("User both", asking: questions("hunter22"))
                #expect(take() == ["both@127.0.0.1"])
                for line in ["PasswordAuthentication no", "BatchMode yes", "PreferredAuthentications publickey"] {
                    let error = try await failure {
                        try await server.with("User password\n\(line)", asking: questions("hunter22"))
                    }
                    #expect(error.kind == .authentication && error.message.contains("offers"), "\(error)")
                }
                #expect(take() == [])
                let error = try await failure {
                    try await server.with("User questions", asking: questions("wrong one", "wrong two", "wrong three"))
                }
                #expect(error.kind == .authentication && !"\(error)".contains("wrong"), "\(error)")
                let waiting = Promise<Void>()
                var slow = SSHQuestions()
                slow.answers = { _ in
                    waiting.settle(())
                    _ = try await Promise<Void>().value()
                    return nil
                }
                let questionsOfSlow = slow
                let cancelled = Task { try await server.with("User questions", asking: questionsOfSlow) }
                try await waiting.value()
                cancelled.cancel()
                await #expect(throws: CancellationError.self) { try await cancelled.value }
            }
        }
    }

    /// A server of another implementation: sshd cannot check passwords without the users of the machine.
    private static let peer = """
        import sys
        sys.path.append('/usr/lib/python3/dist-packages')
        import asyncio, asyncssh
        folder = sys.argv[1]

        class Server(asyncssh.SSHServer):
            def connection_made(self, connection): self.connection = connection
            def begin_auth(self, user):
                self.user, self.done = user, False
                return True
            def public_key_auth_supported(self): return self.user == 'both' and self.done
            def validate_public_key(self, user, key): return self.done
            def password_auth_supported(self): return self.user == 'password' or self.user == 'both' and not self.done
            def validate_password(self, user, password):
                if self.user == 'both':
                    self.done = True
                    return False
                return password == 'hunter22'
            def kbdint_auth_supported(self): return self.user == 'questions'
            def get_kbdint_challenge(self, user, language, methods):
                return 'Sign in', '', '', [('Password:', False), ('Code:', True)]
            def validate_kbdint_response(self, user, responses): return responses == ['hunter22', '123456']

        async def main():
            server = await asyncssh.create_server(Server, '127.0.0.1', 0, server_host_keys=[folder + '/host-ed25519'])
            print(server.sockets[0].getsockname()[1], flush=True)
            await asyncio.Future()

        asyncio.run(main())
        """
}

/// The value, with an empty one in its place.
private func exchange(_ list: inout [String]) -> [String] {
    defer { list = [] }
    return list
}

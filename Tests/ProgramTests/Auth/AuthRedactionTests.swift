import Capabilities
import CoreTesting
import HTTPCore
import HTTPServer
import JSON
import KamiwazaTesting
import Testing

@Suite("Redaction of used secrets", .timeLimit(.minutes(5)))
struct AuthRedactionTests {
    /// All output of a long run, and every secret that it used.
    private struct Record {
        /// The output with its command line, without results that are meant to be secrets.
        var printed: [(words: String, text: String)] = []
        var secrets: Set<String> = [
            AuthHome.password, "wrong pässword+/1", "correct horse battery", "another battery/2",
        ]

        mutating func add(_ words: String, _ run: Program.Run, showsSecret: Bool = false) {
            printed.append((words, showsSecret ? run.errors : run.output + run.errors))
        }
    }

    /// Responses in which a server repeats the request.
    private static func echoes(_ secret: String) -> [Fault] {
        let percent = SecretForms.all(of: secret)[1]
        return [
            .status(.forbidden, ["detail": .string("no rights for \(secret)")]),
            .status(
                .unprocessable,
                ["detail": [["loc": ["query"], "msg": .string("bad value \(secret) in \(percent)")]] as JSON]),
            .status(.internalServerError, ["message": .string("Bearer \(secret) broke the server")]),
            .status(.badRequest, ["error": "invalid_grant", "error_description": .string(secret)]),
            .text("upstream refused ?refresh_token=\(percent)", status: .conflict),
            .text("Authorization: Bearer \(secret)"), .webPage(status: .unauthorized),
            .status(.conflict, ["detail": .string("no account \(Base64.encode(Array("ada:\(secret)".utf8)))")]),
            .text("cannot read \(Base64URL.encode(Array(secret.utf8)))", status: .conflict),
            .status(.locked, ["detail": .string("Basic \(Base64.encode(Array("ada:\(secret)".utf8)))")]),
            .redirect(to: "http://127.0.0.1:1/?token=\(percent)"), .redirect(to: "http://ada:\(percent)@127.0.0.1:1/"),
        ]
    }

    private func run(
        _ words: String, _ home: AuthHome, _ record: inout Record, input: String = "", showsSecret: Bool = false
    ) async throws -> Program.Run {
        let run = try await home.martlet(words, input: input)
        record.add(words, run, showsSecret: showsSecret)
        return run
    }

    private func learnSession(_ home: AuthHome, _ record: inout Record) async throws -> [String] {
        let session = try await home.session()
        let tokens = ["access_token", "refresh_token"].compactMap { session[$0]?.string }
        record.secrets.formUnion(tokens)
        return tokens
    }

    @Test("No output or file of a long run contains a used secret") func longRun() async throws {
        let time = MovableTime()
        try await AuthHome.with({ $0.now = time.read }) { home in
            var record = Record()
            home.variables["GROQ_API_KEY"] = "groq key of the environment/3"
            record.secrets.insert("groq key of the environment/3")
            _ = try await run("auth server add lab \(home.server.origin) --verbose", home, &record)
            try await signIn(home, &record)
            try await useSession(home, &record, time)
            try await useTokens(home, &record)
            try await useSecrets(&home, &record)
            for words in [
                "doctor --verbose", "config show --all --origin", "features", "data check", "data backup copy",
                "auth trust list", "help auth login", "auth logout --verbose", "auth status",
            ] {
                _ = try await run(words, home, &record)
            }
            try expectClean(home, record)
        }
    }

    private func signIn(_ home: AuthHome, _ record: inout Record) async throws {
        let login = "auth login lab --user ada --password-stdin --verbose"
        let wrong = try await run(login, home, &record, input: "wrong pässword+/1")
        #expect(wrong.code == 3)
        for format in ["", " --json"] {
            for echo in Self.echoes(AuthHome.password) {
                home.server.fail("/api/auth/token", with: echo)
                #expect(try await run(login + format, home, &record, input: AuthHome.password).code != 0)
            }
        }
        home.server.heal("/api/auth/token")
        #expect(try await run(login, home, &record, input: AuthHome.password).code == 0)
    }

    private func useSession(_ home: AuthHome, _ record: inout Record, _ time: MovableTime) async throws {
        let tokens = try await learnSession(home, &record)
        for token in tokens {
            for echo in Self.echoes(token) {
                home.server.fail("/api/auth/users/me", with: echo)
                for words in ["auth whoami --verbose", "auth whoami --verbose --json"] {
                    #expect(try await run(words, home, &record).code != 0)
                    _ = try await learnSession(home, &record)
                }
            }
        }
        home.server.heal("/api/auth/users/me")
        time.advance(by: .seconds(600))
        // A refusal ends the session for good, so it comes last.
        for token in try await learnSession(home, &record) {
            for echo in Self.echoes(token).filter({ !$0.isRefusal }) {
                home.server.fail("/api/auth/refresh", with: echo)
                #expect(try await run("auth whoami --verbose", home, &record).code != 0)
            }
        }
        home.server.heal("/api/auth/refresh")
        #expect(try await run("auth whoami", home, &record).code == 0)
        _ = try await learnSession(home, &record)
    }

    private func useTokens(_ home: AuthHome, _ record: inout Record) async throws {
        let made = try await run("auth pat create ci --json --verbose", home, &record, showsSecret: true)
        let token = try #require(try made.output.json()["token"]?.string)
        record.secrets.insert(token)
        for echo in Self.echoes(token) {
            home.server.fail("/api/auth/users/me", with: echo)
            let words = "auth login lab --token-stdin --verbose"
            #expect(try await run(words, home, &record, input: token).code != 0)
        }
        home.server.heal("/api/auth/users/me")
        #expect(try await run("auth login lab --token-stdin", home, &record, input: "\(token)\n").code == 0)
        for words in ["auth pat list", "auth pat list --json", "auth pat rotate --verbose", "auth status --json"] {
            #expect(try await run(words, home, &record).code == 0)
            _ = try await learnSession(home, &record)
        }
        let own = try #require(try await learnSession(home, &record).first)
        for echo in Self.echoes(own) {
            home.server.fail("/api/auth/pats", with: echo)
            for words in ["auth pat list --verbose", "auth pat create two --verbose", "auth pat rotate --json"] {
                #expect(try await run(words, home, &record).code != 0)
            }
        }
        home.server.heal("/api/auth/pats")
    }

    private func useSecrets(_ home: inout AuthHome, _ record: inout Record) async throws {
        let key = "kept key + with/odd=signs"
        record.secrets.formUnion([key, "imported-key-1", "imported key 2"])
        #expect(try await run("auth secret set openai --value-stdin", home, &record, input: key).code == 0)
        _ = try await run("auth secret get openai", home, &record, showsSecret: true)
        _ = try await run("auth secret get groq", home, &record, showsSecret: true)
        let lines = "A_API_KEY=imported-key-1\nb='imported key 2'\n"
        #expect(try await run("auth secret import -", home, &record, input: lines).code == 0)
        let bad = "A=imported-key-1\nimported key 2\n"
        #expect(try await run("auth secret import - --verbose", home, &record, input: bad).code == 2)
        for words in ["auth secret list", "auth secret list --json", "auth secret remove a --yes"] {
            #expect(try await run(words, home, &record).code == 0)
        }
        let change = "auth secret passphrase --new-stdin --verbose"
        home.variables["MARTLET_PASSPHRASE"] = "correct horse battery"
        #expect(try await run(change, home, &record, input: "another battery/2").code == 0)
        let wrong = try await run("auth secret get openai --verbose", home, &record)
        #expect(wrong.code == 3 && wrong.output == "")
        home.variables["MARTLET_PASSPHRASE"] = "another battery/2"
        #expect(try await run(change, home, &record, input: "correct horse battery").code == 0)
        home.variables["MARTLET_PASSPHRASE"] = "correct horse battery"
    }

    private func expectClean(_ home: AuthHome, _ record: Record) throws {
        let files = try AuthHome.files(below: home.path)
        #expect(files.contains { $0.path.hasSuffix("/vault") } && files.contains { $0.path.hasSuffix("/auth.db") })
        #expect(files.contains { $0.path.hasSuffix("/copy/auth.vault.backup") })
        let places =
            record.printed.map { ("printed by '\($0.words)'", Array($0.text.utf8)) }
            + files.map { ($0.path, $0.bytes) }
        #expect(record.printed.count > 80 && record.secrets.count > 12)
        // The repeated secrets would have been shown, so a redaction mark must be in their place.
        #expect(record.printed.count { $0.text.contains("‹redacted›") } > 40)
        for secret in record.secrets {
            for form in SecretForms.all(of: secret) {
                let bytes = Array(form.utf8)
                for (place, text) in places where text.contains(bytes) {
                    let shown = place.hasPrefix("printed") ? String(decoding: text, as: UTF8.self) : ""
                    Issue.record("'\(form.prefix(60))' is in what was \(place): \(shown.prefix(600))")
                }
            }
        }
    }
}

extension Fault {
    /// Whether this response to a refresh is a final refusal.
    fileprivate var isRefusal: Bool {
        guard case .answers(let answer) = self else { return false }
        return [400, 401, 403].contains(answer.status.code)
    }
}

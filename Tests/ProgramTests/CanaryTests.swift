import FileKit
import Glibc
import HTTPCore
import HTTPTesting
import JSON
import ProcessKit
import Testing

/// Secrets that pass through everything that stores or shows something, and are then looked for byte by byte.
@Suite("Secrets that went through everything", .timeLimit(.minutes(5)))
struct CanaryTests {
    /// One of the environment, one of the vault, and one that is known by how it begins.
    private static let ofEnvironment = "canary+of/the=environment-4711"
    private static let ofVault = "canary+of/the=vault-0815"
    private static let ofNobody = "ghp_0123456789abcdefghijklmnopqrstuvwxyzAB"
    private static let secrets = [ofEnvironment, ofVault, ofNobody]
    /// What is no secret and goes the same way, so that it shows where that leads.
    private static let word = "zanzibar"
    private static let said = "\(word) \(secrets.joined(separator: " ")) \(word)"
    /// Where nothing needs the vault, nobody knows what is in it.
    private static let saidUnopened = "\(word) \(ofEnvironment) \(ofNobody) \(word)"

    private struct Place {
        var home: ChatHome
        let folder: String
        /// What gives back whatever it is sent.
        let echo: ScriptedServer
        /// Everything that was printed, with the words that led to it.
        var printed: [(words: String, text: String)] = []

        /// Runs a line of shell in the folder.
        ///
        /// - Parameter isAnswer: whether it prints what a model says, which the person is given as it is.
        @discardableResult
        mutating func run(
            _ words: String, isAnswer: Bool = false, _ place: SourceLocation = #_sourceLocation
        ) async throws -> Program.Run {
            let run = try await home.shell("cd \(folder) && martlet \(words)")
            #expect(run.code == 0, "\(words): \(run.errors)\(run.output)", sourceLocation: place)
            printed.append((words, isAnswer ? run.errors : run.output + run.errors))
            return run
        }

        /// Every file of the home, but for those of the folder, which are the person's.
        func files() throws -> [(path: String, bytes: [UInt8])] {
            try AuthHome.files(below: home.path).filter { !$0.path.hasPrefix("\(folder)/") }
        }

        /// The stores and other files in which something is, in any form.
        func places(of text: String) throws -> Set<String> {
            let forms = SecretForms.all(of: text).map { Array($0.utf8) }
            return Set(
                try files().filter { file in forms.contains { file.bytes.contains($0) } }.map { file in
                    String(file.path.split(separator: "/").last ?? "")
                })
        }
    }

    private func with(keeping: Bool, _ body: (inout Place) async throws -> Void) async throws {
        let echoes: ScriptedServer.Script = { connection in
            let request = try connection.receiveRequest()
            let sent = request.headers.map { "\($0.name)=\($0.value)" }.joined(separator: " ")
            try connection.answer(
                200, ["Content-Type": "text/plain", "Connection": "close"],
                "\(request.target) \(sent) \(String(decoding: request.body, as: UTF8.self))")
        }
        let model = FakeModel.script(saying: Self.said) { question in
            switch question.round {
            case 0:
                [
                    .init("fs_write", ["path": "notes.txt", "content": .string("\(Self.said)\n")]),
                    .init("fs_read", ["path": "given.txt"]),
                ]
            case 1:
                [
                    .init(
                        "multi_edit",
                        ["path": "given.txt", "edits": [["old_text": "here", "new_text": .string(Self.said)]]])
                ]
            default: []
            }
        }
        try await ScriptedServer.run(echoes) { echo in
            try await ChatHome.with(model) { home in
                var home = home
                home.variables["OPENAI_API_KEY"] = Self.ofEnvironment
                home.variables["OLLAMA_HOST"] = "http://127.0.0.1:1"
                home.variables["XDG_CONFIG_HOME"] = "\(home.path)/config"
                let settings = """
                    {
                      auth: {'keep-unlocked': '0s'}, chat: {'keep-secrets': \(keeping)},
                      gateway: {'keep-secrets': \(keeping)},
                      profiles: {lab: {server: 'http://127.0.0.1:\(home.server.port)/v1', kind: 'openai'}},
                    }
                    """
                try write(settings, to: "\(home.path)/martlet/config/config.json")
                let folder = "\(try Files.canonical(home.path))/work"
                try write("\(Self.said)\nhere\n", to: "\(folder)/given.txt")
                let transcript: JSON = ["messages": [["role": "user", "content": .string(Self.saidUnopened)]]]
                try write(transcript.text(), to: "\(folder)/talk.json")
                let kept = try await home.martlet("auth", "login", "lab", "--token-stdin", input: "\(Self.ofVault)\n")
                #expect(kept.code == 0, "\(kept.errors)")
                var place = Place(home: home, folder: folder, echo: echo)
                try await body(&place)
            }
        }
    }

    // MARK: The ways

    /// Conversations: message, title, system prompt, tools with what went in and came out, diff, attachment, import.
    private func converse(_ place: inout Place) async throws {
        let asked = try await place.run(
            "ask -m lab/small-1 --mode workspace --verbose --json --system '\(Self.saidUnopened)' -f talk.json"
                + " '\(Self.saidUnopened)'",
            isAnswer: true)
        let id = try #require(try asked.output.json()["session_id"]?.string)
        for format in ["text", "ndjson"] {
            try await place.run(
                "ask -m lab/small-1 --continue --format \(format) --verbose '\(Self.saidUnopened)'", isAnswer: true)
        }
        try await place.run("chat rename \(id) '\(Self.saidUnopened)'")
        try await place.run("chat import talk.json")
        let tools = try await place.run("chat inspect \(id) --json")
        #expect(try tools.output.json().array?.count == 9, "\(tools.output)")
        for words in [
            "chat show \(id)", "chat export \(id) --as json", "chat inspect \(id)", "chat search \(Self.word)",
        ] {
            try await place.run("\(words) --verbose")
        }
        try await place.run("chat list --json")
    }

    /// Sessions of the gateway: messages, titles, prompts, projects, the audit.
    private func serve(_ place: inout Place) async throws {
        let use = "use fs.write with {\"path\": \"b.txt\", \"content\": \"\(Self.saidUnopened)\"}"
        try await place.run("gateway project add . --name Sample --allow fs.write")
        try write(use, to: "\(place.folder)/use.txt")
        try await place.run("ask -m martlet --verbose --format ndjson < use.txt", isAnswer: true)
        let token = "token-of-the-canary-0123456789abcdefghij"
        var home = GatewayHome(path: place.home.path, variables: place.home.variables)
        home.variables["MARTLET_GATEWAY_TOKEN"] = token
        try await home.admit()
        try await home.attack { gateway in
            // Who answers is asked with the key of the vault.
            try await gateway.json(.get, "/v1/models")
            let project = try await gateway.json(
                .post, "/v1/projects", ["name": .string(Self.said), "description": .string(Self.said)])
            let session = try await gateway.json(
                .post, "/v1/sessions",
                [
                    "project_id": project["id"] ?? .null, "title": .string(Self.said),
                    "system_prompt": .string(Self.said),
                ]
            )
            let id = try #require(session["session_id"] ?? session["id"])
            try await gateway.json(.post, "/v1/sessions/\(id.string ?? "")/tools", ["audit_log": true])
            let asked = GatewayClient.saying(use, ["session_id": id, "system_prompt": .string(Self.said)])
            try await gateway.json(.post, "/v1/chat/completions", asked)
            try await gateway.json(
                .post, "/v1/chat/completions", GatewayClient.saying("repeat: \(Self.said)", ["session_id": id]))
            let lab: JSON = [
                "model": "lab/small-1", "session_id": id,
                "messages": [["role": "user", "content": .string(Self.said)]],
            ]
            try await gateway.json(.post, "/v1/chat/completions", lab)
        }
        for words in ["gateway session list", "gateway project list", "gateway usage --by session"] {
            try await place.run("\(words) --verbose")
        }
    }

    /// Runs: steps, names of steps, cache, records and reports, log, unit files.
    private func work(_ place: inout Place) async throws {
        let bundle = """
            name: canary
            inputs: {who: {}}
            schedule: {every: 1h}
            env: {one: {variable: CI_TOKEN}, two: {variable: OPENAI_API_KEY}}
            permissions: {effects: writes, secrets: [CI_TOKEN, OPENAI_API_KEY], hosts: ['127.0.0.1:\(place.echo.port)']}
            steps:
              - id: echo
                action: http.request
                with:
                  url: "http://127.0.0.1:\(place.echo.port)/${{ env.one }}"
                  token: ${{ env.two }}
                  body: "\(Self.word) ${{ env.one }} ${{ env.two }} ${{ inputs.who }}"
                cache: {for: 1d}
              - id: each
                matrix: {key: ["${{ env.one }}", "${{ env.two }}", "${{ inputs.who }}", \(Self.word)]}
                action: run.expect
                with: {that: true, message: "${{ matrix.key }} \(Self.word)"}
              - id: wrong
                continue-on-error: true
                action: run.expect
                with: {that: false, message: "\(Self.word) ${{ env.one }} ${{ env.two }} ${{ inputs.who }}"}
            outputs: {said: "${{ steps.echo.result.text }}"}
            """
        place.home.variables["CI_TOKEN"] = Self.ofVault
        try write(bundle, to: "\(place.folder)/canary.yaml")
        try Files.makeDirectories("\(place.home.path)/reports")
        let out = "\(place.home.path)/reports"
        let input = "--input 'who=\(Self.ofNobody)'"
        for format in ["ndjson", "text", "json"] {
            try await place.run(
                "run canary.yaml \(input) --verbose --format \(format) --record \(out)/record.ndjson --junit \(out)/junit.xml"
                    + " --html \(out)/page.html --report \(out)/report.json")
        }
        for words in ["runs list", "runs show", "runs logs", "run canary.yaml --plan \(input)"] {
            try await place.run("\(words) --verbose")
        }
        // Whatever the bundle calls it, a unit is no place for a secret, and for a word it is.
        let install = "cd \(place.folder) && martlet run install canary.yaml --systemd --write --input who="
        for secret in [Self.ofEnvironment, Self.ofNobody] {
            let refused = try await place.home.shell(install + secret)
            #expect(refused.code == 2 && refused.errors.contains("'who' is secret"), "\(refused.errors)")
            place.printed.append(("run install", refused.output + refused.errors))
        }
        let installed = try await place.home.shell(install + Self.word)
        #expect(installed.code == 0, "\(installed.errors)")
    }

    // MARK: What is found

    @Test("are in nothing that was stored or shown, in any form, while the words around them are everywhere")
    func nowhere() async throws {
        try await with(keeping: false) { place in
            try await converse(&place)
            try await serve(&place)
            try await work(&place)
            try await place.run("data backup \(place.home.path)/saved")
            for secret in Self.secrets {
                let found = try place.places(of: secret)
                #expect(found == [], "\(secret)")
                for form in SecretForms.all(of: secret) {
                    for (words, text) in place.printed where text.contains(form) {
                        Issue.record("\(form) was printed by '\(words)': \(text.prefix(3000))")
                    }
                }
            }
            // What they were part of is there, with a mark in their place.
            let found = try place.places(of: Self.word)
            for name in [
                "chat.db", "gateway.db", "runs.db", "chat.history.backup", "gateway.database.backup", "record.ndjson",
                "junit.xml", "page.html", "report.json", "martlet-canary.service",
            ] {
                #expect(found.contains { $0.hasPrefix(name) }, "\(name): \(found)")
            }
            #expect(place.printed.count { $0.text.contains("‹redacted") } > 8)
            // They were used: the servers were shown them.
            #expect(
                place.echo.record.requests.contains {
                    $0.headers["Authorization"]?.contains(Self.ofEnvironment) == true
                })
            #expect(
                place.home.server.record.requests.contains {
                    $0.headers["Authorization"]?.contains(Self.ofVault) == true
                })
        }
    }

    @Test("are found where the person keeps them, and are gone from every file once that is erased")
    func erased() async throws {
        try await with(keeping: true) { place in
            try await converse(&place)
            try await serve(&place)
            for secret in Self.secrets {
                let found = try place.places(of: secret)
                for name in ["chat.db", "gateway.db"] {
                    #expect(found.contains { $0.hasPrefix(name) }, "\(secret): \(found)")
                }
            }
            // Copies that a restore has replaced are files of the program, too.
            try await place.run("data backup \(place.home.path)/saved")
            try await place.run("data restore \(place.home.path)/saved --yes")
            for chat in try await place.run("chat list --json").output.json().array ?? [] {
                try await place.run("chat delete \(chat["id"]?.string ?? "") --now --yes")
            }
            for project in try await place.run("gateway project list --json").output.json().array ?? [] {
                try await place.run("gateway project remove \(project["id"]?.string ?? "") --yes")
            }
            try await place.run("data purge --yes")
            let left = try place.files().filter { !$0.path.hasPrefix("\(place.home.path)/saved/") }
            #expect(
                left.contains { $0.path.hasSuffix("/chat.db") } && left.contains { $0.path.hasSuffix("/gateway.db") })
            for text in Self.secrets + [Self.word] {
                for form in SecretForms.all(of: text) {
                    for file in left where file.bytes.contains(Array(form.utf8)) {
                        Issue.record("\(form) is in \(file.path)")
                    }
                }
            }
        }
    }

    @Test("have to be given again to a run that goes on, which would take its default in their place")
    func resumed() async throws {
        try await RunnerHome.with { home in
            try home.write(
                """
                name: again
                inputs: {who: {default: nobody}}
                steps:
                  - {action: file.read, with: {path: later.txt}}
                  - {action: run.expect, with: {that: "${{ inputs.who != 'nobody' }}"}}
                """)
            // The control is a word that is no secret.
            for (who, isKept) in [("Bob", true), (Self.ofNobody, false)] {
                #expect(try await home.martlet("run", "b.yaml", "--input", "who=\(who)").code == 1)
                try home.write("later", "later.txt")
                let resumed = try await home.martlet("run", "--resume", "last", "--again")
                #expect((resumed.code == 0) == isKept, "\(who): \(resumed.output)\(resumed.errors)")
                if !isKept {
                    #expect(resumed.code == 2 && resumed.errors.contains("give it again"), "\(resumed.errors)")
                    let given = try await home.martlet("run", "--resume", "last", "--again", "--input", "who=\(who)")
                    #expect(given.code == 0, "\(given.errors)\(given.output)")
                }
                try Files.remove("\(home.path)/later.txt")
            }
        }
    }
}

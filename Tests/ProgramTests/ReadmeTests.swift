import Capabilities
import FileKit
import HTTPCore
import HTTPTesting
import ProcessKit
import Testing

/// Runs every command of the README as it stands: in a copy of the folder, with `martlet` first in PATH and an empty home.
/// `.ci/apart` leaves the tests no network but the loopback.
@Suite("The README", .timeLimit(.minutes(5)))
struct ReadmeTests {
    @Test("Every command works as it stands, and shows what the README shows", arguments: try Readme.passages())
    func commands(of passage: Readme.Passage) async throws {
        try await ScriptedServer.run(Reader.vendor) { vendor in
            try await withHome { top in
                try await Reader(of: passage, in: top, vendor: vendor.port).run(passage.lines[...])
            }
        }
    }

    @Test("Every exception is for a command that the README still has")
    func exceptions() throws {
        let commands = Set(try Readme.passages().flatMap(\.lines).map(\.command))
        for command in Exception.all.keys { #expect(commands.contains(command), "the README has no '\(command)'") }
        // Otherwise they are not found any more.
        #expect(commands.count >= 40)
    }

    @Test("Every block says what language it is in, so that no command is missed")
    func languages() throws {
        let languages = try Readme.languages()
        #expect(Set(languages) == ["sh", "console", "swift"], "\(languages)")
    }
}

/// A command that cannot be run like the others.
private enum Exception: Sendable {
    /// It is not run, for this reason.
    case excused(String)
    /// It is run after this script, which makes what the README assumes.
    case after(String)
    /// It is run on a terminal. When it shows the first, the second is typed.
    case onTerminal([(shown: String, typed: String)])
    /// It runs until it is stopped, and is ready when it has shown this. The commands after it use it.
    case serves(ready: String)

    static let all: [String: Exception] = [
        "make build TRAITS=Chat,Auth": .excused("it compiles for minutes; PluginTests build features alone"),
        "make build TRAITS=Auth,Chat,Gateway,Runner": .excused(
            "it compiles for minutes; PluginTests build features alone"),
        "make test": .excused("this test is a part of it"),
        "make bench": .excused("it installs other programs and measures for minutes"),
        "make feature": .excused("PluginTests make and build this feature"),
        "make feature NAME=Weather": .excused("PluginTests make and build this feature"),
        "swift run martlet weather greet Ada": .excused(
            "it compiles for minutes; PluginTests run the feature's action"),
        "make compose DIR=../mybench NAME=mybench FEATURES=Weather": .excused(
            "it compiles for minutes; PluginTests compose programs"),
        "martlet auth login lab.example": .excused("it needs a server at that name; AuthStoryTests sign in to one"),
        "martlet ssh run 'web*' -- uptime": .excused("it needs hosts of those names; SSHTests run such commands"),
        "martlet auth pat create ci --days 30": .excused("it needs a server; AuthRedactionTests make such a token"),

        "git diff | martlet ask \"Review this\"": .after(
            """
            git init -q . && git add . && git -c user.name=Ada -c user.email=ada@lab.example commit -q -m Begin
            echo more >>README.md
            """),
        "make demo PROJECT=DIR": .after("cp -R Apps/examples/sample DIR"),
        "martlet config trust": .after("mkdir .martlet && echo '{chat: {mode: \"workspace\"}}' >.martlet/config.json"),
        // A run is killed while its step waits at a pipe. When the step is repeated, a file is there instead.
        "martlet run --resume last": .after(
            """
            mkfifo gate
            echo '{name: gate, permissions: {actions: [shell.run], programs: [cat]},
                steps: [{id: wait, action: shell.run, with: {program: cat, arguments: [gate]}}]}' >gate.yaml
            coproc martlet run gate.yaml --format ndjson
            run=$COPROC_PID
            while read -r event <&"${COPROC[0]}"; do
                case $event in *step_started*) kill -KILL "$run"; break ;; esac
            done
            wait "$run" || [ $? = 137 ]
            rm gate
            echo open >gate
            """),

        "martlet auth secret set openai": .onTerminal([
            ("The secret (openai)", "sk-kept-0123456789abcdefghij\r"),
            ("New passphrase for the vault", "correct horse battery\r"),
            ("The new passphrase again", "correct horse battery\r"),
        ]),
        "martlet chat": .onTerminal([("/help lists the commands", "/help\r"), ("/quit", "/quit\r")]),
        "martlet gateway serve": .serves(ready: "The gateway is listening on"),
    ]
}

/// A reader who follows the README after a checkout.
private struct Reader: Sendable {
    /// The working directory of the commands, in a copy of the files that they name.
    private let folder: String
    private let home: String
    private let variables: [String: String]

    /// Makes the copy. `make` finds a `swift` that compiles nothing, and as its result the program that is tested.
    init(of passage: Readme.Passage, in top: String, vendor port: Int) async throws {
        let made = try await Program.martlet.shell(
            """
            set -e
            mkdir -p home tools work/Apps work/.ci work/.build/release
            cp "$ROOT/README.md" "$ROOT/Makefile" work
            cp -R "$ROOT/Apps/examples" work/Apps
            printf '#!/bin/sh\\n' >tools/swift
            chmod +x tools/swift
            cp tools/swift work/.ci/setup
            cp tools/swift work/.ci/pictures
            ln -s "$M" work/.build/release/martlet
            """, home: top, adding: ["ROOT": Readme.root])
        try #require(made.code == 0, "\(made.errors)")
        folder = "\(top)/work/\(passage.folder)"
        home = "\(top)/home"
        var variables = [
            "PATH": "\(PathParts(Program.martlet.path).folder):\(top)/tools:/usr/local/bin:/usr/bin:/bin",
            // Nothing of a test stays in the kernel's keyring, and a port that another gateway has is not needed.
            "MARTLET_AUTH_KEEP_UNLOCKED": "0s", "MARTLET_GATEWAY_PORT": "0",
        ]
        // After a key is stored, vendors are asked; a server of the test stands in for them.
        if passage.lines.contains(where: { $0.command.contains("auth secret set") }) {
            let key = "sk-test-0123456789abcdefghij"
            variables["OPENAI_BASE_URL"] = "http://127.0.0.1:\(port)/v1"
            variables["OPENAI_API_KEY"] = key
            variables["ANTHROPIC_BASE_URL"] = "http://127.0.0.1:\(port)"
            variables["ANTHROPIC_API_KEY"] = key
        }
        self.variables = variables
    }

    /// Runs the commands one after the other.
    func run(_ lines: ArraySlice<Readme.Line>) async throws {
        guard let line = lines.first else { return }
        switch Exception.all[line.command] {
        case .excused: break
        case .after(let script):
            let before = try await Launcher.standalone.run(bash(script), timeout: .seconds(60))
            #expect(before.status.code == 0, "\(String(decoding: before.output, as: UTF8.self))")
            try await check(line)
        case .onTerminal(let exchanges): try await converse(line, exchanges)
        case .serves(let sign): return try await serve(line, until: sign, for: lines.dropFirst())
        case nil: try await check(line)
        }
        try await run(lines.dropFirst())
    }

    /// A shell that stops at the first failure, with messages between the results as on a terminal.
    private func bash(_ script: String) -> Command {
        var command = Command(
            "bash", ["-eo", "pipefail", "-c", script], environment: Program.environment(home, variables),
            workingDirectory: folder)
        command.errors = .output
        return command
    }

    /// Runs a command to its end. The lines that the README shows have to be in the output in their order.
    private func check(_ line: Readme.Line) async throws {
        let completion = try await Launcher.standalone.run(bash(line.text), timeout: .seconds(120))
        let output = String(decoding: completion.output, as: UTF8.self)
        #expect(completion.status.code == line.code, "\(line.text): \(output)")
        var left = output.lines.map(Self.normalized)[...]
        for shown in line.shown {
            guard let place = left.firstIndex(of: Self.normalized(shown)) else {
                Issue.record("\(line.text) does not show '\(shown)': \(output)")
                continue
            }
            left = left[(place + 1)...]
        }
    }

    /// The line without what no two runs have in common: ids, times and durations.
    private static func normalized(_ line: String) -> String {
        line.replacing(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|\d{8}t\d{6}-[a-z]{4}/, with: "ID")
            .replacing(/\d{4}-\d{2}-\d{2}T[\d:.]+Z/, with: "TIME")
            .replacing(/\d+(?:\.\d+)? (?:µs|ms|s|min|h)\b/, with: "DURATION")
    }

    private func converse(_ line: Readme.Line, _ exchanges: [(shown: String, typed: String)]) async throws {
        try await Conversation.with(
            .martlet, "cd \"$FOLDER\" && bash -eo pipefail -c \"$LINE\"; echo \"code $?\"", home: home,
            adding: variables.merging(["FOLDER": folder, "LINE": line.text]) { $1 }
        ) { talk in
            for exchange in exchanges {
                try await talk.wait(for: exchange.shown)
                try await talk.press(exchange.typed)
            }
            try await talk.wait(for: "code \(line.code)")
        }
    }

    /// Runs a server while the commands after it are run.
    private func serve(
        _ line: Readme.Line, until sign: String, for others: ArraySlice<Readme.Line>
    ) async throws {
        try await Launcher.standalone.withChild(bash(line.text)) { server in
            var shown = ""
            while !shown.contains(sign) {
                guard let next = try await server.output.nextLine() else {
                    throw Conversation.Failure(message: "\(line.text) ended: \(shown)")
                }
                shown += String(decoding: next, as: UTF8.self) + "\n"
            }
            try await run(others)
            server.send(.terminate)
            let status = try await server.exitStatus()
            #expect(status.code == 143, "\(line.text) was terminated")
        }
    }

    /// Answers every question in the dialect of OpenAI or Anthropic.
    static let vendor: ScriptedServer.Script = { connection in
        let request = try connection.receiveRequest()
        guard request.method == "POST" else {
            return try connection.answer(200, ["Connection": "close"], #"{"data":[{"id":"small-1"}]}"#)
        }
        try connection.beginEvents()
        let events =
            request.target.contains("/messages")
            ? [
                #"{"type":"message_start","message":{"id":"a","role":"assistant","model":"small-1","content":[]}}"#,
                #"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
                #"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Done."}}"#,
                #"{"type":"content_block_stop","index":0}"#,
                #"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":2}}"#,
                #"{"type":"message_stop"}"#,
            ]
            : [
                #"{"id":"a","model":"small-1","choices":[{"index":0,"delta":{"content":"Done."},"finish_reason":"stop"}]}"#,
                "[DONE]",
            ]
        for event in events { try connection.send("data: \(event)\n\n") }
    }
}

import Capabilities
import CoreTesting
import JSON
import MCPKit
import ProcessKit
import RPCKit
import ServeTesting
import Testing

@Suite("The program that hosts start", .timeLimit(.minutes(5)))
struct ProgramTests {
    private static let everything = [
        "--expose", "actions", "--expose", "screens", "--expose", "conversations", "--allow", "writes",
    ]

    private static func check(_ seen: JSON, of host: ForeignHost) {
        if host.kind == "sdk" {
            #expect(seen["version"] == (host.isModern ? "2026-07-28" : "2025-11-25") && seen["server"] == "martlet")
        }
        let tools = seen["tools"]?.array?.compactMap(\.string) ?? []
        #expect(
            tools
                == (ToolTests.offered + ["lab_bump", "lab_clear", "lab_file", "lab_inner", "lab_maybe", "lab_talk"])
                .sorted())
        #expect(seen["hint"] == true)
        #expect(seen["add"] == [[#"{"sum":5,"terms":[2,3]}"#], ["sum": 5, "terms": [2, 3]], false])
        #expect(seen["fail"]?[0] == ["the lab is closed; come back tomorrow [lab.failed]"] && seen["fail"]?[2] == true)
        #expect(seen["wrong"] == true && seen["unknown"] == -32602)
        #expect(seen["count"] == ["1 2 3 "] && seen["many"] == true)
        #expect(seen["steps"]?.array?.compactMap { $0[0]?.double } == [1, 2, 3])
        #expect(seen["name"] == ["hello yes"] && seen["color"] == ["red"])
        #expect(seen["questions"] == ["What is your name?", "Which color?"])
        #expect(seen["decisions"] == .array(Array(repeating: "serve.not-for-hosts", count: 3)))
        let resources = seen["resources"]?.array?.compactMap(\.string) ?? []
        #expect(resources.contains("martlet://screens/lab.board") && resources.contains("martlet://conversations/c1"))
        #expect(seen["read"]?.string?.contains("the value is 0") == true)
        if host.kind == "sdk" {
            #expect(seen["missing"] == (host.isModern ? -32602 : -32002) && seen["told"] == true)
        }
        if host.kind == "sdk", host.isModern { #expect(seen["first"] == "ResourceUpdated") }
    }

    @Test("Hosts of both eras use it over the standard streams", arguments: ForeignHost.all)
    func streams(host: ForeignHost) async throws {
        try await TemporaryDirectory.run { home in
            let seen = try await host.seen(
                [try TestPrograms.lab(), "mcp", "serve"] + Self.everything, ["HOME": home, "MARTLET_HOME": home])
            Self.check(seen, of: host)
        }
    }

    @Test("Hosts of both eras use it over HTTP, with the token of the run", arguments: ForeignHost.all)
    func http(host: ForeignHost) async throws {
        try await TemporaryDirectory.run { home in
            let command = try TestPrograms.command(["--http", "--format", "ndjson"] + Self.everything, home: home)
            try await TestPrograms.launcher.withChild(command) { child in
                let line = try #require(try await child.output.nextLine())
                let listening = try JSON(parsing: line)
                let url = try #require(listening["url"]?.string)
                let file = try #require(listening["token_file"]?.string)
                let seen = try await host.seen([url], ["HOME": home, "TOKEN": try TestFile.text(file)])
                Self.check(seen, of: host)
                child.send(.terminate)
                #expect(try await child.exitStatus() == .exited(143) && !TestFile.exists(file))
            }
        }
    }

    @Test(
        "It ends with its input, and writes only messages to its output, in every format",
        arguments: ["text", "json", "ndjson", "markdown"])
    func end(format: String) async throws {
        let opening = #"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}"#
        let call = #"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"lab_count","arguments":{"to":2}}}"#
        try await TemporaryDirectory.run { home in
            let script =
                "(printf '%s\\n' '\(opening)' rubbish '\(call)'; head -c 300000 /dev/zero; echo; printf '{\"half') "
                + "| \"$0\" mcp serve --format \(format)"
            let result = try await TestPrograms.launcher.run(
                Command(
                    "/bin/sh", ["-c", script, try TestPrograms.lab()],
                    environment: TestPrograms.environment(["HOME": home, "MARTLET_HOME": home])),
                timeout: .seconds(60))
            #expect(result.status == .exited(0), "\(String(decoding: result.errors, as: UTF8.self))")
            let lines = result.output.split(separator: UInt8(ascii: "\n"))
            #expect(lines.count >= 2)
            for line in lines { #expect(try JSON(parsing: Array(line))["jsonrpc"] == "2.0") }
        }
    }

    @Test(
        "It ends by a signal as other servers do, while a call runs",
        arguments: [(.terminate, 143), (.interrupt, 130)] as [(ProcessKit.Signal, Int32)])
    func signals(signal: ProcessKit.Signal, code: Int32) async throws {
        try await TemporaryDirectory.run { home in
            var command = try TestPrograms.command([], home: home)
            command.input = .pipe
            try await TestPrograms.launcher.withChild(command) { child in
                let opening =
                    #"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}"#
                let call = #"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"lab_wait"}}"#
                try await child.input.write(Array("\(opening)\n\(call)\n".utf8))
                _ = try #require(try await child.output.nextLine())
                child.send(signal)
                #expect(try await child.exitStatus() == .exited(code))
            }
        }
    }

    @Test("A host that stops reading is no failure of ours")
    func vanished() async throws {
        try await TemporaryDirectory.run { home in
            let opening = #"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}"#
            let ping = #"{"jsonrpc":"2.0","id":2,"method":"ping"}"#
            // The reader is gone after the first line, and then the second request comes.
            let script =
                "mkfifo f; { printf '%s\\n' '\(opening)'; cat f; } | { \"$0\" mcp serve; echo $? > status; } "
                + "| { head -n 1; exec < /dev/null; printf '%s\\n' '\(ping)' > f; }; cat status"
            var command = Command(
                "/bin/sh", ["-c", script, try TestPrograms.lab()],
                environment: TestPrograms.environment(["HOME": home, "MARTLET_HOME": home]))
            command.workingDirectory = home
            let result = try await TestPrograms.launcher.run(command, timeout: .seconds(60))
            #expect(String(decoding: result.output, as: UTF8.self).hasSuffix("\n0\n"))
        }
    }

    @Test("When the feature is off, its command says so")
    func off() async throws {
        try await TemporaryDirectory.run { home in
            let result = try await TestPrograms.launcher.run(
                try TestPrograms.command(["--set", "features.serve=false"], home: home), timeout: .seconds(60))
            let said = String(decoding: result.errors, as: UTF8.self)
            #expect(result.status == .exited(2) && said.contains("features.serve true"), "\(said)")
        }
    }

    @Test("Options that contradict each other, and who is no host, are told what to do")
    func refused() async throws {
        try await TemporaryDirectory.run { home in
            for (arguments, words) in [
                (["8080"], "need --http"), (["--token-file", "a"], "need --http"),
                (["--http", "70000"], "not a valid port"), (["--expose", "all"], "actions, conversations, screens"),
                (["--folder", "/nonexistent"], "no such file"),
            ] {
                let result = try await TestPrograms.launcher.run(
                    try TestPrograms.command(arguments, home: home), timeout: .seconds(60))
                let said = String(decoding: result.errors, as: UTF8.self)
                #expect(!result.status.isSuccess && said.contains(words) && result.output.isEmpty, "\(said)")
            }
        }
    }
}

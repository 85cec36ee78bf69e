import JSON
import Testing

@Suite("martlet", .timeLimit(.minutes(5)))
struct CommandTests {
    @Test("without words, and asked for help, shows how to go on", arguments: [[], ["--help"], ["-h"], ["help"]])
    func help(words: [String]) async throws {
        try await withHome { home in
            let run = try await Program.martlet.run(words, home: home)
            #expect(run.code == 0)
            #expect(run.output.hasPrefix("martlet: "))
            #expect(run.output.contains("Usage: martlet <command>"))
            #expect(run.errors == "")
        }
    }

    @Test(
        "shows help of a command in every way that people ask for it",
        arguments: [
            ["help", "config", "set"], ["config", "set", "--help"], ["config", "set", "-h"], ["-h", "config", "set"],
        ])
    func helpOfCommand(words: [String]) async throws {
        try await withHome { home in
            let run = try await Program.martlet.run(words, home: home)
            #expect(run.code == 0)
            #expect(run.output.contains("Usage: martlet config set <key> <value>"))
        }
    }

    @Test(
        "answers wrong words with 2, a sentence and nothing on standard output",
        arguments: [
            (["versoin"], "did you mean 'version'?"), (["config"], "needs a verb"),
            (["version", "more"], "takes no arguments"),
            (["version", "--jsno"], "did you mean '--json'?"), (["--timeout=never", "version"], "--timeout"),
            (["help", "confg"], "did you mean 'config'?"), (["--frob"], "--frob"),
            (["data", "list", "--set", "x"], "key=value"),
        ])
    func wrong(words: [String], hint: String) async throws {
        try await withHome { home in
            let run = try await Program.martlet.run(words, home: home)
            #expect(run.code == 2)
            #expect(run.output == "")
            #expect(run.errors.hasPrefix("martlet: "))
            #expect(run.errors.contains(hint))
        }
    }

    @Test("tells its version in every format, with nothing else on standard output") func version() async throws {
        try await withHome { home in
            func version(_ format: String) async throws -> String {
                let run = try await Program.martlet.run(["version", "--format", format], home: home)
                #expect(run.code == 0)
                #expect(run.errors == "")
                return run.output
            }
            #expect(try await version("text").hasPrefix("name       martlet\n"))
            #expect(try await version("json").json()["name"] == "martlet")
            let line = try await version("ndjson")
            #expect(line.lines.count == 1)
            #expect(try line.json()["features"]?.array?.contains("host") == true)
            let rows = try await version("csv").split(separator: "\r\n")
            #expect(rows.count == 2)
            #expect(rows.first == "name,version,features,libraries")
            let markdown = try await version("markdown").lines
            #expect(markdown.first == "- **name**: martlet")
            #expect(markdown.contains { $0.hasPrefix("- **features**: ") && $0.contains("host, ") })
            let flag = try await Program.martlet.run(["--version", "--json"], home: home)
            #expect(try flag.output.json() == (try await version("json").json()))
        }
    }

    @Test("lists its features with id, state and reason") func features() async throws {
        try await withHome { home in
            let run = try await Program.bench.run(
                ["features", "--json", "--set", "features.broken=false"], home: home)
            #expect(run.code == 0)
            let rows = try #require(try run.output.json().array)
            #expect(
                rows.map { $0["id"]?.string } == [
                    "broken", "commands", "host", "lab", "log", "screen", "steady", "terminal",
                ])
            #expect(rows.first?["state"] == "off")
            #expect(rows.first?["reason"]?.string?.contains("features.broken") == true)
            #expect(rows.dropFirst().allSatisfy { $0["state"] == "ok" })
        }
    }

    @Test("tells an error to a program as exactly one line of JSON", arguments: [["--json"], ["--format=ndjson"]])
    func jsonErrors(format: [String]) async throws {
        try await withHome { home in
            for words in [
                ["versoin"], ["config", "get"], ["config", "get", "nonsense"], ["--color=x", "version"], ["config"],
            ] {
                let run = try await Program.martlet.run(format + words, home: home)
                #expect(run.code == 2)
                #expect(run.output == "")
                #expect(run.errors.lines.count == 1)
                let error = try run.errors.json()["error"]
                #expect(error?["code"]?.string?.contains(".") == true)
                #expect(error?["message"]?.string?.isEmpty == false)
            }
        }
    }
}

import JSON
import Testing

@Suite("Screens on the command line", .timeLimit(.minutes(5)))
struct ScreenTests {
    /// The screens beside a row, or all others, which need no arguments.
    private func screens(_ home: String, areDetails: Bool) async throws -> [String] {
        let list = try await Program.martlet.run(["screen", "list", "--json"], home: home)
        let screens = try list.output.json().array ?? []
        return screens.filter { ($0["placement"] == "detail") == areDetails }.compactMap { $0["id"]?.string }
    }

    /// What a screen shows, as a line of JSON.
    private func shown(_ id: String, _ arguments: [String], _ home: String) async throws -> String {
        let words = ["screen", "show", id] + arguments
        let text = try await Program.martlet.run(words, home: home)
        #expect(text.code == 0 && !text.output.isEmpty, "\(id): \(text.output)\(text.errors)")
        let shown = try await Program.martlet.run(words + ["--json"], home: home)
        #expect(shown.code == 0, "\(id): \(shown.errors)")
        let json = try shown.output.json()
        #expect(json["id"]?.string == id)
        return json.text() + "\n"
    }

    /// Prints what does not match the schema of blocks.
    private static let validator = """
        import json, sys
        from jsonschema import Draft202012Validator
        schema = json.load(open("schema.json"))
        Draft202012Validator.check_schema(schema)
        validator = Draft202012Validator(schema)
        for line in open("blocks.ndjson"):
            for error in validator.iter_errors(json.loads(line)["block"]):
                print(line.strip()[:200], error.message[:200])
        """

    /// Checks lines with blocks against their published schema.
    private func validate(_ blocks: String, _ home: String) async throws {
        let library = try await Program.martlet.shell("python3 -c 'import jsonschema' 2>/dev/null", home: home)
        try #require(library.code == 0, "nothing is checked without the Python module jsonschema; install it")
        let schema = try await Program.martlet.run(["docs", "screens"], home: home)
        try write(schema.output, to: "\(home)/schema.json")
        try write(blocks, to: "\(home)/blocks.ndjson")
        try write(Self.validator, to: "\(home)/validate.py")
        let check = try await Program.martlet.shell("python3 validate.py", home: home)
        #expect(check.code == 0 && check.output.isEmpty, "\(check.output)\(check.errors)")
    }

    @Test(
        "Every screen of an empty home says something, makes nothing but the databases of its lists and its trace, and matches the schema of blocks"
    )
    func everyScreen() async throws {
        try await withHome { home in
            let ids = try await screens(home, areDetails: false)
            #expect(Set(["chat.conversations", "gateway.projects", "config.settings"]).isSubset(of: ids))
            let before = try await files(in: home)
            var blocks = ""
            for id in ids { blocks += try await shown(id, [], home) }
            #expect(try await files(in: home) == before)
            try await validate(blocks, home)
            // The same validator finds a block of no kind, and one that lacks a member.
            try write(
                #"{"block":{"type":"none","id":"a"}}"# + "\n" + #"{"block":{"type":"code","id":"a"}}"# + "\n",
                to: "\(home)/blocks.ndjson")
            #expect(try await Program.martlet.shell("python3 validate.py", home: home).output.lines.count == 2)
        }
    }

    @Test("Every screen beside a row shows a conversation or a run, and matches the schema of blocks")
    func everyDetail() async throws {
        try await withHome { home in
            let arguments = [
                "chat.conversation": [], "chat.tools": [], "chat.found": ["one"], "gateway.paths": [], "runs.run": [],
                "runs.log": [], "config.setting": ["chat.model"],
            ]
            // Without a server there are no tokens and no tools, no gateway, and no model that calls tools; the id of a trace is
            // another one each time.
            let others = Set([
                "auth.tokens", "chat.call", "mcp.server", "mcp.gateway.servers", "mcp.gateway.server", "trace.request",
                "trace.facts", "trace.frames", "trace.spans",
            ])
            #expect(try await Set(screens(home, areDetails: true)) == others.union(arguments.keys))
            let asked = try await Program.martlet.run(["ask", "one"], home: home)
            #expect(asked.code == 0, "\(asked.errors)")
            try write("name: look\nsteps: [{action: version}]\n", to: "\(home)/look.yaml")
            let run = try await Program.martlet.run(["run", "look.yaml"], home: home)
            #expect(run.code == 0, "\(run.errors)")
            var blocks = ""
            for (id, words) in arguments.sorted(by: { $0.key < $1.key }) { blocks += try await shown(id, words, home) }
            #expect(blocks.contains(#""text":"one""#) && blocks.contains("version"))
            try await validate(blocks, home)
        }
    }

    private func files(in home: String) async throws -> String {
        try await Program.martlet.shell(
            "find . -type f ! -path './.local/share/martlet/*.db*' ! -path './.local/state/martlet/trace*' | sort",
            home: home
        )
        .output
    }

    @Test("A list shows the rows of its action, and takes the same arguments")
    func list() async throws {
        try await withHome { home in
            for question in ["one", "two", "three"] {
                _ = try await Program.martlet.run(["ask", question], home: home)
            }
            let listed = try await Program.martlet.run(["chat", "list", "--limit", "2"], home: home)
            let shown = try await Program.martlet.run(
                ["screen", "show", "chat.conversations", "--limit", "2"], home: home)
            #expect(shown.code == 0 && shown.output.lines.count == 3)
            #expect(shown.output == listed.output)
        }
    }

    @Test("Wrong arguments, unknown screens and a bundle without the right are refused")
    func refused() async throws {
        try await withHome { home in
            let option = try await Program.martlet.run(["screen", "show", "chat.conversations", "--nope"], home: home)
            #expect(option.code == 2 && option.errors.contains("--nope is not an option"))
            let missing = try await Program.martlet.run(["screen", "show", "chat.found"], home: home)
            #expect(missing.code == 2, "\(missing.output)")
            let unknown = try await Program.martlet.run(["screen", "show", "chat.conversation.s"], home: home)
            #expect(unknown.code == 2 && unknown.errors.contains("there is no screen"))
            // A bundle may look at what it could list. Showing, the screen and its list are three actions.
            for (calls, isAllowed) in [(3, true), (2, false), (1, false)] {
                try write(
                    """
                    name: look
                    permissions: {calls: \(calls)}
                    steps:
                      - action: screen.show
                        with: {id: chat.conversations, arguments: {limit: 1}}
                    """, to: "\(home)/look.yaml")
                let bundle = try await Program.martlet.run(["run", "look.yaml", "--no-journal"], home: home)
                #expect((bundle.code == 0) == isAllowed, "\(calls): \(bundle.output)\(bundle.errors)")
                let isRefusal = "\(bundle.output)\(bundle.errors)".contains("permissions.calls")
                #expect(isRefusal != isAllowed, "\(calls): \(bundle.output)\(bundle.errors)")
            }
        }
    }

    @Test("Following prints a line for each change until it is interrupted, and then ends at once")
    func following() async throws {
        try await withHome { home in
            let script = """
                mkfifo lines
                "$M" screen show runs.recent --follow --format ndjson > lines & pid=$!
                exec 3< lines
                while read -r line <&3; do echo "$line"; case $line in *'"state":"ready"'*) break;; esac; done
                "$M" run look.yaml > run.txt 2>&1
                while read -r line <&3; do echo "$line"; case $line in *look*) break;; esac; done
                kill -TERM $pid; wait $pid; echo "code $?"
                """
            try write("name: look\nsteps: [{action: version}]\n", to: "\(home)/look.yaml")
            let outcome = try await Program.martlet.shell(script, home: home)
            #expect(outcome.output.lines.last == "code 143", "\(outcome.output)\(outcome.errors)")
            let lines = try outcome.output.lines.dropLast().map { try $0.json() }
            #expect(lines.first?["type"] == "screen" && lines.count >= 2)
            let rows = lines.last?["block"]?["rows"]?.array
            #expect(rows?.first?["name"] == "look", "\(outcome.output)")
        }
    }
}

import Capabilities
import FileKit
import GatewayModels
import JSON
import Synchronization
import Testing
import ToolKit
import TurnLoop

@Suite("Answers of the offline model")
struct AnswerTests {
    @Test("a repository is summarised from its names and its README")
    func overview() async throws {
        try await withConversation { chat in
            try chat.write("README.md", "# Widget\n\nA widget for testing.\nIt has two lines.\n\n## Usage\n\nNone.\n")
            try chat.write("Package.swift", "// swift-tools-version: 6.2\n")
            try chat.write("Sources/Widget/Widget.swift", "struct Widget {}\n")
            try chat.write("Tests/WidgetTests/WidgetTests.swift", "import Testing\n")
            let answer = try await chat.ask("Summarise this repository, please.")
            #expect(answer.has("## Widget\n\n> A widget for testing.\n> It has two lines."))
            #expect(answer.has("**4 files**, with 2 folders at the top"))
            #expect(answer.has("`Package.swift` (Swift package)"))
            #expect(answer.has("| `.swift` | 3 |") && answer.has("Sources/\n  Widget/"))
        }
    }

    @Test("lines of a file are quoted as they are")
    func reading() async throws {
        try await withConversation { chat in
            try chat.write("a.swift", (1...30).map { "let x\($0) = \"```\"\n" }.joined())
            let answer = try await chat.ask("quote lines 3 to 5 of a.swift")
            #expect(answer.has("lines 3 to 5"))
            #expect(answer.has("````swift\nlet x3 = \"```\"\nlet x4 = \"```\"\nlet x5 = \"```\"\n````"))
            #expect(try await chat.ask("show a.swift:7").has("line 7"))
            #expect(try await chat.ask("and b.swift?").has("could not do it"))
        }
    }

    @Test("a question goes on with another place or another name")
    func following() async throws {
        try await withConversation { chat in
            try chat.write("Sources/a.swift", "// TODO one\nlet needle = 1\n")
            try chat.write("Tests/b.swift", "// TODO two\nlet needle = 2\nlet hay = 3\n")
            #expect(places(in: try await chat.ask("find the TODOs")).count == 2)
            #expect(places(in: try await chat.ask("and in Sources?")) == ["Sources/a.swift:1"])
            #expect(places(in: try await chat.ask("what about Tests/b.swift?")) == ["Tests/b.swift:1"])
            #expect(places(in: try await chat.ask("search for needle")).count == 2)
            #expect(places(in: try await chat.ask("what about hay?")) == ["Tests/b.swift:3"])
            #expect(places(in: try await chat.ask("again")) == ["Tests/b.swift:3"])
        }
    }

    @Test("the project's own tests are run, and their end is told", arguments: [0, 3])
    func tests(code: Int) async throws {
        try await withConversation { chat in
            try chat.write(
                "Makefile", "all:\n\techo no\n\ntest: \n\t@echo checking; echo error: of a kind >&2; exit \(code)\n")
            // Without a sandbox each command is asked about, whatever the rules allow.
            chat.approve = { _ in ApprovalAnswer(isAllowed: true) }
            let answer = try await Caller.$current.withValue(.person(HeadlessInteraction())) {
                try await chat.ask("Run the tests!")
            }
            #expect(chat.calls == ["ls", "fs_read", "bash_run"])
            #expect(answer.has("`make test`") && answer.has("checking"))
            #expect(answer.has(code == 0 ? "succeeded" : "**failed** with exit code 2"))
        }
    }

    @Test(
        "how tests are run is found by looking",
        arguments: [
            ("Cargo.toml", "cargo test"), ("go.mod", "go test ./..."), ("pyproject.toml", "python3 -m pytest"),
            ("Package.swift", "swift test"), ("package.json", "npm test"),
        ])
    func commands(file: String, command: String) async throws {
        try await withConversation { chat in
            chat.policy = ApprovalPolicy(rules: [ApprovalRule(.deny, tool: "bash.run")])
            try chat.write(file, "{\"scripts\": {\"test\": \"node test.js\"}}\n")
            let answer = try await chat.ask("does it pass its tests? run the test suite")
            #expect(answer.has("`\(command)`"))
            #expect(chat.messages.flatMap(\.calls).contains { $0.input["command"]?.string == command })
        }
    }

    @Test("a plan is shown first and carried out when it is told to go on")
    func planning() async throws {
        try await withConversation { chat in
            try chat.write("a.txt", "TODO x\n")
            let plan = try await chat.ask("Make a plan to find the TODOs, mark the first as done and read a.txt")
            #expect(plan.has("1. Look for TODO and FIXME\n2. Mark the first TODO as done\n3. Read `a.txt`"))
            #expect(chat.calls.isEmpty)
            let answer = try await chat.ask("go on")
            #expect(try chat.text("a.txt") == "DONE x\n")
            #expect(answer.has("### 3. Read `a.txt`") && answer.has("```txt\nDONE x\n```"))
        }
    }

    @Test("a plan that is to be carried out at once is")
    func planningAtOnce() async throws {
        try await withConversation { chat in
            try chat.write("a.txt", "TODO x\n")
            try await chat.ask("make a plan to mark the first TODO as done, and then carry it out")
            #expect(try chat.text("a.txt") == "DONE x\n")
        }
    }

    @Test("a tool that is not offered is named")
    func missingTool() async throws {
        try await withConversation(offering: .reading) { chat in
            try chat.write("a.txt", "TODO x\n")
            #expect(try await chat.ask("mark the TODO in a.txt line 1 as done").has("`multi.edit`"))
            #expect(try await chat.ask("run the tests").has("`bash.run`"))
        }
        #expect(try await answer("find the TODOs").answer.message.text.has("`grep.search`"))
    }

    @Test(
        "what it cannot do gets an honest answer",
        arguments: [
            "Write me a poem about autumn", "hello", "What is the capital of France?", "help", "", "fix the build",
        ])
    func help(question: String) async throws {
        let said = try await answer(question).answer.message.text
        #expect(said.has("no weights and no network") && said.has("martlet auth secret set openai"))
        #expect(said.has("OPENAI_API_KEY"))
    }

    @Test("what it can do is told at length once, and again when it is asked for")
    func helpOnce() async throws {
        try await withConversation(offering: .reading) { chat in
            let first = try await chat.ask("tell me a joke")
            let second = try await chat.ask("and another one")
            #expect(first.has("What you can say") && !second.has("What you can say"))
            #expect(second.has("no weights and no network") && second.has("OPENAI_API_KEY"))
            #expect(try await chat.ask("help").has("What you can say"))
        }
    }

    @Test("one of the TODOs is shown with the lines around it")
    func showing() async throws {
        try await withConversation { chat in
            try chat.write("a.txt", (1...30).map { $0 == 20 ? "TODO here\n" : "line \($0)\n" }.joined())
            let answer = try await chat.ask("show the first TODO")
            #expect(answer.has("lines 15 to 25") && answer.has("line 19\nTODO here\nline 21"))
        }
    }

    @Test("a client's own tool is called with exactly what was said, and its answer is told")
    func ownTool() async throws {
        let asked = try await answer(
            "use weather.now with {\"city\": \"Oslo; and then\", \"days\": 3}", tools: ["weather_now"])
        let call = try #require(asked.answer.message.calls.first)
        #expect(call.name == "weather_now" && call.input == ["city": "Oslo; and then", "days": 3])
        #expect(asked.answer.finish == .calls && asked.events.contains(.call(call)))
        let tools = [ToolDescription(name: "weather_now", summary: "", input: [:], effect: .reads)]
        let messages = [
            Message(.user, "use weather.now with {\"city\": \"Oslo; and then\", \"days\": 3}"), asked.answer.message,
            Message(.tool, [.result(ToolResult(call: call.id, content: "rain"))]),
        ]
        let end = try await OfflineModel().answer(ChatRequest(model: "", messages: messages, tools: tools)) { _ in }
        #expect(end.finish == .stop && end.message.text.has("rain"))
        #expect(try await answer("use nothing with {}", tools: ["a"]).answer.message.text.has("not offered"))
    }

    @Test("a text is repeated as it is")
    func repeating() async throws {
        let text = "find the TODOs; \"and\"\n  then {\"x\": 1}"
        #expect(try await answer("repeat: \(text)").answer.message.text == text)
    }

    @Test("names of tools may have dots or underscores", arguments: ["grep.search", "grep_search", "Grep-Search"])
    func names(name: String) async throws {
        #expect(try await answer("find the TODOs", tools: [name]).answer.message.calls.map(\.name) == [name])
    }
}

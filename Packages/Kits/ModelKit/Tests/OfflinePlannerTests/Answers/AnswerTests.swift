import Capabilities
import FileKit
import JSON
import OfflinePlanner
import Synchronization
import Testing
import ToolKit
import TurnLoop

@Suite("Answers of the offline model")
struct AnswerTests {
    @Test("A repository is summarised from its file names and README")
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

    @Test("Lines of a file are quoted unchanged")
    func reading() async throws {
        try await withConversation { chat in
            try chat.write("a.swift", (1...30).map { "let x\($0) = \"```\"\n" }.joined())
            let answer = try await chat.ask("quote lines 3 to 5 of a.swift")
            #expect(answer.has("lines 3 to 5"))
            #expect(answer.has("````swift\nlet x3 = \"```\"\nlet x4 = \"```\"\nlet x5 = \"```\"\n````"))
            #expect(try await chat.ask("show a.swift:7").has("line 7"))
            #expect(try await chat.ask("and b.swift?").has("` failed: `"))
        }
    }

    @Test("A follow-up question changes the place or the name")
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

    @Test("The project's own tests run, and their result is shown", arguments: [0, 3])
    func tests(code: Int) async throws {
        try await withConversation { chat in
            try chat.write(
                "Makefile", "all:\n\techo no\n\ntest: \n\t@echo checking; echo error: of a kind >&2; exit \(code)\n")
            // Without a sandbox each command needs approval, whatever the rules allow.
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
        "The command for tests is found in the project's files",
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

    @Test("A plan is shown first and carried out after 'go on'")
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

    @Test("A plan is carried out at once on request")
    func planningAtOnce() async throws {
        try await withConversation { chat in
            try chat.write("a.txt", "TODO x\n")
            try await chat.ask("make a plan to mark the first TODO as done, and then carry it out")
            #expect(try chat.text("a.txt") == "DONE x\n")
        }
    }

    @Test("A missing tool is named")
    func missingTool() async throws {
        try await withConversation(offering: .reading) { chat in
            try chat.write("a.txt", "TODO x\n")
            #expect(try await chat.ask("mark the TODO in a.txt line 1 as done").has("`multi.edit`"))
            #expect(try await chat.ask("run the tests").has("`bash.run`"))
        }
        #expect(try await answer("find the TODOs").answer.message.text.has("`grep.search`"))
    }

    @Test(
        "A message that it cannot handle gets an explanation",
        arguments: [
            "Write me a poem about autumn", "hello", "What is the capital of France?", "help", "", "fix the build",
        ])
    func help(question: String) async throws {
        let said = try await answer(question).answer.message.text
        #expect(said.has("not a language model") && said.has("martlet auth secret set openai"))
        #expect(said.has("OPENAI_API_KEY"))
    }

    @Test("The full help is shown once, and again on request")
    func helpOnce() async throws {
        try await withConversation(offering: .reading) { chat in
            let first = try await chat.ask("tell me a joke")
            let second = try await chat.ask("and another one")
            #expect(first.has("What you can say") && !second.has("What you can say"))
            #expect(second.has("not a language model") && second.has("OPENAI_API_KEY"))
            #expect(try await chat.ask("help").has("What you can say"))
        }
    }

    @Test("A TODO is shown with its surrounding lines")
    func showing() async throws {
        try await withConversation { chat in
            try chat.write("a.txt", (1...30).map { $0 == 20 ? "TODO here\n" : "line \($0)\n" }.joined())
            let answer = try await chat.ask("show the first TODO")
            #expect(answer.has("lines 15 to 25") && answer.has("line 19\nTODO here\nline 21"))
        }
    }

    @Test("A client's own tool is called with exactly the given input, and its result is shown")
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
        let end = try await PlannerModel().answer(ChatRequest(model: "", messages: messages, tools: tools)) { _ in }
        #expect(end.finish == .stop && end.message.text.has("rain"))
        #expect(try await answer("use nothing with {}", tools: ["a"]).answer.message.text.has("not available"))
    }

    @Test("A text is repeated unchanged")
    func repeating() async throws {
        let text = "find the TODOs; \"and\"\n  then {\"x\": 1}"
        #expect(try await answer("repeat: \(text)").answer.message.text == text)
    }

    @Test("Names of tools can have dots or underscores", arguments: ["grep.search", "grep_search", "Grep-Search"])
    func names(name: String) async throws {
        #expect(try await answer("find the TODOs", tools: [name]).answer.message.calls.map(\.name) == [name])
    }
}

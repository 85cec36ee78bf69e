import Capabilities
import Testing
import TurnLoop

@Suite("Edits by the offline model")
struct EditingTests {
    @Test("A TODO that says what to replace is carried out and removed")
    func literalFix() async throws {
        try await withConversation { chat in
            try chat.write("main.swift", "// TODO: replace \"helo\" by \"hello\"\nprint(\"helo\")\n")
            let answer = try await chat.ask("Find the TODOs and fix the first.")
            #expect(try chat.text("main.swift") == "print(\"hello\")\n")
            #expect(answer.has("says what to do"))
            #expect(answer.has("+print(\"hello\")"))
            // One edit, which does not change the text of the TODO first.
            #expect(!answer.has("replace \"hello\" by \"hello\""))
        }
    }

    @Test("A TODO after code is removed, and the code stays")
    func trailingFix() async throws {
        try await withConversation { chat in
            try chat.write("a.py", "x = 1\ncolour = 'gray'  # TODO(ada): change gray to grey\ny = 2\n")
            try await chat.ask("fix the TODO in a.py line 2")
            #expect(try chat.text("a.py") == "x = 1\ncolour = 'grey'\ny = 2\n")
        }
    }

    @Test("A TODO that needs a programmer is previewed as done, and 'apply it' makes the change")
    func proposal() async throws {
        try await withConversation { chat in
            let before = "func run() {\n    // TODO: make it fast\n}\n"
            try chat.write("run.swift", before)
            let answer = try await chat.ask("find the TODOs, then fix the first")
            #expect(try chat.text("run.swift") == before)
            #expect(answer.has("not a language model") && answer.has("apply it"))
            try await chat.ask("apply it")
            #expect(try chat.text("run.swift") == "func run() {\n    // DONE: make it fast\n}\n")
        }
    }

    @Test("Marking by file and line changes that line, even among equal lines")
    func equalLines() async throws {
        try await withConversation { chat in
            let lines = Array(repeating: "    // TODO: same", count: 5)
            try chat.write("a.swift", lines.joined(separator: "\n") + "\n")
            let answer = try await chat.ask("mark the TODO in a.swift line 3 as done")
            let now = try chat.text("a.swift").split(separator: "\n").map(String.init)
            if now[2].contains("DONE") {
                #expect(now.count { $0.contains("DONE") } == 1)
            } else {
                #expect(answer.has("repeat and I cannot tell them apart"))
                #expect(now == lines)
            }
        }
    }

    @Test("A replacement changes all places in a file, or in all files")
    func replacing() async throws {
        try await withConversation { chat in
            try chat.write("a.txt", "old old\nnew\nold\n")
            try chat.write("Sources/b.txt", "an old thing\n")
            try await chat.ask("replace old by young in a.txt")
            #expect(try chat.text("a.txt") == "young young\nnew\nyoung\n")
            #expect(try chat.text("Sources/b.txt") == "an old thing\n")
            try chat.write("a.txt", "old\n")
            try await chat.ask("rename \"old\" to \"very old\" everywhere")
            #expect(try chat.text("a.txt") == "very old\n")
            #expect(try chat.text("Sources/b.txt") == "an very old thing\n")
        }
    }

    @Test("A preview changes nothing until it is applied")
    func preview() async throws {
        try await withConversation { chat in
            try chat.write("a.txt", "one two\n")
            let answer = try await chat.ask("preview replacing `two` by `three` in a.txt")
            #expect(answer.has("+one three") && answer.has("nothing is written"))
            #expect(try chat.text("a.txt") == "one two\n")
            try await chat.ask("Yes, apply it!")
            #expect(try chat.text("a.txt") == "one three\n")
        }
    }

    @Test(
        "A line is added at the named place",
        arguments: [
            ("add a line \"new\" to a.txt", "1\n2\n3\nnew\n"), ("append \"new\" to a.txt", "1\n2\n3\nnew\n"),
            ("add \"new\" to a.txt at the top", "new\n1\n2\n3\n"), ("insert `new` after line 2 of a.txt", "1\n2\n3\n"),
            ("insert `new` in a.txt after line 2", "1\n2\nnew\n3\n"),
            ("insert `new` in a.txt before line 2", "1\nnew\n2\n3\n"), ("remove line 2 of a.txt", "1\n3\n"),
            ("delete lines 1 to 2 from a.txt", "3\n"), ("remove line 3 from a.txt", "1\n2\n"),
        ])
    func lines(order: String, expected: String) async throws {
        try await withConversation { chat in
            try chat.write("a.txt", "1\n2\n3\n")
            try await chat.ask(order)
            let wanted = order.contains("after line 2 of") ? "1\n2\nnew\n3\n" : expected
            #expect(try chat.text("a.txt") == wanted)
        }
    }

    @Test("A line is added at the end of 3,000 equal lines, or the answer says why not")
    func longFile() async throws {
        try await withConversation { chat in
            try chat.write("a.txt", (1...3000).map { "line \($0)\n" }.joined())
            try await chat.ask("add a line \"the end\" to a.txt")
            #expect(try chat.text("a.txt").hasSuffix("line 3000\nthe end\n"))
        }
    }

    @Test("A file is created with the given content and never overwrites another")
    func creating() async throws {
        try await withConversation { chat in
            try await chat.ask("create notes/NOTES.md with \"# Notes\"")
            #expect(try chat.text("notes/NOTES.md") == "# Notes\n")
            let answer = try await chat.ask("create notes/NOTES.md with \"nothing\"")
            #expect(answer.has("already exists"))
            #expect(try chat.text("notes/NOTES.md") == "# Notes\n")
            try await chat.ask("overwrite notes/NOTES.md with:\n\nfirst; then\nsecond")
            #expect(try chat.text("notes/NOTES.md") == "\nfirst; then\nsecond\n")
            try await chat.ask("create x.py with\n```python\nprint(1)\nprint(2)\n```\nthen read x.py")
            #expect(try chat.text("x.py") == "print(1)\nprint(2)\n")
        }
    }

    @Test("A denied edit is not retried, and the rest of the plan is skipped")
    func denied() async throws {
        try await withConversation { chat in
            chat.policy = ApprovalPolicy(rules: [])
            try chat.write("a.txt", "TODO one\n")
            let answer = try await chat.ask("find the TODOs, mark the first as done, then read a.txt")
            #expect(try chat.text("a.txt") == "TODO one\n")
            #expect(answer.has("was denied") && answer.has("these steps were not done"))
            #expect(chat.calls.count { $0 == "multi_edit" } == 1)
            #expect(chat.calls.count { $0 == "fs_read" } == 1)
        }
    }

    @Test("A tool's error is quoted, and the next step runs")
    func toolError() async throws {
        try await withConversation { chat in
            try chat.write("a.txt", "one\n")
            let answer = try await chat.ask("replace \"nowhere\" by \"x\" in a.txt; read a.txt; read missing.txt")
            #expect(answer.has("` failed: `"))
            #expect(answer.has("```txt\none\n```"))
            #expect(answer.has("missing.txt"))
            #expect(try chat.text("a.txt") == "one\n")
        }
    }
}

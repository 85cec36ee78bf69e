import JSON
import Testing

@Suite("A list with nothing in it", .timeLimit(.minutes(5)))
struct ListTests {
    @Test(
        "says so to a person, and is an empty list for a program",
        arguments: [
            "chat list", "chat list --deleted", "chat list --model none", "chat search nothing", "chat approvals",
            "chat usage", "gateway project list", "gateway project list --search none",
            "gateway session list", "gateway usage", "auth status", "auth server list", "auth secret list",
            "auth trust list",
        ])
    func empty(words: String) async throws {
        try await withHome { home in
            let words = words.split(separator: " ").map(String.init)
            let shown = try await Program.martlet.run(words, home: home)
            #expect(shown.code == 0 && shown.output.isEmpty, "\(shown.output)")
            #expect(shown.errors.split(separator: "\n").count == 1, "\(shown.errors)")
            let told = try await Program.martlet.run(words + ["--json", "--quiet"], home: home)
            #expect(try told.output.json() == [] && told.errors.isEmpty, "\(told.errors)")
        }
    }

    @Test("that is not empty is a table in a window of 80 columns") func tables() async throws {
        try await withHome { home in
            try write("name: a-bundle-with-a-long-name\nsteps: [{action: version}]\n", to: "\(home)/b.yaml")
            _ = try await Program.martlet.run(["run", "b.yaml"], home: home)
            _ = try await Program.martlet.run(["ask", "What is here, and what is it good for?"], home: home)
            let lists = ["runs list", "chat list", "gateway session list", "gateway project list"]
            let script = lists.map { "$M --color never \($0)" }.joined(separator: "; ")
            try await Conversation.with(.martlet, "stty rows 24 cols 80; \(script); echo end", home: home) { talk in
                try await talk.wait(for: "end\r\n")
                let heads = talk.shown.split(whereSeparator: \.isNewline).filter { $0.contains("ID  ") }
                #expect(heads.count == lists.count, "\(talk.shown)")
                #expect(heads.allSatisfy { $0.contains("NAME") || $0.contains("TITLE") }, "\(talk.shown)")
            }
        }
    }

    @Test("shows money with a currency, and what it cannot count in words") func money() async throws {
        try await withHome { home in
            _ = try await Program.martlet.run(["ask", "hello", "--no-input"], home: home)
            for words in [["chat", "usage"], ["gateway", "usage"]] {
                let shown = try await Program.martlet.run(words, home: home)
                #expect(shown.output.contains("COST") && shown.output.contains("$0.00"), "\(shown.output)")
                #expect(!shown.output.contains("USD") && !shown.output.contains("UNPRICED"), "\(shown.output)")
            }
            let models = try await Program.martlet.run(["chat", "models"], home: home)
            #expect(models.output.contains("$0.00"), "\(models.output)")
        }
    }
}

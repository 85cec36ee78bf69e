import Capabilities
import CoreTesting
import HostTesting
import JSON
import Registry
import Testing

@testable import ShellFrontend

@Suite("Plain shell", .timeLimit(.minutes(5)))
struct PlainShellTests {
    /// What the shell prints for commands and choices in this order, and what it still would have asked.
    private func printed(
        _ commands: [String], choosing choices: [String] = [], _ others: [String: [JSON]] = [:],
        showing screen: String? = "library.books", _ arguments: JSONObject = [:]
    ) async throws -> (text: String, person: ScriptedPerson) {
        let person = ScriptedPerson(
            others.merging([
                "shell.command": commands.map { .string($0) }, "shell.choice": choices.map { .string($0) },
            ]) { $1 })
        let text = try await TestWorkbench.run([ShellFeature.self, LibraryFeature.self]) { bench in
            bench.person = person
            var given: JSONObject = ["plain": true]
            if let screen { given["screen"] = .string(screen) }
            if !arguments.isEmpty { given["arguments"] = .object(arguments) }
            let output = RecordingOutput()
            try await bench.perform("shell.open", given, to: output)
            return output.text
        }
        #expect(person.left == 0, "\(person.prompts)")
        return (text, person)
    }

    @Test("Rows have numbers, and a number offers what can be done with its row")
    func rows() async throws {
        let (text, person) = try await printed(["2", "/quit"], choosing: ["Lend"], ["library.lend.to": ["Ada"]])
        #expect(text.hasPrefix("Books\nTITLE, YEAR\n1: Emma, 1815\n2: Persuasion, 1817\n3: Sanditon, 1817\n"))
        #expect(text.hasSuffix("Persuasion is with Ada\n"))
        #expect(person.asked == ["shell.command", "shell.choice", "library.lend.to", "shell.command"])
    }

    @Test("A detail is shown, /back returns, and the end of the input ends the shell")
    func back() async throws {
        let (text, _) = try await printed(["1", "/back"], choosing: ["Nothing"])
        #expect(text.components(of: "TITLE, YEAR") == 2)
        let (tabs, _) = try await printed(
            ["/tabs", "/quit"], choosing: ["News (home)", "Readers (tab Shelf)"], showing: nil)
        #expect(tabs.contains("No news") && tabs.contains("No readers"))
    }

    @Test("Text is sent where the screen takes one, and printed in whole lines")
    func composer() async throws {
        let (text, _) = try await printed(["hello, Ada", "/quit"], showing: "library.talk", ["with": "Ada"])
        #expect(text == "Talk\nWelcome\nSay something\nYou said hello, Ada\nand no more\n")
    }

    @Test("A text after ! goes to the action for commands")
    func command() async throws {
        let (text, _) = try await printed(["!emma", "/quit"], showing: "library.talk", ["with": "Ada"])
        #expect(text.hasSuffix("shelved emma\n"))
    }

    @Test("A file that the text names goes along with it, and a word that names none does not")
    func mentions() async throws {
        let text = try await TestWorkbench.run([ShellFeature.self, LibraryFeature.self]) { bench in
            try bench.write("x", to: "\(bench.folder)/a.txt")
            bench.person = ScriptedPerson(["shell.command": ["read @a.txt, @alice", "/quit"]])
            let output = RecordingOutput()
            try await bench.perform(
                "shell.open", ["plain": true, "screen": "library.talk", "arguments": ["with": "Ada"]], to: output)
            #expect(output.notices == ["attaching a.txt"])
            return output.text
        }
        #expect(text.contains("You said read @a.txt, @alice with a.txt\nand no more\n"))
    }

    @Test("A form asks for what has to be entered and keeps the rest, and a row leads to its detail")
    func form() async throws {
        let (text, _) = try await printed(
            ["1", "/quit"], choosing: ["Lend"], ["library.lend.to": ["Grace"]], showing: "library.card")
        #expect(text.contains("Emma is with Grace"))
        let (detail, _) = try await printed(["1", "/quit"], choosing: ["Book"], showing: "library.books")
        #expect(detail.contains("Emma, a novel"))
    }

    @Test("An action is found by letters; what fits nothing, a row that is not there and a failure are said")
    func find() async throws {
        let (text, _) = try await printed(
            ["/do burn", "qqqq", "9", "/quit"], choosing: ["Burn a book (library.burn)"],
            ["library.burn.title": ["Emma"]])
        // Nobody agrees to burn it.
        #expect(text.contains("there is nobody to answer") || text.contains("nothing was changed"))
        #expect(text.contains("nothing fits 'qqqq'") && text.contains("there is no row 9"))
    }

    @Test("Announcements are at most one a second, and nothing is lost")
    func pace() async throws {
        let time = MovableTime()
        let output = RecordingOutput()
        try await TestWorkbench.run([ShellFeature.self, LibraryFeature.self]) { bench in
            bench.time = time
            bench.person = ScriptedPerson(["shell.command": ["one", "/quit"]])
            try await bench.perform(
                "shell.open", ["plain": true, "screen": "library.talk", "arguments": ["with": "Ada"]], to: output)
        }
        // The clock stands still: one line at once, the rest at the end.
        #expect(output.events.compactMap(\.text).dropFirst() == ["You said one\n", "and no more\n"])
    }

    @Test("A screen that fails is said, and the shell goes on")
    func failing() async throws {
        let (text, _) = try await printed(["/back", "/quit"], showing: "library.book")
        #expect(text.contains("title") && text.contains("is missing"))
    }

    @Test("Only a person opens it")
    func onlyPerson() async throws {
        try await TestWorkbench.run([ShellFeature.self, LibraryFeature.self]) { bench in
            try await bench.open { session in
                let other = Caller.person(ScriptedPerson()).narrowed(
                    by: Grant(Grant.Layer(.bundle("night"), actions: ["shell.open"])))
                await #expect(throws: ShellFailure.notAPerson) {
                    try await session.session.perform(
                        "shell.open", ["plain": true], as: other, output: RecordingOutput())
                }
            }
        }
    }
}

extension String {
    /// How often a text occurs.
    fileprivate func components(of text: String) -> Int {
        var count = 0
        var rest = self[...]
        while let start = rest.indices.first(where: { rest[$0...].hasPrefix(text) }) {
            count += 1
            rest = rest[start...].dropFirst(text.count)
        }
        return count
    }
}

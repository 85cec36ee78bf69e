import Glibc
import HostKit
import Registry
import TerminalKit
import Testing

@testable import CommandLineFrontend

@Suite("Live output", .serialized, .enabled(if: Console.isInstalled, "needs tmux"), .timeLimit(.minutes(5)))
struct LiveOutputTests {
    /// Runs a command on a terminal with input typed in advance; returns the rows that tmux shows.
    private func shown(
        _ words: String, typed: String = "", replying reply: (prompt: String, typed: String)? = nil, code: Int32 = 0
    ) async throws -> [String] {
        let terminal = try ConsoleTerminal(typed: typed)
        async let output = terminal.output(replying: reply)
        await #expect(processExitsWith: .exitCode(code)) { [words = words as String, path = terminal.path as String] in
            try Console.adopt(path)
            let program = CommandLineProgram(
                name: "martlet", version: "1.0", features: [BuiltInFeature(AnswerFeature.self)])
            let code = await MainActor.run { program.run(["martlet"] + words.split(separator: " ").map(String.init)) }
            Console.finish()
            exit(code)
        }
        return try Console.screen(try await Self.withoutMarks(output))
    }

    /// Removes the paste marks, which old emulators would show as text.
    private static func withoutMarks(_ output: String) -> String {
        output.replacing("\u{1B}[?2004h", with: "").replacing("\u{1B}[?2004l", with: "")
    }

    private func drawn(_ text: String) -> [String] {
        Markdown.render(text, width: 39, level: .ansi256).map { line in
            String(line.plainText.reversed().drop { $0 == " " }.reversed())
        }
    }

    @Test("A streamed answer with a table, a list and code looks as if it had arrived at once")
    func stream() async throws {
        #expect(try await shown("answer stream") == drawn(AnswerFeature.text))
    }

    @Test("Rows and notices begin on their own line")
    func rows() async throws {
        #expect(try await shown("answer rows") == ["before it", "⚙ read *.md", "after it", "a notice", "end"])
    }

    @Test("A clear event empties the window, and does nothing elsewhere")
    func clear() async throws {
        #expect(try await shown("answer clear").contains("after it"))
        #expect(try await shown("answer clear").last == "after it")
        let exit = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
            let program = CommandLineProgram(
                name: "martlet", version: "1.0", features: [BuiltInFeature(AnswerFeature.self)])
            let code = await MainActor.run { program.run(["martlet", "answer", "clear"]) }
            precondition(code == 0)
        }
        let output = String(decoding: try #require(exit).standardOutputContent, as: UTF8.self)
        #expect(output.contains("before *it*after **it**") && !output.contains("\u{1B}"))
    }

    @Test("Steps are redrawn in place: notices come above them, questions and text below their last state")
    func work() async throws {
        let rows = try await shown("answer work", typed: "Anna\n")
        #expect(
            rows == [
                "this takes long", "✔ fetch", "▶ ask", "2 steps", "Name: Anna", "✔ fetch", "✔ ask", "2 steps",
                "Hello Anna",
            ])
    }

    @Test("Output ends before a question and continues after it")
    func question() async throws {
        let rows = try await shown("answer ask", typed: "Anna\n")
        #expect(rows == ["Who are you?", "Name: Anna", "Hello Anna"])
    }

    // sandbox cases 71 and 86
    @Test(
        "Text from others in a question is shown in full, and input typed before the question is not taken as the answer"
    )
    func hidden() async throws {
        let rows = try await shown("answer hide", typed: "1\n", replying: ("Number: ", "2\n"))
        #expect(
            rows == [
                #"Run it\u{202E}\u{200F}?"#, #"  1  rm\u{200B} -rf\u{E0041}"#, "  2  no", "Number: 2", "1",
            ])
    }

    @Test("A conversation follows the person line by line until the input ends")
    func composition() async throws {
        let rows = try await shown("answer compose", typed: "one\\\ntwo\n\u{04}")
        #expect(rows == ["you › one", "      two", "You said:", "", "│ one two", "you ›"])
    }

    @Test("An interrupted answer keeps what has arrived")
    func interrupted() async throws {
        let rows = try await shown("answer stop", code: 130)
        #expect(rows.starts(with: ["This much", ""]) && rows.contains { $0.contains("was **said") })
    }

    @Test("After an interruption, typed input is not left to the shell")
    func discarded() async throws {
        let terminal = try ConsoleTerminal(typed: "rm -r x\n")
        #expect(terminal.hasTyping(limit: 20_000))
        async let output = terminal.output()
        await #expect(processExitsWith: .exitCode(130)) { [path = terminal.path as String] in
            try Console.adopt(path)
            let program = CommandLineProgram(
                name: "martlet", version: "1.0", features: [BuiltInFeature(AnswerFeature.self)])
            let code = await MainActor.run { program.run(["martlet", "answer", "stop"]) }
            Console.finish()
            exit(code)
        }
        _ = try await output
        #expect(!terminal.hasTyping())
    }

    @Test("Piped or colourless output is the raw text", arguments: ["", "--color=never"])
    func raw(option: String) async throws {
        let exit = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
            [option = option as String] in
            let program = CommandLineProgram(
                name: "martlet", version: "1.0", features: [BuiltInFeature(AnswerFeature.self)])
            let words = ["martlet", "answer", "stream"] + (option.isEmpty ? [] : [option])
            let code = await MainActor.run { program.run(words) }
            precondition(code == 0)
        }
        let output = String(decoding: try #require(exit).standardOutputContent, as: UTF8.self)
        #expect(output.contains(AnswerFeature.text))
    }

    @Test(
        "An answer stays on the screen while the progress line runs, with and without colours",
        arguments: ["answer slow", "answer slow --color=never"])
    func progress(words: String) async throws {
        #expect(try await shown(words).joined(separator: " ") == "The first words of a line and its end another")
    }

    @Test("An answer that reaches the terminal through a pipe stays on the screen")
    func piped() async throws {
        let terminal = try ConsoleTerminal()
        async let output = terminal.output()
        await #expect(processExitsWith: .success) { [path = terminal.path as String] in
            try Console.adopt(path)
            guard let pipe = unsafe popen("cat", "w") else { exit(1) }
            _ = unsafe dup2(fileno(pipe), 1)
            let program = CommandLineProgram(
                name: "martlet", version: "1.0", features: [BuiltInFeature(AnswerFeature.self)])
            let code = await MainActor.run { program.run(["martlet", "answer", "slow"]) }
            close(1)
            _ = unsafe pclose(pipe)
            var end = Console.end
            _ = unsafe write(2, &end, 1)
            exit(code)
        }
        #expect(try Console.screen(try await output) == ["The first words of a line and its end", "another"])
    }

    @Test("Output on a terminal without colours is the raw text")
    func colourless() async throws {
        let rows = try await shown("answer rows --color=never")
        #expect(rows.first?.hasPrefix("before *it*") == true)
    }
}

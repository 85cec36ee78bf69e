import Glibc
import TerminalTesting
import Testing

@testable import TerminalKit

extension OneTerminal {
    @Suite(.timeLimit(.minutes(5))) struct TerminalInputTests {
        @Test("A line is shown while it is typed, and edited")
        func line() async throws {
            let pty = try PseudoTerminal()
            let before = pty.flags
            async let answer = TerminalInput(path: pty.path).readLine(prompt: "Name: ")
            _ = try await pty.output(upTo: "Name: ")
            #expect(pty.flags != before)
            pty.type("mikz\u{7F}e\r")
            #expect(try await answer == "mike")
            let shown = try await pty.output()
            #expect(screen(after: shown).contains("Name: mike"))
            #expect(pty.flags == before)
        }

        @Test("A secret is not shown, and the terminal is restored")
        func secret() async throws {
            let pty = try PseudoTerminal()
            let before = pty.flags
            async let answer = TerminalInput(path: pty.path).readSecret(prompt: "Token: ")
            let prompt = try await pty.output(upTo: "Token: ")
            pty.type("hunter2\n")
            #expect(try await answer == Array("hunter2".utf8))
            #expect(screen(after: prompt + (try await pty.output())) == ["Token: ", ""])
            #expect(pty.flags == before)
        }

        @Test("A prompt longer than a row is shown whole, with room for the answer after it")
        func longPrompt() async throws {
            let words = "Ollama seems to answer on port 11434 of this machine. Send it what you ask? [y/N] "
            let question = Question(prompt: StyledText(words), isSecret: false, level: .none, theme: .dark)
            var editor = LineEditor(isSecret: false)
            for byte in Array("yes".utf8) { _ = editor.receive(byte) }
            for columns in [40, 80] {
                let shown = question.introduction(columns: columns) + question.display(editor, columns: columns)
                let rows = shown.replacing("\u{1B}[K", with: "").split(separator: "\r\n").map {
                    String($0.drop { $0 == "\r" })
                }
                #expect(rows.joined(separator: " ") == words + "yes")
                #expect(rows.count > 1 && rows.allSatisfy { TextWidth.of($0) < columns }, "\(rows)")
            }
        }

        // sandbox case 86
        @Test("Text typed before a question is not its answer, and is kept for the next reader")
        func typedBefore() async throws {
            let pty = try PseudoTerminal()
            let silence = TypingSilence(path: pty.path)
            silence.begin()
            pty.type("y\rnext")
            silence.end()
            let input = TerminalInput(path: pty.path)
            async let answer = input.unanswered { try await input.readLine(prompt: "Write it? ") }
            _ = try await pty.output(upTo: "Write it? ")
            pty.type("n\r")
            #expect(try await answer == "n")
            #expect(try await input.readLine(prompt: "> ") == "y")
            pty.type("\r")
            #expect(try await input.readLine(prompt: "> ") == "next")
        }

        @Test("The cost of input that was kept follows its length", .timeLimit(.minutes(1)))
        func muchTypedBefore() async throws {
            let pty = try PseudoTerminal()
            let typed = [UInt8](repeating: 0x79, count: 1 << 22)
            TerminalDevice.keep(typed)
            try await TerminalInput(path: pty.path).unanswered {}
            #expect(TerminalDevice.takeKept() == typed)
        }

        @Test("Ctrl-D on an empty line ends the input")
        func end() async throws {
            let pty = try PseudoTerminal()
            async let answer = TerminalInput(path: pty.path).readLine(prompt: "> ")
            _ = try await pty.output(upTo: "> ")
            pty.type("\u{04}")
            #expect(try await answer == nil)
        }

        @Test("Ctrl-C interrupts, and the terminal is restored")
        func interrupted() async throws {
            let pty = try PseudoTerminal()
            let before = pty.flags
            let question = Task { [path = pty.path] in try await TerminalInput(path: path).readSecret(prompt: "> ") }
            _ = try await pty.output(upTo: "> ")
            pty.type("half\u{03}")
            await #expect { _ = try await question.value } throws: { ($0 as? TerminalError)?.kind == .interrupted }
            #expect(pty.flags == before)
        }

        @Test("Cancelling the task cancels the question and restores the terminal")
        func cancelled() async throws {
            let pty = try PseudoTerminal()
            let before = pty.flags
            let question = Task { [path = pty.path] in try await TerminalInput(path: path).readSecret(prompt: "> ") }
            _ = try await pty.output(upTo: "> ")
            question.cancel()
            await #expect { _ = try await question.value } throws: { ($0 as? TerminalError)?.kind == .cancelled }
            #expect(pty.flags == before)
        }

        @Test("A restore from elsewhere ends the question, because the echo is on again")
        func restored() async throws {
            let pty = try PseudoTerminal()
            let before = pty.flags
            let question = Task { [path = pty.path] in try await TerminalInput(path: path).readSecret(prompt: "> ") }
            _ = try await pty.output(upTo: "> ")
            TerminalInput.restore()
            #expect(pty.flags == before)
            await #expect { _ = try await question.value } throws: { ($0 as? TerminalError)?.kind == .interrupted }
            TerminalInput.restore()
        }

        @Test("Only one question is open at a time, and the first is not disturbed")
        func busy() async throws {
            let pty = try PseudoTerminal()
            async let first = TerminalInput(path: pty.path).readLine(prompt: "> ")
            _ = try await pty.output(upTo: "> ")
            await #expect { _ = try await TerminalInput(path: pty.path).readLine(prompt: "? ") } throws: {
                ($0 as? TerminalError)?.kind == .busy
            }
            pty.type("still\n")
            #expect(try await first == "still")
        }

        @Test("A closed terminal ends the read")
        func closed() async throws {
            var pty: PseudoTerminal? = try PseudoTerminal()
            let path = try #require(pty?.path)
            async let answer = TerminalInput(path: path).readLine(prompt: "> ")
            _ = try await pty?.output(upTo: "> ")
            pty = nil
            #expect(try await answer == nil)
        }

        @Test("A file that is not a terminal is refused with an alternative", arguments: ["/dev/null", "/nonexistent"])
        func noTerminal(path: String) async {
            await #expect { _ = try await TerminalInput(path: path).readSecret(prompt: "> ") } throws: {
                ($0 as? TerminalError)?.kind == .notATerminal
            }
        }
    }
}

import Glibc
import TerminalTesting
import Testing

@testable import TerminalKit

extension OneTerminal {
    /// On a real terminal whose other side the test holds.
    @Suite(.timeLimit(.minutes(5))) struct ComposerTests {
        private static let marks = "\u{1B}[?2004h"
        private static let noMarks = "\u{1B}[?2004l"

        @Test("A text is composed, shown and returned, and the terminal is restored")
        func normal() async throws {
            let pty = try PseudoTerminal()
            let before = pty.flags
            async let answer = Composer(path: pty.path).read(prompt: "> ")
            let start = try await pty.output(upTo: "> ")
            #expect(start.hasPrefix(Self.marks) && pty.flags != before)
            pty.type("one\ntwo\\\rthree\r")
            #expect(try await answer == "one\ntwo\nthree")
            let shown = try await pty.output()
            #expect(pty.flags == before)
            #expect(shown.contains(Self.noMarks))
            var screen = VirtualScreen(columns: 80, rows: 24)
            screen.show((start + shown).replacing(Self.marks, with: "").replacing(Self.noMarks, with: ""))
            #expect(screen.lines == ["> one", "  two", "  three"])
            #expect(screen.row == 3 && screen.column == 0)
        }

        @Test("Text typed earlier with the terminal's own Return counts, and the rest is left for the next")
        func typedAhead() async throws {
            let pty = try PseudoTerminal()
            pty.type("first\rsecond\r\u{04}")
            #expect(try await Composer(path: pty.path).read(prompt: "> ") == "first")
            #expect(try await Composer(path: pty.path).read(prompt: "> ") == "second")
            #expect(try await Composer(path: pty.path).read(prompt: "> ") == nil)
        }

        @Test("Ctrl-D ends, a second Ctrl-C interrupts, and both restore the terminal")
        func ends() async throws {
            let pty = try PseudoTerminal()
            let before = pty.flags
            async let answer = Composer(path: pty.path).read(prompt: "> ")
            _ = try await pty.output(upTo: "> ")
            pty.type("x\u{7F}\u{04}")
            #expect(try await answer == nil)
            // Another prompt, because the end of the first one draws its own again.
            let question = Task { [path = pty.path] in try await Composer(path: path).read(prompt: "again: ") }
            _ = try await pty.output(upTo: "again: ")
            pty.type("half\u{03}\u{03}")
            await #expect { _ = try await question.value } throws: { ($0 as? TerminalError)?.kind == .interrupted }
            #expect(pty.flags == before)
        }

        @Test("Cancelling the task ends the composer, leaves the text, and restores the terminal")
        func cancelled() async throws {
            let pty = try PseudoTerminal()
            let before = pty.flags
            let question = Task { [path = pty.path] in try await Composer(path: path).read(prompt: "> ") }
            _ = try await pty.output(upTo: "> ")
            pty.type("half")
            _ = try await pty.output(upTo: "half")
            question.cancel()
            await #expect { _ = try await question.value } throws: { ($0 as? TerminalError)?.kind == .cancelled }
            #expect(pty.flags == before)
            #expect(try await pty.output().contains(Self.noMarks))
        }

        @Test("A closed terminal ends the input")
        func closed() async throws {
            let pty = try PseudoTerminal()
            async let answer = Composer(path: pty.path).read(prompt: "> ")
            _ = try await pty.output(upTo: "> ")
            pty.hangUp()
            #expect(try await answer == nil)
        }

        @Test("Escape alone is a key after a moment, and the following key is separate")
        func escape() async throws {
            let pty = try PseudoTerminal()
            async let answer = Composer(path: pty.path).read(prompt: "> ", history: ["from before"])
            _ = try await pty.output(upTo: "> ")
            pty.type("\u{12}bef")
            _ = try await pty.output(upTo: "before")
            pty.type("\u{1B}")
            // The search is over when its prompt is gone.
            _ = try await pty.output(upTo: "> from before")
            pty.type("\r")
            #expect(try await answer == "from before")
        }

        @Test("A resized window is drawn again")
        func resized() async throws {
            let pty = try PseudoTerminal(columns: 80)
            async let answer = Composer(path: pty.path).read(prompt: "> ")
            _ = try await pty.output(upTo: "> ")
            pty.type("0123456789abcdefghijklm")
            _ = try await pty.output(upTo: "m")
            pty.resize(columns: 20, rows: 24)
            kill(getpid(), SIGWINCH)
            _ = try await pty.output(upTo: "hijklm")
            pty.type("\r")
            #expect(try await answer == "0123456789abcdefghijklm")
        }

        @Test("A dumb terminal edits by itself, and only text is written to it")
        func dumb() async throws {
            let pty = try PseudoTerminal()
            let before = pty.flags
            async let answer = Composer(path: pty.path, isDumb: true).read(prompt: "> ")
            let start = try await pty.output(upTo: "> ")
            #expect(start == "> " && pty.flags == before)
            pty.type("one\u{7F}\u{7F}ne\\\n")
            let more = try await pty.output(upTo: "… ")
            pty.type("two\n")
            #expect(try await answer == "one\ntwo")
            #expect(!(more + (try await pty.output())).contains("\u{1B}"))
            async let end = Composer(path: pty.path, isDumb: true).read(prompt: "> ")
            _ = try await pty.output(upTo: "> ")
            pty.type("\u{04}")
            #expect(try await end == nil)
        }

        @Test("A process terminated while composing restores the terminal and its paste mode")
        func terminated() async throws {
            let pty = try PseudoTerminal()
            let before = pty.flags
            let kill = try Companion {
                let prompt = try pty.blockingOutput(upTo: "asks: ")
                let pid = try TerminalRestoreTests.asker(prompt)
                guard Glibc.kill(pid, SIGTERM) == 0 else { throw TestTerminalError(message: "kill: \(errno)") }
                return try pty.blockingOutput(upTo: Self.noMarks)
            }
            await #expect(processExitsWith: .signal(SIGTERM)) { [path = pty.path as String] in
                try TerminalRestoreTests.adopt(path)
                await TerminalRestoreTests.untilKilled {
                    _ = try await Composer().read(prompt: StyledText("process \(getpid()) asks: "))
                }
            }
            _ = try kill.value()
            #expect(pty.flags == before)
        }
    }
}

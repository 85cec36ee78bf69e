import Glibc
import TerminalTesting
import Testing

@testable import TerminalKit

extension OneTerminal {
    @Suite(.timeLimit(.minutes(5))) struct TypingSilenceTests {
        private func has(_ flag: Int32, _ pty: PseudoTerminal) -> Bool { pty.flags[0] & tcflag_t(flag) != 0 }

        @Test("Typing is not shown during a silence, and signal keys still work")
        func silence() async throws {
            let pty = try PseudoTerminal()
            let before = pty.flags
            let silence = TypingSilence(path: pty.path)
            silence.begin()
            silence.begin()
            #expect(!has(ECHO, pty) && has(ISIG, pty))
            pty.type("secret\n")
            #expect(try await pty.output() == "")
            silence.end()
            #expect(pty.flags == before)
            silence.end()
            #expect(pty.flags == before)
        }

        @Test("Text typed during a silence goes to the next composer, whatever its length and deletions")
        func kept() async throws {
            let pty = try PseudoTerminal()
            let silence = TypingSilence(path: pty.path)
            silence.begin()
            pty.type("the nexz\u{7F}t")
            pty.type(" question\rand another")
            silence.end()
            #expect(try await Composer(path: pty.path).read(prompt: "> ") == "the next question")
            async let second = Composer(path: pty.path).read(prompt: "second> ")
            _ = try await pty.output(upTo: "and another")
            pty.type("!\r")
            #expect(try await second == "and another!")
        }

        @Test("Ctrl-C stops an answer and leaves the typed text for the next composer")
        func interrupted() throws {
            let pty = try PseudoTerminal()
            let silence = TypingSilence(path: pty.path)
            silence.begin()
            defer { silence.end() }
            #expect(has(NOFLSH, pty))
        }

        @Test("A silence can begin again, and ends with its holder")
        func again() throws {
            let pty = try PseudoTerminal()
            let before = pty.flags
            do {
                let silence = TypingSilence(path: pty.path)
                for _ in 0..<3 {
                    silence.begin()
                    #expect(!has(ECHO, pty))
                    silence.end()
                    #expect(has(ECHO, pty))
                }
                silence.begin()
            }
            #expect(pty.flags == before)
        }

        @Test("An impossible silence changes nothing and is not an error")
        func impossible() throws {
            let (first, second) = (try PseudoTerminal(), try PseudoTerminal())
            let before = second.flags
            let (holding, late) = (TypingSilence(path: first.path), TypingSilence(path: second.path))
            holding.begin()
            late.begin()
            #expect(second.flags == before)
            TypingSilence(path: "/dev/null").begin()
            TypingSilence(path: "/nonexistent").begin()
            holding.end()
            late.end()
            late.begin()
            #expect(!has(ECHO, second))
            late.end()
            #expect(second.flags == before)
        }

        @Test("The terminal is restored from a silence as from a question")
        func restored() throws {
            let pty = try PseudoTerminal()
            let before = pty.flags
            let silence = TypingSilence(path: pty.path)
            silence.begin()
            TerminalInput.restore()
            #expect(pty.flags == before)
            silence.end()
            #expect(pty.flags == before)
        }
    }
}

import Glibc
import LoopKit
import TerminalTesting
import Testing

@testable import TerminalKit

@Suite struct TerminalBackgroundTests {
    @Test(
        "The last number of COLORFGBG is the background",
        arguments: [
            ("15;0", TerminalBackground.dark), ("0;15", .light), ("12;default;7", .light), ("7;8", .dark), ("", nil),
            ("default", nil), ("1;99", nil),
        ])
    func environment(value: String, expected: TerminalBackground?) {
        #expect(TerminalBackground(environment: ["COLORFGBG": value]) == expected)
        #expect(TerminalBackground(environment: [:]) == nil)
    }

    @Test(
        "Answers of one to four digits are read, and others are not",
        arguments: [
            ("rgb:ffff/ffff/ffff", TerminalBackground.light), ("rgb:f/f/f", .light), ("rgb:00/2b/36", .dark),
            ("rgba:fdfd/f6f6/e3e3/ffff", .light), ("rgb:000/fff/000", .light), ("rgb:0000/0000/ffff", .dark),
            ("rgb:00/2b", nil), ("rgb:fffff/0/0", nil), ("#ffffff", nil), ("rgb:x/y/z", nil), ("", nil),
        ])
    func replies(text: String, expected: TerminalBackground?) {
        #expect(TerminalColor(text).map(TerminalBackground.init) == expected)
    }

    @Test(
        "An answer is told apart from typing before, within and after it",
        arguments: ["\u{07}", "\u{1B}\\"])
    func mixed(end: String) throws {
        let bytes = Array("ab\u{1B}]11;rgb:1e1e/1e1e/1e1e\(end)\u{1B}[Ac\u{1B}[?62;22c".utf8)
        var input = ReplyCollector()
        let replies = bytes.compactMap { input.receive($0) }
        let dark = try #require(TerminalColor("rgb:1e/1e/1e"))
        #expect(replies == [.color(.background, dark), .attributes([62, 22])])
        #expect(input.typed == Array("ab\u{1B}[Ac".utf8))
    }

    @Test("A terminal that answers only the second query is unknown, and keys with Escape are returned")
    func fence() {
        var input = ReplyCollector()
        let replies = "\u{1B}x\u{1B}\u{1B}[?6c".utf8.compactMap { input.receive($0) }
        #expect(replies == [.attributes([6])])
        #expect(input.typed == [0x1B, UInt8(ascii: "x"), 0x1B])
        var endless = ReplyCollector()
        let bytes = Array("\u{1B}]".utf8) + Array(repeating: UInt8(ascii: "y"), count: 1_000)
        for byte in bytes { #expect(endless.receive(byte) == nil) }
        #expect(endless.typed == bytes)
    }
}

extension OneTerminal {
    @Suite(.timeLimit(.minutes(5))) struct BackgroundQueryTests {
        @Test("A terminal is asked once, and typing in the meantime goes to the next composer")
        func answered() async throws {
            let pty = try PseudoTerminal()
            let before = pty.flags
            let query = BackgroundQuery(path: pty.path)
            async let answer = onOwnThread { query.ask(limit: .seconds(60)) }
            _ = try await pty.output(upTo: BackgroundQuery.question)
            pty.type("ty\u{1B}]11;rgb:ffff/ffff/ffff\u{07}p\u{1B}[?1;2ced")
            #expect(try await answer == .known(.light))
            #expect(query.ask() == .known(.light))
            #expect(pty.flags == before)
            async let text = Composer(path: pty.path).read(prompt: "> ")
            _ = try await pty.output(upTo: "typed")
            pty.type("\r")
            #expect(try await text == "typed")
        }

        @Test("A late answer is neither shown nor typed, because the end waits for it")
        func late() async throws {
            let pty = try PseudoTerminal()
            let before = pty.flags
            let query = BackgroundQuery(path: pty.path)
            #expect(query.ask(limit: .milliseconds(1)) == .unknown)
            #expect(pty.flags != before)
            pty.type("\u{1B}]11;rgb:0/0/0\u{07}\u{1B}[?6c")
            query.finish(limit: .seconds(60))
            #expect(query.answer == .known(.dark))
            #expect(pty.flags == before)
            #expect(try await pty.output() == BackgroundQuery.question)
            var pending = pollfd(fd: pty.slave, events: Int16(POLLIN), revents: 0)
            #expect(unsafe poll(&pending, 1, 0) == 0)
        }

        @Test("A terminal with typed input, or with another open question, is not asked")
        func notAsked() async throws {
            let pty = try PseudoTerminal()
            pty.type("ahead")
            #expect(BackgroundQuery(path: pty.path).ask() == .notAsked)
            #expect(BackgroundQuery(path: "/dev/null").ask() == .notAsked)
            let other = try PseudoTerminal()
            let silence = TypingSilence(path: other.path)
            silence.begin()
            #expect(BackgroundQuery(path: other.path).ask() == .notAsked)
            silence.end()
            #expect(try await other.output() == "")
        }
    }
}

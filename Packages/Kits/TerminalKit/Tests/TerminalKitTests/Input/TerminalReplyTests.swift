import Glibc
import LoopKit
import TerminalTesting
import Testing

@testable import TerminalKit

@Suite struct TerminalReplyTests {
    private static let ends: [[UInt8]] = [[0x07], Array("\u{1B}\\".utf8), [0x9C]]

    @Test(
        "4: the background is read with one to four digits, whatever ends the answer",
        arguments: [
            ("rgb:f/8/0", 65_535, 34_952, 0), ("rgb:ff/80/00", 65_535, 32_896, 0),
            ("rgb:fff/800/000", 65_535, 32_775, 0),
            ("rgb:ffff/8000/0000", 65_535, 32_768, 0), ("rgba:ffff/8000/0000/ffff", 65_535, 32_768, 0),
            ("rgba:f/8/0/8", 65_535, 34_952, 0),
        ])
    func background(text: String, red: UInt16, green: UInt16, blue: UInt16) throws {
        for end in Self.ends {
            var decoder = InputDecoder()
            let events = decoder.receive(Array("\u{1B}]11;\(text)".utf8) + end)
            guard case .reply(.color(.background, let color)) = try #require(events.first) else {
                return #expect(Bool(false), "\(events)")
            }
            #expect(events.count == 1 && (color.red, color.green, color.blue) == (red, green, blue))
        }
    }

    @Test(
        "5: a reply is the same wherever it is cut, and nothing of it is a key",
        arguments: [
            "\u{1B}[?62;22c", "\u{1B}[?2026;2$y", "\u{1B}[12;40R", "\u{1B}[?1u", "\u{1B}[48;24;80;480;800t",
            "\u{1B}[?997;2n", "\u{1B}]11;rgb:ffff/8080/0000\u{1B}\\", "\u{1B}]4;7;rgb:c/c/c\u{07}",
            "\u{1B}P>|tmux 3.5a\u{1B}\\", "\u{1B}_Gi=31;OK\u{1B}\\",
        ])
    func cut(reply: String) {
        let bytes = Array(reply.utf8)
        var whole = InputDecoder()
        whole.isFenceOpen = true
        let expected = whole.receive(bytes)
        #expect(expected.count == 1)
        for place in 1..<bytes.count {
            var decoder = InputDecoder()
            decoder.isFenceOpen = true
            var events = decoder.receive(bytes[..<place])
            // Nobody gives up on it within that time.
            #expect(decoder.patience ?? .zero > .milliseconds(5))
            events += decoder.receive(bytes[place...], after: .milliseconds(5))
            #expect(events == expected, "cut at \(place)")
        }
    }

    @Test("6: keys before, within and after the answers stay keys")
    func mixed() {
        var decoder = InputDecoder()
        let events = decoder.receive("ab\u{1B}]11;rgb:0/0/0\u{07}\u{1B}[Ac\u{1B}[?62c d".utf8)
        #expect(describe(events) == "a, b, color background 0/0/0, Up, c, attributes [62], Space, d")
    }

    @Test("An unknown or unsolicited answer is swallowed to its end")
    func unknown() {
        var decoder = InputDecoder()
        let unknown = [
            "\u{1B}]133;A\u{07}", "\u{1B}]0;a title\u{1B}\\", "\u{1B}P1+r544e\u{1B}\\", "\u{1B}_x\u{1B}\\",
            "\u{1B}[>1;2;3c",
            "\u{1B}[3;4R", "\u{1B}[?3;4R", "\u{1B}[8;24;80t", "\u{1B}[?4;5;6S", "\u{1B}[>4;2m",
        ]
        for answer in unknown { #expect(describe(decoder.receive(answer.utf8 + Array("x".utf8))) == "x") }
    }
}

extension OneTerminal {
    @Suite(.timeLimit(.minutes(5))) struct InputOwnershipTests {
        @Test(
            "6: keys typed while the terminal is asked reach the composer: the text, and Up once",
            arguments: [([], "abcd"), (["older ", "newer "], "newer cd")])
        func whileAsking(history: [String], expected: String) async throws {
            let pty = try PseudoTerminal()
            let query = BackgroundQuery(path: pty.path)
            async let answer = onOwnThread { query.ask(limit: .seconds(60)) }
            _ = try await pty.output(upTo: BackgroundQuery.question)
            pty.type("ab\u{1B}]11;rgb:0000/0000/0000\u{1B}\\\u{1B}[Ac\u{1B}[?62;22cd")
            #expect(try await answer == .known(.dark))
            async let text = Composer(path: pty.path).read(prompt: "> ", history: history)
            _ = try await pty.output(upTo: "cd")
            pty.type("\r")
            #expect(try await text == expected)
        }

        @Test("6: an answer whose end comes late is received by the composer, and types nothing")
        func lateEnd() async throws {
            let pty = try PseudoTerminal()
            let query = BackgroundQuery(path: pty.path)
            #expect(query.ask(limit: .milliseconds(1)) == .unknown)
            pty.type("a\u{1B}]11;rgb:00")
            query.finish(limit: .milliseconds(100))
            pty.type("00/0000/0000\u{1B}\\\u{1B}[?62;22cb\r")
            #expect(try await Composer(path: pty.path).read(prompt: "> ") == "ab")
        }

        @Test("7: text typed before the start reaches the composer, in order, and once")
        func typedBefore() async throws {
            let pty = try PseudoTerminal()
            pty.type("first wor")
            #expect(BackgroundQuery(path: pty.path).ask() == .notAsked)
            pty.type("ds\u{7F}d")
            async let text = Composer(path: pty.path).read(prompt: "> ")
            _ = try await pty.output(upTo: "wordd")
            pty.type("\r")
            #expect(try await text == "first wordd")
            async let next = Composer(path: pty.path).read(prompt: "again: ")
            _ = try await pty.output(upTo: "again: ")
            pty.type("x\r")
            #expect(try await next == "x")
        }

        @Test("18: an end mark within a paste submits nothing at the composer, and what follows it stays there")
        func innerEnd() async throws {
            let pty = try PseudoTerminal()
            async let text = Composer(path: pty.path).read(prompt: "> ")
            _ = try await pty.output(upTo: "> ")
            pty.type("\u{1B}[200~x\u{1B}[201~\ry\u{1B}[201~!\rnext\r")
            #expect(try await text == "x␛[201~\ny!")
            #expect(try await Composer(path: pty.path).read(prompt: "> ") == "next")
        }

        @Test("19: a paste without an end is in the composer after a moment, and the keys after it work")
        func noEnd() async throws {
            let pty = try PseudoTerminal()
            async let text = Composer(path: pty.path).read(prompt: "> ")
            _ = try await pty.output(upTo: "> ")
            pty.type("\u{1B}[200~half\ra paste")
            _ = try await pty.output(upTo: "the paste was cut off; this much arrived")
            pty.type("!\r")
            #expect(try await text == "half\na paste!")
        }
    }
}

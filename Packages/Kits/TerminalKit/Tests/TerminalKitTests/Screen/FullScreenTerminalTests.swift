import Capabilities
import Glibc
import LoopKit
import TerminalTesting
import Testing

@testable import TerminalKit

extension OneTerminal {
    /// The screen in the process of the tests. The numbers are those of the terminal's cases.
    @Suite(.timeLimit(.minutes(5))) struct FullScreenTerminalTests {
        private static func options(_ pty: PseudoTerminal) -> FullScreenTerminal.Options {
            var options = FullScreenTerminal.Options()
            options.path = pty.path
            (options.input, options.output, options.kind) = (pty.slave, pty.slave, "xterm")
            return options
        }

        private static func frame(_ number: Int) -> [UInt8] {
            Array("\u{1B}[Hframe \(number)\(String(repeating: "~", count: 300))".utf8)
        }

        /// Raises a signal on this thread, although those of the pool block most, so that its handler has run afterwards.
        private static func raiseHere(_ signal: Int32) {
            var (only, before) = (sigset_t(), sigset_t())
            unsafe sigaddset(&only, signal)
            unsafe pthread_sigmask(SIG_UNBLOCK, &only, &before)
            raise(signal)
            unsafe pthread_sigmask(SIG_SETMASK, &before, nil)
        }

        @Test("The screen is entered before the first frame, and everything is given back at the end")
        func life() async throws {
            let pty = try PseudoTerminal()
            let before = pty.flags
            var options = Self.options(pty)
            (options.hasMouse, options.setsTitle) = (true, true)
            let during = try await FullScreenTerminal.with(options) { terminal async throws in
                #expect(terminal.offer(frame: Array("\u{1B}[Hhello".utf8)) == .written)
                #expect(terminal.size == TerminalSize(columns: 80, rows: 24))
                return pty.flags
            }
            #expect(during != before && pty.flags == before)
            let output = try await pty.output()
            #expect(
                output == "\u{1B}[22;0t\u{1B}[?1049h\u{1B}[H\u{1B}[2J\u{1B}[?7l\u{1B}[>1u\u{1B}[?2004h\u{1B}[?1004h"
                    + "\u{1B}[?1000h\u{1B}[?1002h\u{1B}[?1006h\u{1B}[?25l\u{1B}[Hhello\u{18}\u{1B}\\"
                    + "\u{1B}[?1006l\u{1B}[?1002l\u{1B}[?1000l\u{1B}[?1004l\u{1B}[?2004l\u{1B}[?2031l\u{1B}[<u"
                    + "\u{1B}[>4m\u{1B}[?7h\u{1B}[r\u{1B}[m\u{1B}]8;;\u{1B}\\\u{1B}[0 q\u{1B}[?1049l"
                    + "\u{1B}[?1006l\u{1B}[?1002l\u{1B}[?1000l\u{1B}[?25h\u{1B}[23;0t")
            #expect(TerminalModes(after: Array(output.utf8)).problems.isEmpty)
        }

        @Test("An error of the body gives the terminal back too, and the screen can be taken again")
        func error() async throws {
            struct Problem: Error {}
            let pty = try PseudoTerminal()
            let before = pty.flags
            for _ in 0..<3 {
                await #expect(throws: Problem.self) {
                    try await FullScreenTerminal.with(Self.options(pty)) { _ in throw Problem() }
                }
                #expect(pty.flags == before)
            }
        }

        @Test("A terminal that was restored for the end of the process is not taken by a continuation")
        func over() async throws {
            let pty = try PseudoTerminal()
            let before = pty.flags
            try await FullScreenTerminal.with(Self.options(pty)) { terminal async throws in
                _ = try await pty.output(upTo: "\u{1B}[?25l")
                TerminalInput.restore()
                let left = try await pty.output()
                #expect(left.hasSuffix("\u{1B}[?25h") && pty.flags == before)
                Self.raiseHere(SIGCONT)
                #expect(try await pty.output() == "" && pty.flags == before)
                await #expect { _ = try await terminal.read() } throws: { ($0 as? TerminalError)?.kind == .interrupted }
            }
        }

        @Test("After the end nothing is written, and the end of the object is an end too")
        func late() async throws {
            let pty = try PseudoTerminal()
            let before = pty.flags
            var terminal: FullScreenTerminal? = try FullScreenTerminal(Self.options(pty))
            await terminal?.leave()
            await terminal?.leave()
            _ = try await pty.output()
            #expect(terminal?.offer(frame: Self.frame(1)) == .hidden)
            #expect(try await terminal?.read() == .end)
            #expect(try await pty.output() == "")
            terminal = try FullScreenTerminal(Self.options(pty))
            #expect(pty.flags != before)
            terminal = nil
            #expect(pty.flags == before)
        }

        @Test("Keys come as bytes, and those typed before are the first")
        func keys() async throws {
            let pty = try PseudoTerminal()
            let silence = TypingSilence(path: pty.path)
            silence.begin()
            pty.type("before\r")
            // What is typed arrives a moment later.
            var typed = pollfd(fd: pty.slave, events: Int16(POLLIN), revents: 0)
            #expect(unsafe poll(&typed, 1, 20_000) == 1)
            silence.end()
            try await FullScreenTerminal.with(Self.options(pty)) { terminal async throws in
                #expect(terminal.typedAhead == 7)
                #expect(try await terminal.read() == .bytes(Array("before\n".utf8)))
                #expect(try await terminal.read(limit: .milliseconds(1)) == .quiet)
                pty.type("\u{3}\u{1A}\r")
                #expect(try await terminal.read() == .bytes([0x03, 0x1A, 0x0D]))
            }
        }

        @Test("Keys that were kept before a screen, and not read on it, are for the next question")
        func unreadKeys() async throws {
            let pty = try PseudoTerminal()
            TerminalDevice.keep(Array("before\n".utf8))
            try await FullScreenTerminal.with(Self.options(pty)) { #expect($0.typedAhead == 7) }
            #expect(try await TerminalInput(path: pty.path).readLine(prompt: "> ") == "before")
        }

        @Test("Case 18: A long paste is read at once, so that an end mark in it runs nothing")
        func innerEnd() async throws {
            let pty = try PseudoTerminal()
            try await FullScreenTerminal.with(Self.options(pty)) { terminal async throws in
                let (start, end) = (PasteCollector.startMark, PasteCollector.endMark)
                let pasted = start + Array("x".utf8) + end + Array(String(repeating: "rm -rf x\r", count: 1_000).utf8)
                let bytes = pasted + end
                for from in stride(from: 0, to: bytes.count, by: 4_095) {
                    pty.type(String(decoding: bytes[from..<min(from + 4_095, bytes.count)], as: UTF8.self))
                }
                var decoder = InputDecoder()
                var events: [InputEvent] = []
                while case .bytes(let read) = try await terminal.read(limit: decoder.patience) {
                    events += decoder.receive(read)
                    if decoder.patience == nil { break }
                }
                events += decoder.stopWaiting()
                let text = "x␛[201~" + String(repeating: "rm -rf x\n", count: 1_000)
                let isWhole = events == [.paste(Paste(text: text))]
                #expect(isWhole, "\(events.count) events")
            }
        }

        @Test("Case 45: A question that is refused does not end the wait for the replies to an earlier one")
        func refusedQuestion() async throws {
            let pty = try PseudoTerminal()
            let query = Array("\u{1B}[c".utf8)
            let terminal = try FullScreenTerminal(Self.options(pty))
            #expect(terminal.ask(query) == .written)
            #expect(terminal.offer(frame: Array((String(repeating: "x", count: 60_000) + ".").utf8)) == .waiting)
            #expect(terminal.ask(query) == .refused)
            async let input = terminal.read()
            _ = try await pty.output(upTo: "x.")
            #expect(try await input == .room)
            pty.type("\u{1B}[?62;22ck")
            await terminal.leave()
            let next = try FullScreenTerminal(Self.options(pty))
            #expect(try await next.read() == .bytes([0x6B]))
            await next.leave()
        }

        @Test("Case 59: A text goes to the clipboard in Base64, and one that terminals refuse is not sent")
        func copy() async throws {
            let pty = try PseudoTerminal()
            try await FullScreenTerminal.with(Self.options(pty)) { terminal async throws in
                #expect(try terminal.copy("héllo\u{1B}\n") == .written)
                let output = try await pty.output()
                #expect(output.hasSuffix("\u{1B}[?25l\u{1B}]52;c;aMOpbGxvGwo=\u{1B}\\"))
                let large = String(repeating: "x", count: FullScreenTerminal.copyLimit + 1)
                #expect { try terminal.copy(large) } throws: { ($0 as? TerminalError)?.kind == .tooLong }
                #expect(try await pty.output() == "")
            }
        }

        @Test("Progress is shown, and ended with the screen, but never ended where none was shown")
        func progress() async throws {
            let pty = try PseudoTerminal()
            try await FullScreenTerminal.with(Self.options(pty)) { terminal async throws in
                #expect(terminal.show(.none) == .written)
                _ = try await pty.output(upTo: "\u{1B}[?25l")
                for progress in [TerminalProgress.percent(40), .percent(400), .indeterminate, .failed, .none] {
                    #expect(terminal.show(progress) == .written)
                }
                let parameters = ["1;40", "1;100", "3", "2", "0"]
                #expect(try await pty.output() == parameters.map { "\u{1B}]9;4;\($0)\u{1B}\\" }.joined())
                #expect(terminal.offer(frame: Array("\u{1B}[?2026hx\u{1B}[?2026l".utf8)) == .written)
            }
            #expect(
                try await pty.output().contains(
                    "x\u{1B}[?2026l\u{18}\u{1B}\\\u{1B}]9;4;0\u{1B}\\\u{18}\u{1B}\\\u{1B}[?2026l"))
        }

        @Test("Progress that the terminal did not get is not ended")
        func refusedProgress() async throws {
            let pty = try PseudoTerminal()
            let terminal = try FullScreenTerminal(Self.options(pty))
            let large = Array((String(repeating: "x", count: 60_000) + ".").utf8)
            #expect(terminal.offer(frame: large) == .waiting && terminal.show(.percent(40)) == .refused)
            async let input = terminal.read()
            _ = try await pty.output(upTo: "x.")
            #expect(try await input == .room && terminal.show(.none) == .written)
            await terminal.leave()
            #expect(terminal.show(.percent(50)) == .hidden && terminal.show(.none) == .written)
            let output = try await pty.output()
            #expect(output.hasSuffix("\u{1B}[?25h") && !output.contains("]9;4;"))
        }

        @Test("A cancelled read throws at once, and the next one is not disturbed")
        func cancelled() async throws {
            let pty = try PseudoTerminal()
            try await FullScreenTerminal.with(Self.options(pty)) { terminal async throws in
                let reader = Task { try await terminal.read() }
                reader.cancel()
                await #expect { _ = try await reader.value } throws: { ($0 as? TerminalError)?.kind == .cancelled }
                pty.type("k")
                #expect(try await terminal.read() == .bytes([0x6B]))
            }
        }

        @Test("A read that waits ends when the screen is left")
        func leftWhileReading() async throws {
            let pty = try PseudoTerminal()
            let terminal = try FullScreenTerminal(Self.options(pty))
            async let input = terminal.read()
            await terminal.leave()
            #expect(try await input == .end)
        }

        @Test("A size that the kernel does not know is 80 by 24, and changes are reported")
        func size() async throws {
            let pty = try PseudoTerminal(columns: 0, rows: 0)
            try await FullScreenTerminal.with(Self.options(pty)) { terminal async throws in
                #expect(terminal.size == TerminalSize(columns: 80, rows: 24))
                pty.resize(columns: 133, rows: 50)
                // The terminal does not control this process, so the signal comes from here.
                kill(getpid(), SIGWINCH)
                #expect(try await terminal.read() == .resized)
                #expect(terminal.size == TerminalSize(columns: 133, rows: 50))
            }
        }

        @Test("Cases 35 and 36: A terminal that stopped gets few old bytes, then the newest frame; keys are read too")
        func stopped() async throws {
            let pty = try PseudoTerminal()
            try await FullScreenTerminal.with(Self.options(pty)) { terminal async throws in
                var number = 0
                // The kernel may find more room for a stopped terminal a moment later.
                func input() async throws -> FullScreenTerminal.Input {
                    while true {
                        repeat { number += 1 } while terminal.offer(frame: Self.frame(number)) != .refused
                        let input = try await terminal.read()
                        if input != .room { return input }
                    }
                }
                for key in "keys" {
                    pty.type(String(key))
                    #expect(try await input() == .bytes(Array(String(key).utf8)))
                }
                // Kernels hold up to 22 KB for a terminal. What did not reach its side is taken back.
                #expect(try await input() == .lost)
                #expect(terminal.offer(frame: Self.frame(number)) == .written)
                let shown = try await pty.output(upTo: "frame \(number)~")
                #expect(shown.hasSuffix("\u{18}\u{1B}\\\u{1B}[Hframe \(number)~") && shown.utf8.count <= 12_288)
            }
        }

        @Test("Case 35: A terminal that is slow gets a frame whole, and then the newest state")
        func slow() async throws {
            let pty = try PseudoTerminal()
            try await FullScreenTerminal.with(Self.options(pty)) { terminal async throws in
                let large = Array((String(repeating: "x", count: 60_000) + ".").utf8)
                #expect(terminal.offer(frame: large) == .waiting)
                #expect(terminal.offer(frame: Self.frame(1)) == .refused)
                async let input = terminal.read()
                #expect(try await pty.output(upTo: "x.").utf8.count > 60_000)
                #expect(try await input == .room)
                #expect(terminal.offer(frame: Self.frame(2)) == .written)
                #expect(try await pty.output(upTo: "~") == "\u{1B}[Hframe 2~")
            }
        }

        @Test("A frame that paints everything can take the place of one that waits")
        func replaced() async throws {
            let pty = try PseudoTerminal()
            try await FullScreenTerminal.with(Self.options(pty)) { terminal async throws in
                let large = Array(String(repeating: "x", count: 60_000).utf8)
                #expect(terminal.offer(frame: large) == .waiting)
                #expect(terminal.offer(frame: Self.frame(1)) == .refused)
                #expect(terminal.offer(frame: Array("new.".utf8), replacesWaiting: true) != .refused)
                async let input = terminal.read()
                let output = try await pty.output(upTo: "new.")
                #expect(output.hasSuffix("x\u{18}\u{1B}\\new.") && output.utf8.count < 30_000)
                pty.type("k")
                #expect(try await input == .bytes([0x6B]))
            }
        }

        @Test("Case 40: What cannot show a screen is refused with a sentence, and gets no byte")
        func refused() async throws {
            let pty = try PseudoTerminal()
            let null = unsafe open("/dev/null", O_RDWR | O_CLOEXEC)
            defer { close(null) }
            var options = [Self.options(pty), Self.options(pty), Self.options(pty), Self.options(pty)]
            options[0].input = null
            options[1].output = null
            options[2].kind = "dumb"
            options[3].path = "/dev/null"
            let words = ["standard input", "standard output", "TERM", "from a terminal"]
            for (options, word) in zip(options, words) {
                do {
                    _ = try FullScreenTerminal(options)
                    Issue.record("a screen without \(word)")
                } catch {
                    #expect(error.kind == .noScreen && error.exit == .usage && error.message.contains(word))
                }
            }
            #expect(try await pty.output() == "")
        }

        @Test("One screen or question is open at a time")
        func busy() async throws {
            let pty = try PseudoTerminal()
            try await FullScreenTerminal.with(Self.options(pty)) { _ async throws in
                #expect { _ = try FullScreenTerminal(Self.options(pty)) } throws: {
                    ($0 as? TerminalError)?.kind == .busy
                }
                await #expect { _ = try await TerminalInput(path: pty.path).readLine(prompt: "> ") } throws: {
                    ($0 as? TerminalError)?.kind == .busy
                }
            }
            async let answer = TerminalInput(path: pty.path).readLine(prompt: "> ")
            _ = try await pty.output(upTo: "> ")
            pty.type("still\n")
            #expect(try await answer == "still")
        }

        @Test("Case 49: A closed terminal ends the input, whatever was to be written")
        func closed() async throws {
            let pty = try PseudoTerminal()
            try await FullScreenTerminal.with(Self.options(pty)) { terminal async throws in
                while terminal.offer(frame: Self.frame(0)) == .written {}
                pty.hangUp()
                for _ in 0..<3 { #expect(try await terminal.read() == .end) }
                terminal.offer(frame: Self.frame(1), replacesWaiting: true)
            }
        }

        @Test("The guardian has two descriptors, its own group and hardly any memory, and ends with the screen")
        func guardian() async throws {
            let pty = try PseudoTerminal()
            let named = {
                OtherProcess.all { $0.parent == getpid() && $0.name == "martlet-guard" }
            }
            try await FullScreenTerminal.with(Self.options(pty)) { _ async throws in
                // It runs beside this process, so it may not be ready yet.
                var own: [Int] = []
                for _ in 0..<20_000 {
                    own = named().first.map(OtherProcess.privateKilobytes) ?? []
                    if own.count >= 2, own.reduce(0, +) <= 64 { break }
                    _ = try await onOwnThread { poll(nil, 0, 1) }
                }
                #expect(own.count >= 2 && own.reduce(0, +) <= 64, "\(own) KB")
                let guardian = try #require(named().first)
                #expect(getpgid(guardian) == guardian)
                #expect(OtherProcess.names(in: "/proc/\(guardian)/fd").count == 2)
            }
            // Its parent has waited for it, so there is no zombie either.
            #expect(named().isEmpty)
        }
    }
}

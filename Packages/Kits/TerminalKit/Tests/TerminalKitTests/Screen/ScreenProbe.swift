import Capabilities
import Glibc
import Synchronization
import Testing

@testable import TerminalKit

/// A full-screen program, which the other tests run under a shell: the executable of the tests, started again with a
/// variable.
///
/// It paints frames all the time, each with its process, its number and the size. Keys: `q` quits, `e` fails, `x` calls
/// `exit`, `t` traps, `a` asks the terminal and goes on, `Q` asks and quits at once, Ctrl-Z stops, `l`
/// lends the terminal to the command in `MARTLET_SCREEN_EDITOR`, `L` does so twice at once and says the results.
enum ScreenProbe {
    static let variable = "MARTLET_SCREEN_PROBE"

    /// What the variable says, separated by commas: `mouse`, `sync`, `still` (one frame for each event), `large`.
    static var settings: [Substring]? {
        unsafe getenv(variable).map { unsafe String(cString: $0) }.map { $0.split(separator: ",") }
    }

    /// The words for a shell that run the program.
    static func command(_ settings: [String]) -> String {
        var path = [CChar](repeating: 0, count: 4096)
        let count = unsafe readlink("/proc/self/exe", &path, path.count)
        let name = String(decoding: path.prefix(max(0, count)).map(UInt8.init(bitPattern:)), as: UTF8.self)
        return "\(variable)=probe,\(settings.joined(separator: ",")) '\(name)' --testing-library swift-testing "
            + "--filter ScreenProbeTests 2>/dev/null"
    }

    struct Failed: Error {}

    /// The status of the last editor, which frames say.
    private static let lent = Atomic<Int32>(0)

    static func frame(_ number: Int, _ size: TerminalSize, _ settings: [Substring]) -> [UInt8] {
        let words =
            "pid=\(getpid()) frame=\(number) size=\(size.columns)x\(size.rows)."
            + " lent=\(lent.load(ordering: .relaxed));"
        let filler = String(repeating: "~", count: settings.contains("large") ? 20_000 : 200)
        let update = settings.contains("sync") ? ("\u{1B}[?2026h", "\u{1B}[?2026l") : ("", "")
        return Array("\(update.0)\u{1B}[H\u{1B}[38;5;2m\(words)\u{1B}[m\u{1B}[2;1H\(filler)\(update.1)".utf8)
    }

    static func run(_ settings: [Substring]) async throws {
        var options = FullScreenTerminal.Options()
        options.hasMouse = settings.contains("mouse")
        try await FullScreenTerminal.with(options) { terminal in
            let painter = settings.contains("still") ? nil : Task { await paint(terminal, settings) }
            defer { painter?.cancel() }
            var number = 0
            while true {
                terminal.offer(frame: frame(number, terminal.size, settings))
                number += 1
                let input = try await terminal.read()
                if input == .end { return }
                guard case .bytes(let bytes) = input else { continue }
                for byte in bytes where try await !key(byte, terminal) { return }
            }
        }
    }

    private static func paint(_ terminal: FullScreenTerminal, _ settings: [Substring]) async {
        for number in 1... {
            terminal.offer(frame: frame(number, terminal.size, settings))
            // The pace of a busy program. Nobody waits for it.
            guard (try? await Task.sleep(for: .milliseconds(2))) != nil else { return }
        }
    }

    private static var editor: [String] {
        let editor = unsafe getenv("MARTLET_SCREEN_EDITOR").map { unsafe String(cString: $0) } ?? "missing"
        return editor == "missing" ? ["/nonexistent"] : ["sh", "-c", editor]
    }

    private static func lendTwice(_ terminal: FullScreenTerminal) async {
        await withTaskGroup { group in
            for _ in 0..<2 {
                group.addTask {
                    do throws(TerminalError) {
                        return "status \(try await terminal.lend(to: editor))"
                    } catch {
                        return error.code
                    }
                }
            }
            for await result in group { Terminal(fileDescriptor: STDOUT_FILENO).write("<\(result)>") }
        }
    }

    /// Whether the program goes on after a key.
    private static func key(_ byte: UInt8, _ terminal: FullScreenTerminal) async throws -> Bool {
        switch byte {
        case UInt8(ascii: "q"): return false
        case UInt8(ascii: "e"): throw Failed()
        case UInt8(ascii: "x"): exit(7)
        case UInt8(ascii: "t"): fatalError("the test wants a trap")
        case UInt8(ascii: "a"), UInt8(ascii: "Q"):
            terminal.ask(Array("\u{1B}]11;?\u{1B}\\\u{1B}[c".utf8))
            return byte == UInt8(ascii: "a")
        case 0x1A: terminal.suspend()
        case UInt8(ascii: "l"):
            let status: Int32
            do { status = try await terminal.lend(to: editor) } catch { status = -1 }
            Self.lent.store(status, ordering: .relaxed)
        case UInt8(ascii: "L"): await lendTwice(terminal)
        default: break
        }
        return true
    }
}

struct ScreenProbeTests {
    @Test("A frame of the program for the tests says who painted it, and at which size")
    func frame() async throws {
        if let settings = ScreenProbe.settings {
            do {
                try await ScreenProbe.run(settings)
                exit(0)
            } catch let error as TerminalError {
                print(error.message)
                exit(error.exit.rawValue)
            } catch {
                exit(3)
            }
        }
        let frame = String(decoding: ScreenProbe.frame(4, TerminalSize(columns: 80, rows: 24), []), as: UTF8.self)
        #expect(frame.contains("pid=\(getpid()) frame=4 size=80x24."))
    }
}

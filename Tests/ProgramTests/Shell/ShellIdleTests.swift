import Glibc
import TerminalTesting
import TestTraits
import Testing

@Suite("An idle shell", .alone, .timeLimit(.minutes(2)))
struct ShellIdleTests {
    /// How often the threads of a process have waited for something.
    private static func waits(of process: pid_t) -> Int {
        OtherProcess.names(in: "/proc/\(process)/task").reduce(0) { sum, task in
            let status = OtherProcess.text(of: "/proc/\(process)/task/\(task)/status") ?? ""
            let line = status.split(separator: "\n").first { $0.hasPrefix("voluntary_ctxt_switches:") }
            return sum + (line?.split(separator: "\t").last.flatMap { Int($0) } ?? 0)
        }
    }

    @Test("Case 51: While nothing happens, nothing is sent, and the process rests")
    func idle() async throws {
        try await ShellHome.with { home in
            let (bytes, waits) = try await home.session { session in
                try session.open("shell features.states")
                // The first look and what it started are over.
                try session.transcript(afterPauseOf: 2_000)
                let program = session.foreground
                let (bytes, waits) = (session.transcript.count, Self.waits(of: program))
                poll(nil, 0, 5_000)
                return (try session.transcript(afterPauseOf: 0).count - bytes, Self.waits(of: program) - waits)
            }
            #expect(bytes == 0)
            // The screens of the features and of their stores look again every second or two.
            withKnownIssue("what is shown is polled", isIntermittent: true) {
                #expect(waits <= 10, "\(waits) waits in 5 s")
            }
        }
    }
}

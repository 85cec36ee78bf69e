import Capabilities
import Glibc
import JSON
import TerminalForms
import TerminalKit
import Testing

@testable import CommandLineFrontend

private struct Job: Record {
    var name: String
    var state = "ok"
    var seconds: Double
    var started: Timestamp
    var error: String?

    static let fields: [Field<Job>] = [
        Field("name", "Its name", .name) { $0.name }, Field("state", "How it went", .state) { $0.state },
        Field("seconds", "How long it took") { $0.seconds }, Field("started", "When it began") { $0.started },
        Field("error", "Why it failed") { $0.error },
    ]
}

@Suite("LocalClock")
struct LocalClockTests {
    private static let now = Timestamp(microseconds: 1_800_000_000_000_000)

    @Test(
        "Times are shown as an age",
        arguments: [
            (0, "just now"), (-42, "42 s ago"), (-185, "3 min ago"), (-7_300, "2 h ago"), (-90_000, "1 day ago"),
            (-300_000, "3 days ago"), (2, "now"), (600, "in 10 min"),
        ])
    func brief(seconds: Int, words: String) {
        #expect(LocalClock(now: Self.now).brief(Self.now + .seconds(seconds)) == words)
    }

    @Test("Times are in the person's time zone")
    func zone() async {
        await #expect(processExitsWith: .success) {
            unsafe setenv("TZ", "EST5", 1)
            let clock = LocalClock(now: Self.now)
            let time = Timestamp(iso8601: "2026-11-22T02:03:12.5Z")
            precondition(time.map { clock.local($0) } == "2026-11-21 21:03:12")
            precondition(time.map { clock.brief($0) } == "2026-11-21 21:03")
        }
    }

    private let jobs = [
        Job(
            name: "health", state: "failed", seconds: 0.00045, started: now + .seconds(-185),
            error: "gateway.status ended with the exit code 4: no gateway runs here; start one with 'gateway serve'"),
        Job(name: "check", seconds: 2.5729e-05, started: now + .seconds(-60)),
    ]

    private func printed(_ width: Int?, _ format: OutputFormat = .text) -> String {
        ResultPrinter(
            format: format, level: .none, width: width, clock: width.map { _ in LocalClock(now: Self.now) }
        )
        .text(jobs.json, type(of: jobs).schema, isStream: false)
    }

    @Test("Times fit in tables whose errors are complete at 80 columns")
    func table() {
        #expect(
            printed(80) == """
                NAME    STATE     TOOK  STARTED    ERROR
                health  failed  0.5 ms  3 min ago  gateway.status ended with the exit code 4: no
                                                   gateway runs here; start one with 'gateway
                                                   serve'
                check   ok       26 µs  1 min ago

                """)
    }

    @Test("Times fit in records at 40 columns")
    func records() {
        #expect(
            printed(34) == """
                NAME     health
                STATE    failed
                TOOK     0.5 ms
                STARTED  3 min ago
                ERROR    gateway.status ended with
                         the exit code 4: no
                         gateway runs here; start
                         one with 'gateway serve'

                NAME     check
                STATE    ok
                TOOK     26 µs
                STARTED  1 min ago

                """)
    }

    @Test("Times for programs are unchanged")
    func machines() {
        #expect(printed(nil, .json).contains("\"seconds\": 0.00045"))
        #expect(printed(nil, .csv).contains("health,failed,0.00045,2027-01-15T07:56:55Z,"))
        #expect(printed(nil).contains("2027-01-15T07:56:55Z"))
    }
}

import Capabilities
import CoreTesting
import FileKit
import Glibc
import HostTesting
import JSON
import Registry
import Settings
import Synchronization
import Testing

@testable import HostKit

private struct ProbeFeature: Feature {
    static let manifest = Manifest(id: "probe", summary: "Tells", version: "1.0")

    init(_ settings: FeatureSettings) {}

    func register(in registry: inout RegistryBuilder) {
        registry.add(
            Action("probe.work", "Works", .reads, .argument("word", "What it tells")) { context, word in
                try await context.tracer.span("inner", of: "lib") { span in
                    span.set("probe.word", .string(word))
                    context.notice("said \(word)")
                    context.warn("doubtful \(word)")
                    if word == "fail" { throw RefusalError(message: "it failed for \(word)") }
                }
                return Nothing()
            })
    }
}

private struct RefusalError: Failure {
    let code = "probe.failed"
    let message: String
}

@Suite("The log", .timeLimit(.minutes(5)))
struct LogTests {
    private func lines(_ bench: TestWorkbench) throws -> [JSON] {
        let path = "\(bench.folder)/log.ndjson"
        guard Files.exists(path) else { return [] }
        let text = String(decoding: try Files.read(path, limit: 1 << 20), as: UTF8.self)
        return try text.split(separator: "\n").map { try JSON(parsing: String($0)) }
    }

    private func entries(_ settings: String, _ words: [String] = ["x"]) async throws -> [JSON] {
        try await TestWorkbench.run([ProbeFeature.self]) { bench in
            bench.settings = "{log: {\(settings)}}"
            for word in words {
                do { _ = try await bench.perform("probe.work", ["word": .string(word)]) } catch is RefusalError {}
            }
            return try lines(bench)
        }
    }

    @Test("A file has what commands do and what goes wrong, one line of JSON each, and not what they tell besides")
    func file() async throws {
        let lines = try await entries("file: 'log.ndjson'", ["x", "fail"])
        let told = lines.map { [$0["level"], $0["scope"], $0["message"]].map { $0?.string ?? "" } }
        #expect(
            told == [
                ["warning", "probe", "doubtful x"], ["info", "probe", "probe.work"],
                ["warning", "probe", "doubtful fail"], ["warning", "lib", "inner"],
                ["error", "probe", "it failed for fail"], ["error", "probe", "probe.work"],
            ])
        #expect(lines[0]["trace_id"] == lines[1]["trace_id"] && lines[0]["span_id"] != lines[1]["span_id"])
        #expect(lines[3]["attributes"]?["error.type"] == "probe.failed")
        #expect(
            lines[1]["attributes"]?["duration_ms"]?.double != nil && lines[1]["time"]?.string?.hasSuffix("Z") == true)
    }

    @Test(
        "Levels decide what is written, for all or for single scopes",
        arguments: [
            ("level: 'off'", []), ("level: 'warning'", ["doubtful x"]),
            ("level: 'debug'", ["doubtful x", "inner", "probe.work"]),
            ("scopes: {lib: 'debug'}", ["doubtful x", "inner", "probe.work"]),
            ("level: 'off', scopes: {lib: 'debug'}", ["inner"]), ("scopes: {probe: 'off'}", []),
        ] as [(String, [String])])
    func levels(settings: String, messages: [String]) async throws {
        let lines = try await entries("file: 'log.ndjson', \(settings)")
        #expect(lines.compactMap { $0["message"]?.string } == messages)
    }

    @Test("No secret is in it, and an entry is one line whatever is told")
    func clean() async throws {
        try await TestWorkbench.run([ProbeFeature.self]) { bench in
            bench.settings = "{log: {file: 'log.ndjson', level: 'debug'}}"
            let secret = "sk-proj-0123456789abcdefghijABCDEFGHIJ0123456789"
            _ = try await bench.perform("probe.work", ["word": .string("\(secret)\n{\"level\": \"x\"}")])
            let lines = try lines(bench)
            #expect(lines.count == 3)
            let text = lines.map { $0.text() }.joined()
            #expect(!text.contains(secret) && text.contains(Redactor.mark))
        }
    }

    @Test("A file that was moved away is begun again, and commands that run side by side share it")
    func shared() async throws {
        try await TestWorkbench.run([ProbeFeature.self]) { bench in
            bench.settings = "{log: {file: 'log.ndjson'}}"
            _ = try await bench.perform("probe.work", ["word": "x"])
            try Files.remove("\(bench.folder)/log.ndjson")
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<20 {
                    group.addTask { [bench] in _ = try await bench.perform("probe.work", ["word": "y"]) }
                }
                try await group.waitForAll()
            }
            #expect(try lines(bench).count == 40)
        }
    }

    @Test("A log that cannot be written says so once, and work goes on")
    func broken() async throws {
        try await TestWorkbench.run([ProbeFeature.self]) { bench in
            let told = Mutex<[String]>([])
            let console = LogConsole(isJournal: false)
            console.begin { entry in told.withLock { $0.append(entry.text()) } }
            let file = LogFile("\(bench.folder)/none/log", console)
            for word in ["a", "b", "c"] { file.add(LogRecord(.info, "x", word, at: Timestamp(microseconds: 0))) }
            await file.close()
            #expect(told.withLock { $0.count } == 1)
            #expect(told.withLock { $0.first }?.contains("the log is not written: ") == true)
            // After it has ended nothing is printed.
            console.end()
            console.print(LogRecord(.error, "x", "y", at: Timestamp(microseconds: 0)))
            #expect(told.withLock { $0.count } == 1)
        }
    }

    @Test("The journal of systemd is known by its file, and gets priorities")
    func journal() throws {
        var status = stat()
        try #require(unsafe fstat(2, &status) == 0)
        #expect(LogConsole.leadsToJournal(["JOURNAL_STREAM": "\(status.st_dev):\(status.st_ino)"]))
        for place in ["\(status.st_dev):\(status.st_ino + 1)", "", "x"] {
            #expect(!LogConsole.leadsToJournal(["JOURNAL_STREAM": place]))
        }
        #expect(!LogConsole.leadsToJournal([:]))
        let entry = LogRecord(.warning, "mcp", "gone\u{1B}[2J", ["n": 1], at: Timestamp(microseconds: 3_723_004_000))
        #expect(entry.text() == "01:02:03.004 warning mcp: gone\\u{1B}[2J n=1")
        #expect(entry.text(isForJournal: true).hasPrefix("<4>mcp: gone"))
    }
}

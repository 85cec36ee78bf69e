import Capabilities
import CoreTesting
import JSON
import ProcessKit
import Synchronization
import Testing

@Suite("Spans of processes", .timeLimit(.minutes(5)))
struct ProcessSpanTests {
    /// The spans of children that are started within a span.
    private func spans(of work: (Launcher) async throws -> Void) async throws -> [TraceSpan] {
        let sink = RecordingSpanSink()
        try await Tracer(sinks: [sink], now: Timestamp.now).span("work", of: "test") { _ in
            try await work(.standalone)
        }
        return sink.spans
    }

    @Test(
        "A child is a span with its program and its exit code, and without its arguments",
        arguments: [("exit 0", 0), ("exit 3", 3), ("kill -SEGV $$", 139)])
    func ended(text: String, code: Int) async throws {
        let spans = try await spans { _ = try await $0.run(script(text, ["hunter22"]), timeout: .seconds(60)) }
        let span = try #require(spans.first)
        #expect(spans.map(\.name) == ["sh", "work"] && span.parent == spans.last?.context.span)
        #expect(span.kind == .client && span.attributes["process.executable.name"] == "sh")
        #expect(span.attributes["process.exit.code"] == .int(code) && span.attributes["process.pid"] != nil)
        #expect(span.failure == (code == 0 ? nil : "process.failed"))
        #expect(!"\(spans)".contains("hunter22"))
    }

    @Test(
        "The end of its messages is kept, in whole lines, and the last one is in the log if it failed",
        arguments: [0, 3])
    func messages(code: Int) async throws {
        let logs = LogList()
        let sink = RecordingSpanSink()
        // Both lines together exceed the limit, which falls into the first one.
        let text = "printf '%03000d sesame\\n%03000d open\\n' 1 2 >&2; exit \(code)"
        try await Tracer(sinks: [sink, logs], now: Timestamp.now).span("work", of: "test") { _ in
            _ = try await Launcher.standalone.run(script(text), timeout: .seconds(60))
        }
        let span = try #require(sink.spans.first)
        let line = String(repeating: "0", count: 2_999) + "2 open"
        #expect(span.attributes["martlet.process.stderr"] == .string(line))
        #expect(logs.records.map(\.message) == (code == 0 ? [] : ["sh ended with exit code 3: \(line)"]))
        #expect(logs.records.allSatisfy { $0.span == span.context.span && $0.level == .warning })
        let silent = try await spans { _ = try await $0.run(script("exit 1"), timeout: .seconds(60)) }
        #expect(silent.first?.attributes["martlet.process.stderr"] == nil)
    }

    @Test("A child that is ended from here has not failed")
    func stopped() async throws {
        let spans = try await spans { try await $0.withChild(script("exec sleep 1000")) { _ in } }
        #expect(spans.first?.attributes["process.exit.code"] == 143 && spans.first?.failure == nil)
    }

    @Test("A child that cannot be started is a failed span")
    func missing() async throws {
        let spans = try await spans { launcher in
            await #expect(throws: ProcessError.self) {
                _ = try await launcher.run(Command("/nonexistent/prog", environment: [:]), timeout: .seconds(60))
            }
        }
        #expect(spans.map(\.name) == ["prog", "work"] && spans.first?.failure == "process.not-found")
    }
}

/// Keeps the entries of the log.
private final class LogList: SpanSink {
    private let kept = Mutex<[LogRecord]>([])

    var records: [LogRecord] { kept.withLock { $0 } }
    var levels: LogLevels? { LogLevels(.info) }

    func record(_ span: SpanRecord) {}
    func record(_ log: LogRecord) { kept.withLock { $0.append(log) } }
}

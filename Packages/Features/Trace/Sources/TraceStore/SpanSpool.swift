public import Capabilities
import FileKit
public import JSON
import Synchronization
import TraceKit

/// The spans of this process on their way to the database: in memory for at most a second, then in a file of this process, from
/// which readers of traces and busy processes move them.
public final class SpanSpool: SpanSink {
    /// What decides how much is kept.
    public struct Limits: Sendable {
        /// The spans of one second; of more, those that failed are kept first.
        public var rate = 2_000
        /// Which traces are recorded; nil for none.
        public var sampling: TraceSampling? = TraceSampling()
        /// The files that may wait. Of more, the process that adds one has them taken to the database at its end.
        public var files = 200
        /// The bytes that may wait in the file of one process, which may run for days without anybody who reads traces.
        public var bytes = 8 << 20

        /// The defaults of the settings.
        public init() {}
    }

    public let sampling: TraceSampling?
    private let folder: String
    private let file: SpoolFile
    private let resource: JSONObject
    /// Who gets what this process records.
    private let collectors: CollectorAddresses
    private let limits: Limits
    private let redactor: Redactor
    private let clock: any Clock<Duration>
    /// The feature whose spans are not recorded: what reads traces would only show itself.
    private let silent: String
    /// Takes the files of all processes to the database.
    private let relieve: @Sendable () async throws -> Void
    /// Is told after spans were written.
    private let written: @Sendable () -> Void
    private let state = Mutex(State())

    /// How often the file is written.
    private static let interval = Duration.seconds(1)

    private struct State {
        var spans: [SpanRecord] = []
        var logs: [LogRecord] = []
        var failed = 0
        var dropped = 0
        /// Why the last write failed.
        var problem: (any Error)?
        var hasWritten = false
        /// The bytes that were written since the files were taken to the database.
        var written = 0
        /// Writes once a second while there is something to write.
        var writer: Task<Void, Never>?
        var isClosed = false
    }

    /// - Parameters:
    ///   - folder: for the files of all processes.
    ///   - name: of this process, which no other one has.
    ///   - resource: what this process is.
    ///   - collectors: who gets what it records.
    ///   - relieve: takes the files of all processes to the database, when too much waits.
    ///   - written: is told after spans were written.
    public init(
        in folder: String, as name: String, _ resource: JSONObject,
        for collectors: CollectorAddresses = CollectorAddresses(), limits: Limits,
        without redactor: Redactor, clock: any Clock<Duration>, ignoring silent: String,
        relieve: @escaping @Sendable () async throws -> Void = {}, written: @escaping @Sendable () -> Void = {}
    ) {
        self.folder = folder
        file = SpoolFile("\(folder)/\(name).ndjson")
        (self.resource, self.collectors, self.limits, self.redactor) = (resource, collectors, limits, redactor)
        (self.clock, self.silent, self.relieve, self.written) = (clock, silent, relieve, written)
        sampling = limits.sampling
    }

    /// What only helps to find a mistake is not recorded.
    public var levels: LogLevels? { LogLevels(.info) }

    public func record(_ log: LogRecord) {
        guard log.scope != silent else { return }
        state.withLock { state in
            guard !state.isClosed else { return }
            if state.logs.count < limits.rate { state.logs.append(log) } else { state.dropped += 1 }
            beginWriting(&state)
        }
    }

    public func record(_ span: SpanRecord) {
        guard span.scope != silent else { return }
        state.withLock { state in
            guard !state.isClosed else { return }
            let isFull = state.spans.count >= limits.rate
            if !isFull {
                if span.failure != nil { state.failed += 1 }
                state.spans.append(span)
            } else {
                state.dropped += 1
                // One that failed takes the place of one that did not.
                if span.failure != nil, state.failed < limits.rate,
                    let index = state.spans.lastIndex(where: { $0.failure == nil })
                {
                    state.spans[index] = span
                    state.failed += 1
                }
            }
            beginWriting(&state)
        }
    }

    private func beginWriting(_ state: inout sending State) {
        guard state.writer == nil else { return }
        // `close` cancels and awaits it. It has nothing of the caller in whose task it began.
        state.writer = Task.detached { [self] in await writeWhileNeeded() }
    }

    private func writeWhileNeeded() async {
        while true {
            do { try await clock.sleep(for: Self.interval) } catch { return }
            if !write(isWriter: true) { return }
            if state.withLock({ $0.written >= limits.bytes }) { await takeFiles() }
        }
    }

    private func takeFiles() async {
        state.withLock { $0.written = 0 }
        do { try await relieve() } catch { state.withLock { $0.problem = error } }
    }

    /// Writes what has come together.
    ///
    /// - Parameter isWriter: whether the task asks that writes once a second. It ends if there was nothing, and the next span
    ///   begins another one.
    /// - Returns: whether there was something.
    @discardableResult
    private func write(isWriter: Bool = false) -> Bool {
        let (spans, logs, dropped) = state.withLock { state in
            if isWriter, state.spans.isEmpty, state.logs.isEmpty { state.writer = nil }
            defer { (state.spans, state.logs, state.failed, state.dropped) = ([], [], 0, 0) }
            return (state.spans, state.logs, state.dropped)
        }
        guard !spans.isEmpty || !logs.isEmpty else { return false }
        do {
            // Somebody may have removed it meanwhile.
            try Files.makeDirectories(folder)
            var count = 0
            try file.append { isFirst in
                var bytes: [UInt8] = []
                if isFirst { SpoolLine.write(resource: redactor.redact(resource), for: collectors, into: &bytes) }
                for span in spans { SpanLine.write(span.copy(without: redactor), into: &bytes) }
                for log in logs { LogLine.write(log.redacted(by: redactor), into: &bytes) }
                if dropped > 0 { SpoolLine.write(dropped: dropped, into: &bytes) }
                count = bytes.count
                return bytes
            }
            state.withLock { state in
                (state.problem, state.hasWritten) = (nil, true)
                state.written += count
            }
            written()
        } catch {
            // Tracing must never make work fail. `problem` tells those who read traces.
            state.withLock { state in
                state.problem = error
                state.dropped += spans.count + logs.count + dropped
            }
        }
        return true
    }

    /// Why spans could not be written the last time.
    public var problem: (any Error)? { state.withLock { $0.problem } }

    /// Writes the remaining spans, and moves the files of all processes to the database if there are too many. Later spans are lost.
    public func close() async {
        let writer = state.withLock { state in
            state.isClosed = true
            return state.writer
        }
        writer?.cancel()
        await writer?.value
        write()
        guard state.withLock({ $0.hasWritten }) else { return }
        let isTooMuch: Bool
        do { isTooMuch = try Files.list(folder).count > limits.files } catch {
            // Whoever reads them is told why they cannot be listed.
            isTooMuch = false
        }
        if isTooMuch { await takeFiles() }
    }

    /// Writes what has come together now, so that this process can read its own spans.
    public func flush() { write() }
}

import Capabilities
import FileKit
import JSON
import Synchronization

/// A file of lines of JSON to which any number of processes add entries. It may be moved away or removed at any time.
///
/// Work does not wait for the disk: a task of the file writes what has come together. If the disk is too slow, entries are left
/// out and counted.
final class LogFile: Sendable {
    private struct State {
        var bytes: [UInt8] = []
        var lost = 0
        /// Writes while there is something to write.
        var writer: Task<Void, Never>?
        var isClosed = false
        /// Whether the last write failed, which is said once.
        var isBroken = false
    }

    private let file: SpoolFile
    private let console: LogConsole
    private let state = Mutex(State())

    /// The bytes that may wait.
    private static let most = 4 << 20

    init(_ path: String, _ console: LogConsole) {
        file = SpoolFile(path)
        self.console = console
    }

    func add(_ entry: LogRecord) {
        var line: [UInt8] = []
        JSON.object(entry.json).write(into: &line)
        line.append(UInt8(ascii: "\n"))
        state.withLock { state in
            guard !state.isClosed, state.bytes.count + line.count <= Self.most else { return state.lost += 1 }
            state.bytes += line
            guard state.writer == nil else { return }
            // `close` awaits it. It has nothing of the caller in whose task it began.
            state.writer = Task.detached { [self] in
                while write() {}
            }
        }
    }

    /// - Returns: whether there may be more to write.
    private func write() -> Bool {
        let (bytes, lost) = state.withLock { state in
            if state.bytes.isEmpty { state.writer = nil }
            defer { (state.bytes, state.lost) = ([], 0) }
            return (state.bytes, state.lost)
        }
        guard !bytes.isEmpty else { return false }
        do {
            try file.append { _ in bytes }
            state.withLock { $0.isBroken = false }
            if lost > 0 {
                tell("\(lost) entries of the log were lost, since \(file.path) could not be written in time")
            }
        } catch {
            guard !state.withLock({ exchange(&$0.isBroken, with: true) }) else { return true }
            tell("the log is not written: \(error.message)")
        }
        return true
    }

    private func tell(_ problem: String) {
        console.print(LogRecord(.error, "log", problem, at: .now()))
    }

    /// Writes the remaining entries. Later ones are lost.
    func close() async {
        let writer = state.withLock { state in
            state.isClosed = true
            return state.writer
        }
        await writer?.value
    }
}

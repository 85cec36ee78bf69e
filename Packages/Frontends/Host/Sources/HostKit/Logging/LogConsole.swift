public import Capabilities
import Glibc
import Synchronization

/// Where entries of the log appear on standard error. The frontend of the command says how they are printed there; before and
/// after that they are dropped.
public final class LogConsole: Sendable {
    /// Whether standard error leads to the journal of systemd, which keeps times itself and takes a priority before each line.
    public let isJournal: Bool

    /// In a struct, since a closure held by a mutex is wrapped again with each access.
    private struct Printing {
        var print: (@Sendable (LogRecord) -> Void)?
    }

    private let printing = Mutex(Printing())

    init(isJournal: Bool) {
        self.isJournal = isJournal
    }

    /// Prints entries while a command runs.
    public func begin(_ print: @escaping @Sendable (LogRecord) -> Void) {
        printing.withLock { $0.print = print }
    }

    /// Prints no more entries.
    public func end() {
        printing.withLock { $0.print = nil }
    }

    func print(_ entry: LogRecord) {
        printing.withLock { $0.print }?(entry)
    }

    /// Whether `JOURNAL_STREAM` names the file that standard error is, as systemd says it.
    static func leadsToJournal(_ environment: [String: String], _ descriptor: Int32 = 2) -> Bool {
        guard let place = environment["JOURNAL_STREAM"] else { return false }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { return false }
        return place == "\(status.st_dev):\(status.st_ino)"
    }
}

import Capabilities
import JSON

/// Passes entries of the log on to the file and to standard error, without secrets. A span is an entry when it ends.
final class LogSink: SpanSink {
    private let file: LogFile?
    private let fileLevels: LogLevels
    private let console: LogConsole
    private let consoleLevels: LogLevels
    private let redactor: Redactor

    init(
        file: LogFile?, _ fileLevels: LogLevels, console: LogConsole, _ consoleLevels: LogLevels,
        without redactor: Redactor
    ) {
        (self.file, self.console, self.consoleLevels, self.redactor) = (file, console, consoleLevels, redactor)
        self.fileLevels = file == nil ? LogLevels(nil) : fileLevels
    }

    /// The log has all work, whether its trace is recorded or not.
    var countsAll: Bool { true }

    /// Without a place for entries nothing is made for them.
    var sampling: TraceSampling? { fileLevels.isOff && consoleLevels.isOff ? nil : TraceSampling() }

    var levels: LogLevels? { fileLevels.joined(with: consoleLevels) }

    func record(_ span: SpanRecord) {
        pass(span.level, span.scope) { LogRecord(span.copy(without: redactor)) }
    }

    func record(_ log: LogRecord) {
        pass(log.level, log.scope) { log.redacted(by: redactor) }
    }

    private func pass(_ level: LogLevel, _ scope: String, _ make: () -> LogRecord) {
        let isForFile = fileLevels.includes(level, of: scope)
        let isForConsole = consoleLevels.includes(level, of: scope)
        guard isForFile || isForConsole else { return }
        let entry = make()
        if isForFile { file?.add(entry) }
        if isForConsole, !entry.isTold { console.print(entry) }
    }
}

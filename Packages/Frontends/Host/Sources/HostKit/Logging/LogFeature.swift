import Capabilities
import Glibc
import Registry
import Settings

/// The feature that writes the log of every program: into a file, on standard error, and for journald.
struct LogFeature: Feature {
    static let manifest = Manifest(
        id: "log", summary: "Writes what the program does to a file, the terminal or the journal", version: "0.1.0",
        provides: [.shared((any SpanSink).self), .single(LogConsole.self)], settings: LogSettings.declarations)

    private let settings: LogSettings

    init(_ settings: FeatureSettings) {
        self.settings = LogSettings(reading: settings)
    }

    func register(in registry: inout RegistryBuilder) {
        let surroundings = registry.surroundings
        // The command that writes them stays when the settings change.
        let console = registry.shared("console") {
            LogConsole(isJournal: LogConsole.leadsToJournal(surroundings.environment))
        }
        let file = settings.file.map { LogFile(surroundings.locations.absolute($0.text), console) }
        let sink = LogSink(
            file: file, settings.levels, console: console,
            settings.consoleLevels(isJournal: console.isJournal), without: surroundings.redactor)
        registry.provide((any SpanSink).self, sink as any SpanSink)
        registry.provide(LogConsole.self, console)
        if let file { registry.closes { await file.close() } }
    }
}

/// How much is written to the log.
private enum LogChoice: String, Choice {
    case off
    case error
    case warning
    case info
    case debug

    var level: LogLevel? { LogLevel(rawValue: rawValue) }
}

private struct LogSettings: SettingsRecord {
    private var level = LogChoice.info
    private var scopes: [String: LogChoice] = [:]
    private var console: LogChoice?
    var file: PathValue?

    /// The entries for the file and the journal.
    var levels: LogLevels { LogLevels(level.level, scopes: scopes.mapValues(\.level)) }

    /// The entries for standard error.
    func consoleLevels(isJournal: Bool) -> LogLevels {
        guard let console else { return isJournal ? levels : LogLevels(nil) }
        return LogLevels(console.level)
    }

    static let bindings = [
        bind(
            { $0.file = $1 },
            Setting(
                "file", "A file to which the log is added, a line of JSON for each entry", default: nil, risk: .widens,
                flag: "log-file")),
        bind(
            { $0.level = $1 },
            Setting(
                "level", "The entries of the log that matter at least so much", default: .info, risk: .widens)),
        bind(
            { $0.scopes = $1 },
            Setting(
                "scopes", "Levels for single features and libraries, such as http: debug", default: [:], risk: .widens)),
        bind(
            { $0.console = $1 },
            Setting(
                "console",
                "The entries that are also printed on standard error; --verbose is debug; under systemd those of the log",
                default: nil, risk: .widens)),
    ]
}

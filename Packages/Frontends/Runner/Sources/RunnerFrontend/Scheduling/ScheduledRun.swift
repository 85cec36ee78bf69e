import Bundles
import Capabilities

/// A bundle that another program starts by itself: as units of systemd, or as a line of a crontab.
struct ScheduledRun {
    let bundle: Bundle
    let schedule: BundleSchedule
    /// Where this program lies.
    let program: String
    let inputs: [String]
    /// Where cron's runs leave what they say.
    let logFolder: String
    /// A file with variables for systemd's runs, where there is one.
    let variables: String

    /// Where it runs, so that its paths mean the same whoever starts it.
    private var folder: String { bundle.source.folder }

    private var words: [String] {
        [program, "run", "start", bundle.source.file] + inputs.flatMap { ["--input", $0] } + ["--no-input", "--alone"]
    }

    // MARK: systemd

    static func unitName(of bundle: String) -> String { "martlet-\(bundle)" }
    var unitName: String { Self.unitName(of: bundle.name) }

    var service: String {
        """
        [Unit]
        Description=\(Self.plain("Martlet: " + (bundle.summary ?? bundle.name)))

        [Service]
        Type=oneshot
        WorkingDirectory=\(Self.escaped(folder))
        EnvironmentFile=-\(Self.escaped(variables))
        ExecStart=\(words.map(Self.quoted).joined(separator: " "))

        """
    }

    func timer() -> String {
        let when: String
        switch schedule {
        case .every(let every): when = "OnBootSec=1min\nOnUnitActiveSec=\(every.milliseconds)ms"
        case .cron(let cron):
            when = cron.calendars.map { "OnCalendar=\($0)\n" }.joined() + "Persistent=true"
        }
        return """
            [Unit]
            Description=\(Self.plain("When Martlet runs " + bundle.name))

            [Timer]
            \(when)

            [Install]
            WantedBy=timers.target

            """
    }

    /// A word of `ExecStart=`, in which percent signs, dollars, quotes and backslashes mean something.
    private static func quoted(_ word: String) -> String {
        "\"" + escaped(word).replacing("$", with: "$$") + "\""
    }

    private static func escaped(_ text: String) -> String {
        text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("%", with: "%%")
            .replacing("\n", with: "\\n")
    }

    private static func plain(_ text: String) -> String {
        PlainText.escape(text.replacing("\n", with: " ")).replacing("%", with: "%%")
    }

    // MARK: cron

    /// The end of the line, by which it is found again.
    static func mark(of bundle: String) -> String { "# martlet: \(bundle)" }
    var mark: String { Self.mark(of: bundle.name) }

    func line() throws(RunnerError) -> String {
        let when: String
        switch schedule {
        case .every(let every): when = try Self.fields(every)
        case .cron(let cron): when = cron.line
        }
        // "Percent-signs (%) in the command, unless escaped with backslash (\\), will be changed into newline characters".
        let log = Self.shell("\(logFolder)/\(bundle.name).log")
        let command =
            "cd \(Self.shell(folder)) && \((words + ["--quiet"]).map(Self.shell).joined(separator: " ")) >>\(log) 2>&1"
        guard !command.contains("\n") else {
            throw .schedule("a line of a crontab cannot hold a path with a line break")
        }
        return "\(when) \(command.replacing("%", with: "\\%")) \(mark)"
    }

    private static func shell(_ word: String) -> String {
        "'" + word.replacing("'", with: "'\\''") + "'"
    }

    /// A crontab knows minutes, and only such intervals as an hour, a day or a month begins with anew.
    private static func fields(_ every: Duration) throws(RunnerError) -> String {
        let seconds = every.milliseconds / 1000
        let minutes = seconds / 60
        guard every.milliseconds % 60_000 == 0 else {
            throw .schedule("a crontab counts in minutes; use --systemd for \(every.words)")
        }
        switch minutes {
        case 1..<60 where 60 % minutes == 0: return "*/\(minutes) * * * *"
        case 60..<1440 where minutes % 60 == 0 && 24 % (minutes / 60) == 0: return "0 */\(minutes / 60) * * *"
        case 1440: return "0 0 * * *"
        default: throw .schedule("a crontab has no interval of \(every.words); use --systemd")
        }
    }
}

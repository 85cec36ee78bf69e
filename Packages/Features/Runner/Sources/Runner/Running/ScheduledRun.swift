import Bundles
import Capabilities
import FileKit
import Glibc
import ProcessKit
import Registry

/// The units of systemd or the line of a crontab that start a bundle.
struct ScheduledRun {
    let bundle: Bundle
    let schedule: BundleSchedule
    /// The path of this program.
    let program: String
    let inputs: [String]
    /// The folder for the output of cron's runs.
    let logFolder: String
    /// The file with variables for systemd's runs; it need not exist.
    let variables: String

    /// The working folder, so that relative paths keep their meaning.
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

    /// A word of `ExecStart=`, where percent signs, dollars, quotes and backslashes are special.
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

    /// The end of the line, which identifies it.
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

    /// A crontab counts in minutes, and only intervals that divide an hour or a day evenly.
    private static func fields(_ every: Duration) throws(RunnerError) -> String {
        let seconds = every.milliseconds / 1000
        let minutes = seconds / 60
        guard every.milliseconds % 60_000 == 0 else {
            throw .schedule("a crontab counts in whole minutes; for \(every.words), use --systemd")
        }
        switch minutes {
        case 1..<60 where 60 % minutes == 0: return "*/\(minutes) * * * *"
        case 60..<1440 where minutes % 60 == 0 && 24 % (minutes / 60) == 0: return "0 */\(minutes / 60) * * *"
        case 1440: return "0 0 * * *"
        default: throw .schedule("a crontab cannot express an interval of \(every.words); use --systemd")
        }
    }
}

/// The folder of a user's systemd units.
struct UnitFolder {
    let path: String

    init(_ host: Host) {
        let home = host.environment["XDG_CONFIG_HOME"] ?? (host.environment["HOME"] ?? "") + "/.config"
        path = "\(home)/systemd/user"
    }

    func write(_ files: [Installation.File]) throws {
        try Files.makeDirectories(path, mode: 0o755)
        for file in files { try Files.writeAtomically(Array(file.text.utf8), to: file.name, mode: 0o644) }
    }

    /// Removes a timer and its service, and returns the removed files.
    func remove(_ name: String) throws -> [String] {
        var removed: [String] = []
        // The link goes first, while its target exists.
        for file in ["timers.target.wants/\(name).timer", "\(name).timer", "\(name).service"] {
            let file = "\(path)/\(file)"
            guard Files.exists(file) else { continue }
            try Files.remove(file)
            removed.append(file)
        }
        return removed
    }
}

/// The user's crontab, read and written by the program `crontab`.
struct Crontab {
    private let environment: CommandEnvironment

    init(_ host: Host) {
        // English, because its messages are searched below.
        environment = CommandEnvironment(host.environment.merging(["LC_ALL": "C"]) { $1 })
    }

    /// Whether `crontab` is installed.
    static func isInstalled(_ host: Host) -> Bool { Programs.has("crontab", host) }

    /// Changes the lines; other lines are written back unchanged. Returns whether anything changed.
    @discardableResult
    func change(_ body: (inout [String]) -> Void) async throws -> Bool {
        let before = try await run(Command("crontab", ["-l"], environment: environment))
        // This fails if there is no crontab yet. After any other failure, writing would lose all lines.
        if before.status.code != 0, !String(decoding: before.errors, as: UTF8.self).contains("no crontab") {
            throw notChanged(before.errors)
        }
        let text = before.status.code == 0 ? String(decoding: before.output, as: UTF8.self) : ""
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        while lines.last == "" { lines.removeLast() }
        let former = lines
        body(&lines)
        if lines == former { return false }
        var command = Command("crontab", ["-"], environment: environment)
        command.input = .bytes(Array(lines.map { $0 + "\n" }.joined().utf8))
        let after = try await run(command)
        guard after.status.code == 0 else { throw notChanged(after.errors) }
        return true
    }

    private func run(_ command: Command) async throws -> Launcher.Completion {
        do { return try await Launcher().run(command, timeout: .seconds(10)) } catch let error as ProcessError
            where error.kind == .notFound
        {
            throw RunnerError.schedule("'crontab' is not installed; install cron, or use --systemd")
        }
    }

    private func notChanged(_ errors: [UInt8]) -> RunnerError {
        let words = String(decoding: errors, as: UTF8.self).split(whereSeparator: \.isNewline).joined(separator: "; ")
        return .schedule("cannot change the crontab: \(PlainText.escape(words))")
    }
}

/// What this machine has for scheduled bundles.
enum Programs {
    /// Whether a program is in one of the folders of PATH.
    static func has(_ name: String, _ host: Host) -> Bool {
        (host.environment["PATH"] ?? "/usr/bin:/bin").split(separator: ":").contains { folder in
            unsafe access("\(folder)/\(name)", X_OK) == 0
        }
    }

    /// Whether this machine runs systemd, recognised by its folder as in sd_booted(3).
    static var hasSystemd: Bool { Files.exists("/run/systemd/system") }

    /// Whether systemd runs a user's units while the user is not logged in.
    static func lingers(_ host: Host) -> Bool {
        guard let user = host.environment["USER"] ?? host.environment["LOGNAME"] else { return false }
        return Files.exists("/var/lib/systemd/linger/\(user)")
    }
}

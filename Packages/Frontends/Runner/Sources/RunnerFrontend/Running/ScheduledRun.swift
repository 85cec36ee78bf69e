import Bundles
import Capabilities
import FileKit
import Glibc
import ProcessKit
import Registry

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

/// Where systemd looks for the units of a user.
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

    /// Removes what there is of a timer and its service, and gives the names.
    func remove(_ name: String) throws -> [String] {
        var removed: [String] = []
        // The link goes first, as long as it leads to something.
        for file in ["timers.target.wants/\(name).timer", "\(name).timer", "\(name).service"] {
            let file = "\(path)/\(file)"
            guard Files.exists(file) else { continue }
            try Files.remove(file)
            removed.append(file)
        }
        return removed
    }
}

/// The person's crontab, which the program `crontab` reads and writes.
struct Crontab {
    private let environment: CommandEnvironment

    init(_ host: Host) {
        // In the words of the program that are looked for below.
        environment = CommandEnvironment(host.environment.merging(["LC_ALL": "C"]) { $1 })
    }

    /// Whether the program is there.
    static func isInstalled(_ host: Host) -> Bool { Programs.has("crontab", host) }

    /// Changes the lines; those that stay are written as they were. Gives whether anything has changed.
    @discardableResult
    func change(_ body: (inout [String]) -> Void) async throws -> Bool {
        let before = try await run(Command("crontab", ["-l"], environment: environment))
        // It fails where there is none yet. Where it fails for another reason, all lines would be lost.
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
            throw RunnerError.schedule("there is no program 'crontab' here; install cron, or use --systemd")
        }
    }

    private func notChanged(_ errors: [UInt8]) -> RunnerError {
        let words = String(decoding: errors, as: UTF8.self).split(whereSeparator: \.isNewline).joined(separator: "; ")
        return .schedule("the crontab was not changed: \(PlainText.escape(words))")
    }
}

/// What this machine has for bundles that are to run by themselves.
enum Programs {
    /// Whether a program is in one of the folders of PATH.
    static func has(_ name: String, _ host: Host) -> Bool {
        (host.environment["PATH"] ?? "/usr/bin:/bin").split(separator: ":").contains { folder in
            unsafe access("\(folder)/\(name)", X_OK) == 0
        }
    }

    /// Whether systemd runs this machine, which is told by its folder as in sd_booted(3).
    static var hasSystemd: Bool { Files.exists("/run/systemd/system") }

    /// Whether systemd runs a user's units also while the user is not logged in.
    static func lingers(_ host: Host) -> Bool {
        guard let user = host.environment["USER"] ?? host.environment["LOGNAME"] else { return false }
        return Files.exists("/var/lib/systemd/linger/\(user)")
    }
}

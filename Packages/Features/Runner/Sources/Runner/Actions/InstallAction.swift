import Bundles
import Capabilities
import FileKit
import JSON
import Registry

/// `martlet run install` and `martlet run uninstall`: schedule a bundle with systemd or cron, and remove that schedule.
enum InstallAction {
    static var all: [Action] { [install, uninstall] }

    private static let files = Field<[Installation.File]>("files", "The files") { $0 }
    private static let planned = EventKind("planned", "What would be installed", [files])
    private static let written = EventKind("written", "It was installed", [files])

    private static let install = Action(
        "run.install", "Schedule a bundle with systemd or cron", .writes, taking: InstallArguments.self
    ) { context, arguments in
        let (systemd, cron) = (arguments.systemd, arguments.cron)
        guard systemd != cron else { throw RunnerError.options("give either --systemd or --cron") }
        let host = context.host
        let run = try scheduled(arguments, context)
        let folder = UnitFolder(host)
        let files =
            systemd
            ? [
                Installation.File(name: "\(folder.path)/\(run.unitName).service", text: run.service),
                Installation.File(name: "\(folder.path)/\(run.unitName).timer", text: run.timer()),
            ] : [Installation.File(name: "crontab", text: try run.line() + "\n")]
        var installation = Installation(files: files)
        if arguments.isWritten {
            if systemd {
                try folder.write(files)
                installation.next =
                    "systemctl --user daemon-reload && systemctl --user enable --now \(run.unitName).timer"
            } else {
                // The shell of cron creates the log file, but not its folder.
                try Files.makeDirectories(run.logFolder)
                let line = try run.line()
                try await Crontab(host).change { lines in
                    lines.removeAll { $0.hasSuffix(run.mark) }
                    lines.append(line)
                }
            }
            installation.isWritten = true
        }
        try await context.emit(
            (arguments.isWritten ? written : planned).event(files, text: installation.text))
        if !arguments.isWritten { context.notice("nothing was written; add --write to install it") }
        for hint in hints(isSystemd: systemd, host) { context.notice(hint) }
        return installation
    }
    .byName()
    .streaming([planned.declaration, written.declaration])
    .details(
        "Prints what would be installed. With --write it is installed: units for your user, or a line in your crontab. "
            + "The bundle runs in its own folder, and two runs never overlap. Runs from cron are quiet and log errors "
            + "to a file. Variables, such as MARTLET_PASSPHRASE for a vault, come from the file that the unit names, "
            + "or from lines in the crontab."
    )
    .example("martlet run install nightly.yaml --systemd", "Show the units")
    .example("martlet run install nightly.yaml --cron --write", "Add a line to your crontab")

    private static let uninstall = Action(
        "run.uninstall", "Remove a bundle from systemd and cron", .writes,
        .argument("bundle", "The bundle's file, or its name", as: OwnPath.self, completion: RunCompletion.bundles)
    ) { context, bundle in
        let host = context.host
        let name = try name(of: try context.text(of: bundle), host)
        let unit = ScheduledRun.unitName(of: name)
        let units = try UnitFolder(host).remove(unit)
        var removed = units
        let mark = ScheduledRun.mark(of: name)
        if Crontab.isInstalled(host), try await Crontab(host).change({ $0.removeAll { $0.hasSuffix(mark) } }) {
            removed.append("crontab")
        }
        guard !removed.isEmpty else {
            throw RunnerError.schedule("no systemd or cron schedule found for \(PlainText.escape(name))")
        }
        let next = "systemctl --user daemon-reload && systemctl --user stop \(unit).timer"
        return Removal(files: removed, next: units.isEmpty ? nil : next)
    }
    .byName()
    .example("martlet run uninstall nightly.yaml", "Remove the schedule of a bundle")

    private static func scheduled(_ arguments: InstallArguments, _ context: ActionContext) throws -> ScheduledRun {
        let host = context.host
        let finder = BundleFinder(host: host, trusted: nil)
        let path = try context.text(of: arguments.bundle)
        let bundle: Bundle
        do throws(BundleFailure) { bundle = try Bundle(BundleFinder.read(finder.absolute(path))) } catch {
            throw error.shown(from: host.locations.current)
        }
        guard let schedule = arguments.every.map(BundleSchedule.every) ?? bundle.schedule else {
            throw RunnerError.schedule("\(bundle.name) has no schedule; add one to the bundle, or use --every")
        }
        let variables = "\(host.locations.config)/\(ScheduledRun.unitName(of: bundle.name)).env"
        // A typed path is relative to the current folder, but the run begins in the folder of the bundle.
        let absolute = try arguments.inputs.map { input -> String in
            let parts = input.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if let secret = bundle.inputs.first(where: { $0.isSecret && $0.name == parts[0] }) {
                if parts.count == 2 { host.redactor.learn(Secret(String(parts[1]))) }
                throw RunnerError.scheduledSecret(input: secret.name, variables: arguments.systemd ? variables : nil)
            }
            if parts.count == 2, host.redactor.redact(String(parts[1])) != String(parts[1]) {
                throw RunnerError.scheduledSecret(
                    input: String(parts[0]), variables: arguments.systemd ? variables : nil)
            }
            guard parts.count == 2, bundle.inputs.contains(where: { $0.name == parts[0] && $0.kind == .path }) else {
                return input
            }
            return "\(parts[0])=\(finder.absolute(String(parts[1])))"
        }
        return ScheduledRun(
            bundle: bundle, schedule: schedule, program: try Files.canonical("/proc/self/exe"), inputs: absolute,
            logFolder: "\(host.locations.state)/logs", variables: variables)
    }

    private static func hints(isSystemd: Bool, _ host: Host) -> [String] {
        if !isSystemd {
            return Crontab.isInstalled(host)
                ? [] : ["'crontab' is not installed; install cron, or use --systemd"]
        }
        guard Programs.has("systemctl", host), Programs.hasSystemd else {
            return ["this machine does not run systemd, so the timer would never start; use --cron"]
        }
        return Programs.lingers(host)
            ? [] : ["the bundle runs only while you are logged in; to change that, run 'loginctl enable-linger'"]
    }

    /// The name of a bundle. The name alone is enough, so that a bundle whose file is gone can be removed too.
    private static func name(of word: String, _ host: Host) throws -> String {
        let path = BundleFinder(host: host, trusted: nil).absolute(word)
        guard Files.exists(path) else { return word }
        do throws(BundleFailure) {
            let name = try BundleFinder.read(path).value["name"]?.string
            if let name { return name }
        } catch {
            throw error.shown(from: host.locations.current)
        }
        throw RunnerError.schedule("\(PlainText.escape(word)) has no name; give the name of the bundle instead")
    }
}

/// The arguments of `run.install`.
struct InstallArguments: ActionArguments {
    private(set) var bundle = OwnPath("")
    private(set) var (systemd, cron, isWritten) = (false, false, false)
    private(set) var every: Duration?
    private(set) var inputs: [String] = []

    static let bindings = [
        bind(\.bundle, .argument("bundle", "The bundle's file")),
        bind(\.systemd, .flag("systemd", "Install a systemd service and timer")),
        bind(\.cron, .flag("cron", "Install a line in your crontab")),
        bind(\.every, .option("every", "Interval, instead of the bundle's schedule")),
        bind(\.inputs, .option("input", "Input value: name=value", short: "i")),
        bind(\.isWritten, .flag("write", "Install instead of only printing")),
    ]

    init() {}
}

/// The files that schedule a bundle.
struct Installation: Record {
    let files: [File]
    var isWritten = false
    var next: String?

    struct File: Record {
        let name: String
        let text: String

        static let fields: [Field<File>] = [
            Field("name", "Where it is installed", .name) { $0.name }, Field("text", "Its content") { $0.text },
        ]
    }

    static let fields: [Field<Installation>] = [
        Field("written", "Whether it was installed") { $0.isWritten },
        Field("next", "The command to run next") { $0.next },
        Field("files", "The files", .detail) { $0.files },
    ]

    /// All files as text for a person.
    var text: String {
        let shown = files.map { "# \($0.name)\n\($0.text)" }.joined(separator: "\n")
        guard isWritten else { return shown }
        return shown + "\nwritten" + (next.map { "; now: \($0)" } ?? "") + "\n"
    }
}

/// What `run.uninstall` removed.
struct Removal: Record {
    let files: [String]
    let next: String?

    static let fields: [Field<Removal>] = [
        Field("removed", "Files that were removed or changed") { $0.files },
        Field("next", "The command to run next") { $0.next },
    ]
}

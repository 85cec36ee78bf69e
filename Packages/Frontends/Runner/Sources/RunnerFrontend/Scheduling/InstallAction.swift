import Bundles
import Capabilities
import FileKit
import Glibc
import ProcessKit
import Registry

/// `martlet run install`: lets systemd or cron run a bundle.
enum InstallAction {
    static var all: [Action] { [install] }

    private static let install = Action(
        "run.install", "Let systemd or cron run a bundle by itself", .writes,
        .argument("bundle", "The bundle's file", as: PathValue.self),
        .flag("systemd", "As a service and a timer of systemd"),
        .flag("cron", "As a line of your crontab"),
        .option("every", "The interval, where the bundle has no schedule", as: Duration?.self),
        .option("input", "A value for an input: name=value", as: [String].self, short: "i"),
        .flag("write", "Not only show it, but put it in place")
    ) { context, bundle, systemd, cron, every, inputs, write in
        guard systemd != cron else { throw RunnerError.options("say either --systemd or --cron") }
        let run = try scheduled(bundle.text, every, inputs, context)
        let plan = systemd ? try units(run, context.host) : try crontab(run)
        for file in plan.files { context.notice("\(file.name):\n\(file.text)") }
        guard write else { return plan }
        if systemd { try writeUnits(plan) } else { try await writeLine(run, context.host) }
        return Installation(
            files: plan.files, isWritten: true,
            next: systemd
                ? "systemctl --user daemon-reload && "
                    + "systemctl --user enable --now \(run.unitName).timer" : nil)
    }
    .details("Shows what it would write. With --write it is written: units for your user, or a line of your crontab.")
    .example("martlet run install nightly.yaml --systemd", "Show the units")

    private static func scheduled(
        _ path: String, _ every: Duration?, _ inputs: [String], _ context: ActionContext
    ) throws -> ScheduledRun {
        let finder = BundleFinder(host: context.host, trusted: nil)
        let bundle: Bundle
        do throws(BundleFailure) { bundle = try Bundle(BundleFinder.read(finder.absolute(path))) } catch {
            throw error.shown(from: context.host.locations.current)
        }
        guard let schedule = every.map(BundleSchedule.every) ?? bundle.schedule else {
            throw RunnerError.schedule("\(bundle.name) has no schedule; write one into it, or say --every")
        }
        return ScheduledRun(
            bundle: bundle, schedule: schedule, program: try Files.canonical("/proc/self/exe"),
            folder: context.host.locations.current, inputs: inputs)
    }

    private static func units(_ run: ScheduledRun, _ host: Host) throws -> Installation {
        let home = host.environment["XDG_CONFIG_HOME"] ?? (host.environment["HOME"] ?? "") + "/.config"
        let folder = "\(home)/systemd/user"
        return Installation(files: [
            .init(name: "\(folder)/\(run.unitName).service", text: run.service),
            .init(name: "\(folder)/\(run.unitName).timer", text: try run.timer()),
        ])
    }

    private static func crontab(_ run: ScheduledRun) throws -> Installation {
        Installation(files: [.init(name: "crontab", text: try run.line() + "\n")])
    }

    private static func writeUnits(_ plan: Installation) throws {
        for file in plan.files {
            if let slash = file.name.lastIndex(of: "/") {
                try Files.makeDirectories(String(file.name[..<slash]), mode: 0o755)
            }
            try Files.writeAtomically(Array(file.text.utf8), to: file.name, mode: 0o644)
        }
    }

    /// Keeps all other lines of the person's crontab.
    private static func writeLine(_ run: ScheduledRun, _ host: Host) async throws {
        // In the words of the program that are looked for below.
        let environment = CommandEnvironment(host.environment.merging(["LC_ALL": "C"]) { $1 })
        let launcher = Launcher()
        let before = try await launcher.run(Command("crontab", ["-l"], environment: environment), timeout: .seconds(10))
        // It fails where there is none yet. Where it fails for another reason, all lines would be lost.
        if before.status.code != 0, !String(decoding: before.errors, as: UTF8.self).contains("no crontab") {
            throw notChanged(before.errors)
        }
        var lines = String(decoding: before.output, as: UTF8.self).split(
            separator: "\n", omittingEmptySubsequences: false
        ).map(String.init)
        while lines.last == "" { lines.removeLast() }
        lines.removeAll { $0.hasSuffix(run.mark) }
        lines.append(try run.line())
        var command = Command("crontab", ["-"], environment: environment)
        command.input = .bytes(Array((lines.joined(separator: "\n") + "\n").utf8))
        let after = try await launcher.run(command, timeout: .seconds(10))
        guard after.status.code == 0 else { throw notChanged(after.errors) }
    }

    private static func notChanged(_ errors: [UInt8]) -> RunnerError {
        let words = String(decoding: errors, as: UTF8.self).split(whereSeparator: \.isNewline).joined(separator: "; ")
        return .schedule("the crontab was not changed: \(PlainText.escape(words))")
    }
}

/// What lets a bundle run by itself.
struct Installation: Record {
    let files: [File]
    var isWritten = false
    var next: String?

    struct File: Record {
        let name: String
        let text: String

        static let fields: [Field<File>] = [
            Field("name", "Where it belongs", .name) { $0.name }, Field("text", "What it says") { $0.text },
        ]
    }

    static let fields: [Field<Installation>] = [
        Field("written", "Whether it was put in place") { $0.isWritten },
        Field("next", "What is left to do") { $0.next },
        Field("files", "What it consists of", .detail) { $0.files },
    ]
}

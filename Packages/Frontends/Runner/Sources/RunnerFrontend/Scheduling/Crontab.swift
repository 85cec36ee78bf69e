import Capabilities
import ProcessKit
import Registry

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

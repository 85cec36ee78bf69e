import FileKit
public import HTTPClient
import ProcessKit

/// Opens addresses in the person's browser, where there is one that the person would see.
///
/// The address is part of the browser's command line, which other users of the machine can read: it may hold no token.
public struct Browser: Sendable {
    private let environment: [String: String]

    /// - Parameter environment: the variables of this process; they say which browser there is.
    public init(environment: [String: String]) {
        self.environment = environment
    }

    /// Whether there is anything to try.
    public var isAvailable: Bool {
        !BrowserCommand.candidates(for: "", environment: environment).isEmpty
    }

    /// Starts the browser and does not wait for it. False when none could be started, which is no error: whoever calls
    /// this shows the address anyway.
    public func open(_ url: HTTPURL) async -> Bool {
        for candidate in BrowserCommand.candidates(for: url.text, environment: environment) {
            if let program = path(of: candidate.program), await start(program, candidate.arguments) { return true }
        }
        return false
    }

    /// In a session of its own, because a browser stays when this program ends.
    private func start(_ program: String, _ arguments: [String]) async -> Bool {
        var command = Command(
            "setsid", ["--fork", program] + arguments, environment: .inheriting(environment))
        (command.input, command.output, command.errors) = (.null, .null, .null)
        // What `setsid` has forked leaves its group some time after `setsid` has ended.
        command.leavesOthers = true
        do {
            return try await Launcher().withChild(command) { try await $0.exitStatus() == .exited(0) }
        } catch {
            // The caller shows the address, so that a person can go on without a browser of this machine.
            return false
        }
    }

    /// The program, which `setsid` would look for only when nobody hears of a failure any more.
    private func path(of program: String) -> String? {
        if program.hasPrefix("/") { return Self.isProgram(program) ? program : nil }
        guard !program.contains("/") else { return nil }
        let directories = (environment["PATH"] ?? "/usr/local/bin:/usr/bin:/bin").split(separator: ":")
        return directories.lazy.filter { $0.hasPrefix("/") }.map { "\($0)/\(program)" }.first(where: Self.isProgram)
    }

    private static func isProgram(_ path: String) -> Bool {
        // What cannot be looked at cannot be run either.
        guard let info = try? Files.info(path) else { return false }
        return info.kind == .regular && info.mode & 0o111 != 0
    }
}

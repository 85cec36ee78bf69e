import Capabilities
import FileKit
public import HTTPClient
import ProcessKit

/// Opens addresses in the user's browser, if there is one that the user can see.
///
/// The address is part of the browser's command line, which other users of the machine can read, so it must not contain
/// a token.
public struct Browser: Sendable {
    private let environment: [String: String]

    /// - Parameter environment: the variables of this process, which select the browser.
    public init(environment: [String: String]) {
        self.environment = environment
    }

    /// Whether there is a browser command to try.
    public var isAvailable: Bool {
        !BrowserCommand.candidates(for: "", environment: environment).isEmpty
    }

    /// Starts the browser without waiting for it. Returns false when no browser could be started. That is not an error,
    /// because the caller shows the address anyway.
    public func open(_ url: HTTPURL) async -> Bool {
        for candidate in BrowserCommand.candidates(for: url.text, environment: environment) {
            if let program = path(of: candidate.program), await start(program, candidate.arguments) { return true }
        }
        return false
    }

    /// Starts the browser in its own session, because it outlives this program.
    private func start(_ program: String, _ arguments: [String]) async -> Bool {
        var command = Command(
            "setsid", ["--fork", program] + arguments, environment: .inheriting(environment))
        (command.input, command.output, command.errors) = (.null, .null, .null)
        // The process that `setsid` forks leaves its group shortly after `setsid` has ended.
        command.leavesOthers = true
        do {
            return try await Launcher().withChild(command) { try await $0.exitStatus() == .exited(0) }
        } catch {
            // The caller shows the address, so that the user can open it in another browser.
            return false
        }
    }

    /// The path of the program. `setsid` itself would search for it too late to report a failure.
    private func path(of program: String) -> String? {
        if AbsolutePath.isAbsolute(program) { return Self.isProgram(program) ? program : nil }
        guard !program.contains("/") else { return nil }
        let directories = (environment["PATH"] ?? "/usr/local/bin:/usr/bin:/bin").split(separator: ":")
        return directories.lazy.filter { $0.hasPrefix("/") }.map { "\($0)/\(program)" }.first(where: Self.isProgram)
    }

    private static func isProgram(_ path: String) -> Bool {
        guard let info = try? Files.info(path) else { return false }
        return info.kind == .regular && info.mode & 0o111 != 0
    }
}

/// The command line that starts a browser, found without a shell.
struct BrowserCommand: Sendable, Hashable {
    let program: String
    let arguments: [String]

    /// The commands to try, in order. Empty when the user could not see a browser.
    static func candidates(for url: String, environment: [String: String]) -> [BrowserCommand] {
        let named = environment["BROWSER"] ?? ""
        var commands = named.split(separator: ":").compactMap { BrowserCommand($0, url: url) }
        let hasDisplay = ["DISPLAY", "WAYLAND_DISPLAY"].contains { environment[$0]?.isEmpty == false }
        // The display of an ssh session is on another machine, whose browser cannot reach a port of this one.
        let isRemote = ["SSH_CONNECTION", "SSH_TTY"].contains { environment[$0]?.isEmpty == false }
        if hasDisplay && !isRemote { commands.append(BrowserCommand(program: "xdg-open", arguments: [url])) }
        return commands
    }

    init(program: String, arguments: [String]) {
        self.program = program
        self.arguments = arguments
    }

    /// One part of `BROWSER`: a command in which `%s` stands for the address and `%%` for a percent sign.
    private init?(_ text: Substring, url: String) {
        var words = text.split(separator: " ").map { Self.filled(String($0), url) }
        guard !words.isEmpty else { return nil }
        if !Self.hasPlace(text) { words.append(url) }
        program = words.removeFirst()
        arguments = words
    }

    private static func hasPlace(_ text: Substring) -> Bool {
        var isEscape = false
        for character in text {
            if isEscape, character == "s" { return true }
            isEscape = !isEscape && character == "%"
        }
        return false
    }

    private static func filled(_ word: String, _ url: String) -> String {
        var (result, isEscape) = ("", false)
        for character in word {
            switch (isEscape, character) {
            case (true, "s"): result += url
            case (true, "%"): result.append("%")
            case (true, _): result += "%\(character)"
            case (false, "%"): break
            case (false, _): result.append(character)
            }
            isEscape = !isEscape && character == "%"
        }
        return isEscape ? result + "%" : result
    }
}

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

/// The words that start a browser, found without a shell.
struct BrowserCommand: Sendable, Hashable {
    let program: String
    let arguments: [String]

    /// The commands to try in order; none where nobody would see a browser.
    static func candidates(for url: String, environment: [String: String]) -> [BrowserCommand] {
        let named = environment["BROWSER"] ?? ""
        var commands = named.split(separator: ":").compactMap { BrowserCommand($0, url: url) }
        let hasDisplay = ["DISPLAY", "WAYLAND_DISPLAY"].contains { environment[$0]?.isEmpty == false }
        // The display of a session over ssh is another machine's, whose browser would not find this one's port.
        let isRemote = ["SSH_CONNECTION", "SSH_TTY"].contains { environment[$0]?.isEmpty == false }
        if hasDisplay && !isRemote { commands.append(BrowserCommand(program: "xdg-open", arguments: [url])) }
        return commands
    }

    init(program: String, arguments: [String]) {
        self.program = program
        self.arguments = arguments
    }

    /// One part of `BROWSER`: words in which `%s` stands for the address and `%%` for a percent sign.
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

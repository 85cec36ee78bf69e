import Capabilities

/// A line that begins with a slash.
enum ConsoleCommand: Sendable, Hashable {
    case help, new, resume(String?), model(String?), tools, mode(String?), system(String), attach(String), retry, stop,
        save, clear,
        quit

    static let names = [
        "/help", "/new", "/resume", "/model", "/tools", "/mode", "/system", "/attach", "/retry", "/stop", "/save",
        "/clear",
        "/quit",
    ]

    static let overview = """
        /new              begin another conversation
        /resume [id]      go on with the newest one, or with the one named
        /model [name]     show who answers, or let another model answer
        /tools            let the model use tools, or not
        /mode [name]      show or set how far it goes unasked: off, read-only, workspace, full
        /system <text>    begin another conversation with this instruction
        /attach <file>    send a file with your next message
        /retry            say the last thing again
        /stop             say how an answer is stopped
        /save             show under which name it is kept
        /clear            begin another conversation on an empty screen
        /quit             end, as Ctrl-D does; Ctrl-C stops an answer
        """

    /// Whether a line is a command. A path at the beginning of a message is none: `/etc/hosts looks odd`.
    static func isCommand(_ line: String) -> Bool {
        guard line.hasPrefix("/") else { return false }
        let word = line.prefix { !$0.isWhitespace }
        return word == "/?" || word.dropFirst().allSatisfy { $0.isLetter || $0 == "-" }
    }

    init(_ line: String) throws(ConsoleCommandError) {
        let parts = line.split(separator: " ", maxSplits: 1)
        let name = parts.first.map(String.init) ?? line
        let rest = parts.count > 1 ? String(parts[1]) : nil
        func needed(_ what: String) throws(ConsoleCommandError) -> String {
            guard let rest, !rest.isEmpty else { throw ConsoleCommandError(message: "\(name) needs \(what)") }
            return rest
        }
        switch name {
        case "/help", "/?": self = .help
        case "/new": self = .new
        case "/resume": self = .resume(rest)
        case "/model": self = .model(rest)
        case "/tools": self = .tools
        case "/mode": self = .mode(rest)
        case "/system": self = .system(try needed("an instruction"))
        case "/attach": self = .attach(try needed("a file"))
        case "/retry": self = .retry
        case "/stop": self = .stop
        case "/save": self = .save
        case "/clear": self = .clear
        case "/quit", "/exit", "/bye": self = .quit
        default:
            throw ConsoleCommandError(
                message: "there is no command \(PlainText.escape(name))"
                    + "\(Suggestion.text(for: name, among: Self.names)); /help shows them, and a message begins with a space"
            )
        }
    }
}

/// A slash with something else behind it.
struct ConsoleCommandError: Failure {
    let message: String
    var code: String { "chat.command" }
    var exit: ExitCode { .usage }
}

import Capabilities
import FileKit
import HostKit
import Registry
import Settings
import Synchronization
import TerminalKit

/// The choices of the setting `terminal.theme`.
enum ThemeChoice: String, Choice {
    case auto, light, dark
    case highContrast = "high-contrast"
    case none

    /// The theme for a background, which may be unknown.
    func theme(on background: TerminalBackground?) -> Theme {
        switch (self, background) {
        case (.none, _): .plain
        case (.light, _), (.auto, .light): .light
        case (.dark, _), (.auto, .dark): .dark
        case (.auto, nil): .terminal
        case (.highContrast, .light): .highContrastLight
        case (.highContrast, _): .highContrastDark
        }
    }

    fileprivate var needsBackground: Bool { self == .auto || self == .highContrast }
}

/// The theme of a terminal, determined when the first colour is drawn.
///
/// The background is taken from the environment or asked from the terminal. The answer is stored for an hour in a small
/// file for that terminal, because most commands finish before a slow terminal answers.
final class TerminalColors: Sendable {
    private static let memory = Duration.seconds(3_600)

    private let choice: ThemeChoice
    private let environment: [String: String]
    private let terminal: Terminal
    /// Whether the terminal may be asked. A pager behind a pipe reads from the same terminal.
    private let mayAsk: Bool
    private let folder: String
    private let now: @Sendable () -> Timestamp
    private let query = BackgroundQuery()
    private let found = Mutex<Theme?>(nil)

    init(_ host: Host) {
        choice = host.settings.view(for: TerminalFeature.manifest.id)[TerminalFeature.theme]
        environment = host.environment
        folder = host.locations.cache + "/terminals"
        now = host.now
        let output = Terminal(fileDescriptor: 1)
        mayAsk = output.isTerminal
        terminal = mayAsk ? output : Terminal(fileDescriptor: 2)
    }

    /// The theme for work that draws by itself.
    var themes: Theme.Choice {
        Theme.Choice { [self] in
            theme
        } known: { [self] in
            choice.theme(on: choice.needsBackground ? known?.background : nil)
        } on: { [choice] in
            choice.theme(on: $0)
        }
    }

    var theme: Theme {
        found.withLock { found in
            if let found { return found }
            let theme = choice.theme(on: choice.needsBackground ? background() : nil)
            found = theme
            return theme
        }
    }

    /// Must be called before a question and at the end: a late answer of the terminal must not be taken for typing.
    func settle() {
        query.finish()
        // An answer that is too late for this command is stored for the next.
        if let identity = terminal.identity, case .known = query.answer { remember(query.answer, identity) }
    }

    /// What is known without asking: by the environment, or from the last time. Nil if nobody has asked lately.
    private var known: (background: TerminalBackground?, Void)? {
        if let told = TerminalBackground(environment: environment) { return (told, ()) }
        return terminal.identity.flatMap { remembered($0) }
    }

    private func background() -> TerminalBackground? {
        if let known { return known.background }
        guard let identity = terminal.identity else { return nil }
        // Over a slow line the answer would come too late, and inside another program it might reach that program
        // instead.
        guard mayAsk, !isFarAway, !TerminalAbilities.isDumb(environment) else { return nil }
        let answer = query.ask()
        remember(answer, identity)
        if case .known(let background) = answer { return background }
        return nil
    }

    private var isFarAway: Bool { ["SSH_CONNECTION", "SSH_TTY"].contains { !(environment[$0] ?? "").isEmpty } }

    // MARK: Memory

    /// One file for each kind of terminal, so that their number stays small.
    private func file(_ identity: String) -> String { "\(folder)/\(identity.prefix { $0 != "-" })" }

    private func remembered(_ identity: String) -> (background: TerminalBackground?, Void)? {
        do throws(FileError) {
            let text = String(decoding: try Files.read(file(identity), limit: 1_000), as: UTF8.self)
            let words = text.split(separator: " ").map(String.init)
            guard words.count == 3, words[0] == identity, let time = Int64(words[1]),
                (0...Int64(Self.memory.components.seconds)).contains(now().microseconds / 1_000_000 - time)
            else { return nil }
            return (TerminalBackground(rawValue: words[2]), ())
        } catch {
            // Nothing is stored yet, which is not an error.
            return nil
        }
    }

    private func remember(_ answer: BackgroundQuery.Answer, _ identity: String) {
        let word: String
        switch answer {
        case .known(let background): word = background.rawValue
        case .unknown: word = "unknown"
        case .notAsked: return
        }
        let text = "\(identity) \(now().microseconds / 1_000_000) \(word)"
        do throws(FileError) {
            try Files.makeDirectories(folder)
            try Files.writeAtomically(Array(text.utf8), to: file(identity))
        } catch {
            // Then the terminal is asked again next time.
        }
    }
}

/// The settings for the look of the output.
struct TerminalFeature: Feature {
    static let manifest = Manifest(
        id: "terminal", summary: "How output looks on a terminal", version: "0.1.0", settings: [theme.declaration],
        namespaces: [],
        variables: [
            "NO_COLOR": "Turns colours off", "CLICOLOR_FORCE": "Turns colours on when output is not a terminal",
        ])

    static let theme = Setting(
        "theme",
        "Colours: auto for the background that the terminal reports, light or dark for a fixed one, high-contrast, or none",
        default: ThemeChoice.auto)

    init(_ settings: FeatureSettings) {}

    func register(in registry: inout RegistryBuilder) {}
}

/// What a terminal can do, according to the environment.
enum TerminalAbilities {
    /// Whether it understands no escape sequence.
    static func isDumb(_ environment: [String: String]) -> Bool {
        let term = environment["TERM"] ?? ""
        return term.isEmpty || term == "dumb"
    }

    /// Whether the terminal is known to support links (OSC 8). Terminal multiplexers may not pass them on.
    static func followsLinks(_ environment: [String: String]) -> Bool {
        func isSet(_ name: String) -> Bool { !(environment[name] ?? "").isEmpty }
        let term = environment["TERM"] ?? ""
        if isDumb(environment) || isSet("TMUX") || isSet("STY") || term.hasPrefix("screen") || term.hasPrefix("tmux") {
            return false
        }
        if ["xterm-kitty", "xterm-ghostty", "alacritty", "foot", "wezterm"].contains(term) { return true }
        let programs = ["iTerm.app", "WezTerm", "vscode", "ghostty"]
        if let program = environment["TERM_PROGRAM"], programs.contains(program) { return true }
        if isSet("WT_SESSION") || isSet("KITTY_WINDOW_ID") { return true }
        // The first versions that support links without problems.
        return atLeast(5202, environment["VTE_VERSION"]) || atLeast(201_100, environment["KONSOLE_VERSION"])
    }

    private static func atLeast(_ version: Int, _ said: String?) -> Bool {
        said.flatMap { Int($0) }.map { $0 >= version } ?? false
    }
}

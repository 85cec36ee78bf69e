import Capabilities
import JSON
import Screens
import TerminalKit

/// What a key can do in the shell. The raw value names it in the setting `shell.keys`.
enum ShellCommand: String, Sendable, CaseIterable {
    case up, down
    case pageUp = "page-up"
    case pageDown = "page-down"
    case first, last, left, right, open, fold
    case foldAll = "fold-all"
    case next, previous, back
    case search
    case findNext = "find-next"
    case findPrevious = "find-previous"
    case commands, menu
    case previousTab = "previous-tab"
    case nextTab = "next-tab"
    case pin
    case write, copy
    case copyCode = "copy-code"
    case answer, runs, refresh, redraw, help, quit

    /// What it does, for the help.
    var words: String {
        switch self {
        case .up: "up"
        case .down: "down"
        case .pageUp: "a page up"
        case .pageDown: "a page down"
        case .first: "the first row"
        case .last: "the last row, and what comes after it"
        case .left: "the block before, of blocks with titles in a row, or back in long lines"
        case .right: "the block after, or the rest of long lines"
        case .open: "open, or what the hint says"
        case .fold: "fold or open"
        case .foldAll: "fold or open all thoughts, or all that is like the selected row"
        case .next: "the next panel, or the detail"
        case .previous: "the panel before"
        case .back: "back"
        case .search: "search on this page"
        case .findNext: "the next place that was found"
        case .findPrevious: "the place before"
        case .commands: "all commands and screens"
        case .menu: "what can be done with the selected row"
        case .previousTab: "the tab before; 1 to 9 go to a tab"
        case .nextTab: "the next tab"
        case .pin: "keep this screen beside all others; there again: no longer"
        case .write: "write a message"
        case .copy: "copy the selected row"
        case .copyCode: "copy the last code block, of the selected entry if it has one"
        case .answer: "answer the oldest question"
        case .runs: "what runs and what was done"
        case .refresh: "look again"
        case .redraw: "draw everything again"
        case .help: "this help"
        case .quit: "quit"
        }
    }

    /// Its keys unless the settings say otherwise. Letters of links on a screen come before them.
    fileprivate var usualKeys: [String] {
        switch self {
        case .up: ["up", "k"]
        case .down: ["down", "j"]
        case .pageUp: ["page-up", "b"]
        case .pageDown: ["page-down", "f"]
        case .first: ["home", "g"]
        case .last: ["end", "G"]
        case .left: ["left", "h"]
        case .right: ["right", "l"]
        case .open: ["enter"]
        case .fold: ["space"]
        case .foldAll: ["Z"]
        case .next: ["tab"]
        case .previous: ["shift-tab"]
        case .back: ["esc"]
        case .search: ["/"]
        case .findNext: ["n"]
        case .findPrevious: ["N"]
        case .commands: [":", "ctrl-p"]
        case .menu: ["m"]
        case .previousTab: ["["]
        case .nextTab: ["]"]
        case .pin: ["P"]
        case .write: ["i"]
        case .copy: ["y"]
        case .copyCode: ["Y"]
        case .answer: ["A"]
        case .runs: ["R"]
        case .refresh: ["ctrl-r", "f5"]
        case .redraw: ["ctrl-l"]
        case .help: ["?", "f1"]
        case .quit: ["q"]
        }
    }
}

/// The commands of keys.
struct KeyMap: Sendable {
    private var commands: [KeyPress: ShellCommand] = [:]
    /// The names of the keys of each command.
    private(set) var names: [ShellCommand: [String]] = [:]
    /// What is wrong with the settings; the usual keys are used there.
    private(set) var problems: [String] = []

    /// - Parameter settings: keys by command, with spaces between several.
    init(_ settings: [String: String] = [:]) {
        var chosen: [ShellCommand: [String]] = [:]
        for (name, keys) in settings.sorted(by: { $0.key < $1.key }) {
            guard let command = ShellCommand(rawValue: name) else {
                let all = ShellCommand.allCases.map(\.rawValue)
                problems.append("there is no command \(name.quotedForMessage)\(Suggestion.text(for: name, among: all))")
                continue
            }
            let words = keys.split(whereSeparator: \.isWhitespace).map(String.init)
            let unknown = words.filter { KeyPress(name: $0) == nil }
            if words.isEmpty || !unknown.isEmpty {
                problems.append(
                    "\(name) has no key \((unknown.first ?? keys).quotedForMessage); write a letter or ctrl-p")
            } else {
                chosen[command] = words
            }
        }
        // Chosen keys come first, so that a usual key gives way to them without a conflict.
        for (command, keys) in chosen.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            for key in keys { add(key, command, isChosen: true) }
        }
        for command in ShellCommand.allCases where names[command] == nil {
            for key in command.usualKeys { add(key, command, isChosen: false) }
        }
    }

    private mutating func add(_ key: String, _ command: ShellCommand, isChosen: Bool) {
        guard let press = KeyPress(name: key) else { return }
        if let other = commands[press] {
            if isChosen { problems.append("\(key) is given to \(other.rawValue) and to \(command.rawValue)") }
            return
        }
        commands[press] = command
        names[command, default: []].append(key)
    }

    subscript(_ press: KeyPress) -> ShellCommand? {
        if let command = commands[press] { return command }
        // Some terminals report Shift with signs that need it.
        guard case .character = press.key, press.modifiers == .shift else { return nil }
        return commands[KeyPress(press.key)]
    }

    /// The first key of a command, for a hint.
    func name(of command: ShellCommand) -> String { names[command]?.first.map(Self.shown) ?? "" }

    private static func shown(_ name: String) -> String {
        switch name {
        case "enter": "Return"
        case "up": "↑"
        case "down": "↓"
        case "left": "←"
        case "right": "→"
        default:
            name.count == 1
                ? name
                : name.split(separator: "-").map { $0.prefix(1).uppercased() + $0.dropFirst() }
                    .joined(separator: name.hasPrefix("page") ? " " : "-")
        }
    }

    /// All keys with what they do.
    var help: Block {
        let keys = ShellCommand.allCases.map { command in
            (names[command, default: []].map(Self.shown).joined(separator: ", "), command.words)
        }
        let writing = [
            ("Return", "send"), ("Alt-Return, Ctrl-J", "a new line"), ("Ctrl-O", "write in $EDITOR"),
            ("/ID", "do that action instead of sending"),
            ("@FILE", "send that file too, where the screen takes files; @\"A B.TXT\" if its path has spaces"),
            ("!COMMAND", "run it, where the screen runs commands; with a space before it, it is sent"),
            ("Tab", "complete a file after @, or an id after /; otherwise the next panel"),
            ("Esc", "leave the text, which stays"),
        ]
        let inForm = [
            ("↑, ↓, Return", "another field; Return on the button does it"),
            ("Tab", "complete what is begun; otherwise the next field"),
            ("→", "at the end: the next of the words below the field"), ("Space", "another choice"),
        ]
        let always = [("Ctrl-C", "stop what runs; twice: quit"), ("Ctrl-Z", "stop the shell; fg continues it")]
        let groups = [("On a page", keys), ("While writing", writing), ("In a form", inForm), ("Always", always)]
        return .stack(
            groups.map { title, keys in
                let shown = keys.filter { !$0.0.isEmpty }
                return Block(
                    .values(
                        Values(
                            shown.map { Schema.Property($0.0, "", .string) },
                            JSONObject(shown.map { ($0.0, JSON.string($0.1)) }))), id: title, title: title)
            }, id: "help")
    }
}

extension KeyPress {
    /// A key by its name, such as `a`, `ctrl-p`, `shift-tab`, `page-down` or `f5`; nil if there is none.
    init?(name: String) {
        var rest = name[...]
        var modifiers: Modifiers = []
        for (prefix, modifier) in [("ctrl-", Modifiers.ctrl), ("alt-", .alt), ("shift-", .shift)] {
            if rest.hasPrefix(prefix), rest.count > prefix.count {
                rest = rest.dropFirst(prefix.count)
                modifiers.insert(modifier)
            }
        }
        let named: [Substring: Key] = [
            "enter": .enter, "tab": .tab, "backspace": .backspace, "esc": .escape, "up": .up, "down": .down,
            "left": .left, "right": .right, "home": .home, "end": .end, "page-up": .pageUp, "page-down": .pageDown,
            "insert": .insert, "delete": .delete, "menu": .menu, "space": .character(" "),
        ]
        if let key = named[rest] {
            self.init(key, modifiers)
        } else if rest.unicodeScalars.count == 1, let scalar = rest.unicodeScalars.first {
            self.init(.character(scalar), modifiers)
        } else if rest.hasPrefix("f"), let number = Int(rest.dropFirst()), (1...35).contains(number) {
            self.init(.function(number), modifiers)
        } else {
            return nil
        }
    }
}

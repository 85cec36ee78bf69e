import Capabilities
import JSON
import Registry

/// A command line that shows a screen: `screen show ID` or `shell ID`, with the arguments of the screen written like
/// those of an action.
struct ScreenCommand {
    /// The commands, with the parameter that names the screen, and the one that gets its arguments.
    private static let commands: [(words: [String], action: String, screen: String)] = [
        (["screen", "show"], "screen.show", "id"), (["shell"], "shell.open", "screen"),
    ]

    /// The action that shows the screen.
    let target: Action
    /// How the words after the id are parsed, completed and explained.
    let action: Action
    /// The words after the id.
    let rest: [String]
    private let screen: (parameter: String, id: String)
    /// The options that the command has besides those of the screen.
    private let options: [ParameterDeclaration]

    /// Nil if the words do not begin with a command that shows a known screen. The id may be one word, or several as in
    /// commands. Flags of the command may stand before it.
    init?(_ words: [String], _ registry: Registry) {
        for command in Self.commands where words.starts(with: command.words) {
            guard let target = registry.actions[command.action] else { continue }
            let flags = target.parameters.filter { $0.form == .flag }
            let before = words.dropFirst(command.words.count).prefix { word in flags.contains { word == "--\($0.name)" }
            }
            let given = words.dropFirst(command.words.count + before.count)
            for count in given.indices.map({ $0 - given.startIndex + 1 }) {
                guard let shown = registry.screens[given.prefix(count).joined(separator: ".")] else { continue }
                self.target = target
                (screen, options) = ((command.screen, shown.id), flags)
                rest = Array(before + given.dropFirst(count))
                // The words that were typed, for usage and help: `shell`, and not `shell open`.
                action = shown.command((command.words + [shown.id]).joined(separator: "."), adding: flags)
                return
            }
        }
        return nil
    }

    /// The arguments of the action.
    func arguments(_ parsed: JSONObject) -> JSONObject {
        var own = JSONObject()
        var result: JSONObject = [screen.parameter: .string(screen.id)]
        for (name, value) in parsed {
            if options.contains(where: { $0.name == name }) { result[name] = value } else { own.append(name, value) }
        }
        if !own.isEmpty { result["arguments"] = .object(own) }
        return result
    }
}

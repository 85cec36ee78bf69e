import Capabilities
import JSON
import Registry

/// A command line that shows a screen: `screen show ID`, with the arguments of the screen written like those of an
/// action.
struct ScreenCommand {
    /// How the words after the id are parsed, completed and explained.
    let action: Action
    /// The words after the id.
    let rest: [String]
    private let id: String

    /// Nil if the words do not begin with a command that shows a known screen. The id may be one word, or several as in
    /// commands. The option `--follow` may stand before it.
    init?(_ words: [String], _ registry: Registry) {
        guard words.starts(with: ["screen", "show"]), words.count > 2,
            let follow = registry.actions["screen.show"]?.parameters.first(where: { $0.name == "follow" })
        else { return nil }
        let options = words.dropFirst(2).prefix { $0 == "--\(follow.name)" }
        let given = words.dropFirst(2 + options.count)
        for count in 1...max(1, given.count) {
            guard let screen = registry.screens[given.prefix(count).joined(separator: ".")] else { continue }
            id = screen.id
            rest = Array(options + given.dropFirst(count))
            action = screen.command("screen.show.\(screen.id)", adding: [follow])
            return
        }
        return nil
    }

    /// The arguments of `screen.show`.
    func arguments(_ parsed: JSONObject) -> JSONObject {
        var own = JSONObject()
        var result: JSONObject = ["id": .string(id)]
        for (name, value) in parsed {
            if name == "follow" { result["follow"] = value } else { own.append(name, value) }
        }
        if !own.isEmpty { result["arguments"] = .object(own) }
        return result
    }
}

import Capabilities
import FileKit
import JSON
import Registry
import Screens
import TerminalKit

extension ComposedText {
    private static let longestTitle = 60

    init(_ field: ComposerField, for composer: Screens.Composer) {
        self.init(field.text, seen: field.seen, for: composer)
    }

    /// What it is called while it runs.
    func title(in registry: Registry) -> String {
        guard isCommand else { return registry.actions[target.action]?.summary ?? target.action }
        let line = text.prefix { !$0.isNewline }
        return line.count > Self.longestTitle || line.count < text.count
            ? "\(line.prefix(Self.longestTitle))…" : String(line)
    }
}

extension MentionedFiles {
    /// The arguments with the files that the caller may see.
    func added(
        to arguments: JSONObject, in context: ActionContext, telling tell: (String) -> Void
    ) -> JSONObject {
        added(to: arguments, telling: tell) { path in
            do { return try context.path(path).kind() == .regular } catch { return false }
        }
    }
}

extension [String] {
    /// The first of each.
    var withoutRepeats: [String] {
        var seen: Set<String> = []
        return filter { seen.insert($0).inserted }
    }
}

import JSON
import Registry
import Screens
import TerminalKit

/// A text that was written in a composer, for the action that receives it: a message, or a command after `!`.
struct ComposedText: Sendable {
    /// Begins a command. A space before it makes a message of the text.
    private static let mark: Character = "!"
    private static let longestTitle = 60

    let composer: Screens.Composer
    /// As it was written.
    let text: String
    /// What goes to the action, and where to.
    private let content: String
    let target: Screens.Composer.Target
    /// The files that it names.
    let files: MentionedFiles?

    /// - Parameter seen: the text as the person sees it. A long paste is shown as a few words, so that it neither names
    ///   files nor begins a command.
    init(_ text: String, seen: String, for composer: Screens.Composer) {
        (self.composer, self.text) = (composer, text)
        if let command = composer.command, seen.first == Self.mark {
            (target, content, files) = (command, String(text.dropFirst()), nil)
        } else {
            (target, content) = (Screens.Composer.Target(composer.action, composer.parameter), text)
            files = MentionedFiles(seen, for: composer.files)
        }
    }

    init(_ field: ComposerField, for composer: Screens.Composer) {
        let seen = field.aroundCursor
        self.init(field.text, seen: seen.before + seen.after, for: composer)
    }

    var isCommand: Bool { target.action != composer.action }

    /// Whether there is nothing to send or to run.
    var isBlank: Bool { content.allSatisfy(\.isWhitespace) }

    var arguments: JSONObject {
        var arguments = composer.arguments
        arguments[target.parameter] = .string(content)
        return arguments
    }

    /// What it is called while it runs.
    func title(in registry: Registry) -> String {
        guard isCommand else { return registry.actions[target.action]?.summary ?? target.action }
        let line = text.prefix { !$0.isNewline }
        return line.count > Self.longestTitle || line.count < text.count
            ? "\(line.prefix(Self.longestTitle))…" : String(line)
    }

    /// Texts below each other, without empty ones. If there are several, they are a message: what was meant as one must
    /// not become a part of a command before it.
    static func joined(_ texts: [String]) -> String {
        let texts = texts.filter { !$0.isEmpty }
        let joined = texts.joined(separator: "\n")
        return texts.count > 1 && joined.first == mark ? " \(joined)" : joined
    }
}

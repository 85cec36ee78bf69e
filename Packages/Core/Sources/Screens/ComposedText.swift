public import JSON

/// A text that was written in a composer, for the action that receives it: a message, or a command after `!`.
public struct ComposedText: Sendable {
    /// Begins a command. A space before it makes a message of the text.
    private static let mark: Character = "!"

    /// Where it was written.
    public let composer: Composer
    /// As it was written.
    public let text: String
    private let content: String
    /// The action that gets it, or what is after the mark of a command.
    public let target: Composer.Target
    /// The files that it names; nil if it names none, or if the action takes none.
    public let files: MentionedFiles?

    /// A text that is a message of the composer, or a command.
    ///
    /// - Parameter seen: the text as the person sees it. A long paste is shown as a few words, so that it neither names
    ///   files nor begins a command.
    public init(_ text: String, seen: String, for composer: Composer) {
        (self.composer, self.text) = (composer, text)
        if let command = composer.command, seen.first == Self.mark {
            (target, content, files) = (command, String(text.dropFirst()), nil)
        } else {
            (target, content) = (Composer.Target(composer.action, composer.parameter), text)
            files = MentionedFiles(seen, for: composer.files)
        }
    }

    /// Whether it is a command.
    public var isCommand: Bool { target.action != composer.action }

    /// Whether there is nothing to send or to run.
    public var isBlank: Bool { content.allSatisfy(\.isWhitespace) }

    /// The arguments of the action, without the files.
    public var arguments: JSONObject {
        var arguments = composer.arguments
        arguments[target.parameter] = .string(content)
        return arguments
    }

    /// Texts below each other, without empty ones. If there are several, they are a message: what was meant as one must
    /// not become a part of a command before it.
    public static func joined(_ texts: [String]) -> String {
        let texts = texts.filter { !$0.isEmpty }
        let joined = texts.joined(separator: "\n")
        return texts.count > 1 && joined.first == mark ? " \(joined)" : joined
    }
}

public import Capabilities
public import JSON

/// The files that a text names, for the action that receives the text.
public struct MentionedFiles: Sendable {
    /// The list parameter of the action.
    let parameter: String
    /// The words that may name one.
    public let mentions: [FileMention]

    /// Nil if the text names nothing.
    init?(_ text: String, for parameter: String?) {
        guard let parameter else { return nil }
        let mentions = FileMention.all(in: text)
        guard !mentions.isEmpty else { return nil }
        (self.parameter, self.mentions) = (parameter, mentions)
    }

    /// The arguments with the files that exist. The action itself opens them, with the rights of its caller.
    ///
    /// - Parameters:
    ///   - tell: is told which files go along, because the text alone does not show it.
    ///   - isFile: whether the caller may see a file at a path. A word that names none is only a word.
    public func added(
        to arguments: JSONObject, telling tell: (String) -> Void, where isFile: (ReadPath) -> Bool
    ) -> JSONObject {
        let files = mentions.compactMap { mention in
            mention.paths.first { path in
                let given = ReadPath(path)
                // Some actions take this for standard input.
                return !given.isStandardInput && isFile(given)
            }
        }.withoutRepeats
        guard !files.isEmpty else { return arguments }
        var arguments = arguments
        let given = arguments[parameter]?.array ?? []
        arguments[parameter] = .array(given + files.map { .string($0) })
        tell("attaching \(files.map { PlainText.escape($0) }.joined(separator: ", "))")
        return arguments
    }
}

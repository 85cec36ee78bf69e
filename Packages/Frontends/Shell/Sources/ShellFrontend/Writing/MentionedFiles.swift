import Capabilities
import FileKit
import JSON
import Registry

/// The files that a text names, for the action that receives the text.
struct MentionedFiles: Sendable {
    /// The list parameter of the action.
    let parameter: String
    /// The words that may name one.
    let mentions: [FileMention]

    /// Nil if the text names nothing.
    init?(_ text: String, for parameter: String?) {
        guard let parameter else { return nil }
        let mentions = FileMention.all(in: text)
        guard !mentions.isEmpty else { return nil }
        (self.parameter, self.mentions) = (parameter, mentions)
    }

    /// The arguments with the files that exist. The action itself opens them, with the rights of its caller.
    ///
    /// - Parameter tell: is told which files go along, because the text alone does not show it.
    func added(
        to arguments: JSONObject, in context: ActionContext, telling tell: (String) -> Void
    ) -> JSONObject {
        let files = mentions.compactMap { $0.paths.first { Self.isFile($0, context) } }.withoutRepeats
        guard !files.isEmpty else { return arguments }
        var arguments = arguments
        let given = arguments[parameter]?.array ?? []
        arguments[parameter] = .array(given + files.map { .string($0) })
        tell("attaching \(files.map { PlainText.escape($0) }.joined(separator: ", "))")
        return arguments
    }

    private static func isFile(_ path: String, _ context: ActionContext) -> Bool {
        let given = ReadPath(path)
        // Some actions take this for standard input.
        guard !given.isStandardInput else { return false }
        // A word that names nothing, or nothing that this caller may see, is only a word.
        do { return try context.path(given).kind() == .regular } catch { return false }
    }
}

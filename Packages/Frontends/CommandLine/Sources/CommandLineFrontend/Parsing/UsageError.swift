import Capabilities
import Registry

/// Words that mean nothing here.
enum UsageError: Failure, Hashable {
    case unknownCommand([String], suggestion: String?)
    /// A word that the default of its group would take, though it is nearly a verb.
    case slip([String], suggestions: [[String]])
    /// A command of a feature that is not there, with the rest of a sentence that begins with the feature.
    case absentCommand([String], feature: String, why: String)
    case unknownOption(String, command: [String])
    case missingVerb([String], verbs: [String])
    case answers(String)
    case noArguments

    var code: String {
        switch self {
        case .unknownCommand, .slip, .absentCommand: "usage.unknown-command"
        case .unknownOption: "usage.unknown-option"
        case .missingVerb: "usage.missing-verb"
        case .answers: "usage.answers"
        case .noArguments: "usage.no-arguments"
        }
    }

    var exit: ExitCode { .usage }

    var message: String {
        switch self {
        case .unknownCommand(let words, let suggestion):
            "there is no command \(words.joined(separator: " ").quotedForMessage)"
                + (suggestion.map { "; did you mean '\((words.dropLast() + [$0]).joined(separator: " "))'?" }
                    ?? "; 'martlet help' lists the commands")
        case .slip(let words, let suggestions):
            "there is no command \(words.joined(separator: " ").quotedForMessage); did you mean "
                + suggestions.map { "'\($0.joined(separator: " "))'" }.joined(separator: " or ")
                + "? If you mean the word itself: martlet \(words.dropLast().joined(separator: " ")) -- \(words.last ?? "")"
        case .absentCommand(let words, let feature, let why):
            "\(words.joined(separator: " ").quotedForMessage) is a command of the feature \(feature), which is \(why)"
        case .unknownOption(let option, let command):
            "there is no option \(option.quotedForMessage) before a command"
                + (command.isEmpty ? "; 'martlet help' lists the common ones" : " of \(command.joined(separator: " "))")
        case .missingVerb(let words, let verbs):
            "'\(words.joined(separator: " "))' needs a verb: \(verbs.joined(separator: ", "))"
        case .answers(let why): why
        case .noArguments: "the words of this command cannot be read; is /proc missing here? Mount it and try again"
        }
    }
}

extension UsageError {
    /// The same error, with the feature that has the command where that feature is not there.
    func explained(by composition: Composition) -> UsageError {
        guard case .unknownCommand(let words, _) = self, let first = words.first,
            let left = composition.off.first(where: { $0.commands.contains(first) })
        else { return self }
        return .absentCommand(words, feature: left.id, why: left.reason)
    }
}

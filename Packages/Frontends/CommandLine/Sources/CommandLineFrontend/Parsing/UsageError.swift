import Capabilities
import Registry

/// Words that mean nothing here.
enum UsageError: Failure, Hashable {
    case unknownCommand([String], suggestion: String?)
    /// A word that the default of its group would take, though it is nearly a verb.
    /// - `mayBeMeant`: whether the default takes the word, where that is said outright.
    case slip([String], suggestions: [[String]], mayBeMeant: Bool = false)
    /// Sentences about names in `--only` that are those of no feature here.
    case unknownFeatures([String])
    /// A command of a feature that is not there, with the rest of a sentence that begins with the feature.
    case absentCommand([String], feature: String, why: String)
    case unknownOption(String, command: [String], suggestion: String?)
    case missingVerb([String], verbs: [String])
    /// A setting that no feature declares, with the rest of a sentence that begins with its key.
    case unknownSetting(String, String)
    case answers(String)
    case noArguments

    var code: String {
        switch self {
        case .unknownCommand, .slip, .absentCommand: "usage.unknown-command"
        case .unknownFeatures: "usage.unknown-feature"
        case .unknownOption: "usage.unknown-option"
        case .missingVerb: "usage.missing-verb"
        case .unknownSetting: "settings.unknown"
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
                    ?? (words.count > 1
                        ? "; see 'martlet help \(words.dropLast().joined(separator: " "))'"
                        : "; 'martlet help' lists the commands"))
        case .slip(let words, let suggestions, let mayBeMeant):
            "there is no command \(words.joined(separator: " ").quotedForMessage); did you mean "
                + suggestions.map { "'\($0.joined(separator: " "))'" }.joined(separator: " or ")
                + "?"
                + (mayBeMeant
                    ? " If you mean the word itself: martlet \(words.dropLast().joined(separator: " ")) -- \(words.last ?? "")"
                    : "")
        case .absentCommand(let words, let feature, let why):
            "\(words.joined(separator: " ").quotedForMessage) is a command of the feature \(feature), which is \(why)"
        case .unknownFeatures(let sentences): sentences.joined(separator: "\n")
        case .unknownOption(let option, let command, let suggestion):
            "there is no option \(option.quotedForMessage) before a command"
                + (command.isEmpty ? "" : " of \(command.joined(separator: " "))")
                + (suggestion.map { "; did you mean '\($0)'?" } ?? "; 'martlet help' lists the common ones")
        case .missingVerb(let words, let verbs):
            "'\(words.joined(separator: " "))' needs a verb: \(verbs.joined(separator: ", "))"
        case .unknownSetting(let key, let why): "\(key): \(why)"
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

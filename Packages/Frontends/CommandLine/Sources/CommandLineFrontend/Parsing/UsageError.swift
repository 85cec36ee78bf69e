import Capabilities
import Registry

/// The command line is not valid.
enum UsageError: Failure, Hashable {
    case unknownCommand([String], suggestion: String?)
    /// The word is nearly a verb, but the default action of its group would take it as an argument.
    /// - `mayBeMeant`: whether the default action accepts the word after `--`.
    case slip([String], suggestions: [[String]], mayBeMeant: Bool = false)
    /// Sentences about names in `--only` that are not names of features.
    case unknownFeatures([String])
    /// A command of a feature that is not available; `why` completes a sentence that begins with the feature.
    case absentCommand([String], feature: String, why: String)
    case unknownOption(String, command: [String], suggestion: String?)
    case missingVerb([String], verbs: [String])
    case answers(String)
    case noArguments

    var code: String {
        switch self {
        case .unknownCommand, .slip, .absentCommand: "usage.unknown-command"
        case .unknownFeatures: "usage.unknown-feature"
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
                    ?? (words.count > 1
                        ? "; see 'martlet help \(words.dropLast().joined(separator: " "))'"
                        : "; 'martlet help' lists the commands"))
        case .slip(let words, let suggestions, let mayBeMeant):
            "there is no command \(words.joined(separator: " ").quotedForMessage); did you mean "
                + suggestions.map { "'\($0.joined(separator: " "))'" }.joined(separator: " or ")
                + "?"
                + (mayBeMeant
                    ? " To pass it as an argument: martlet \(words.dropLast().joined(separator: " ")) -- \(words.last ?? "")"
                    : "")
        case .absentCommand(let words, let feature, let why):
            "\(words.joined(separator: " ").quotedForMessage) is a command of the feature \(feature), which is \(why)"
        case .unknownFeatures(let sentences): sentences.joined(separator: "\n")
        case .unknownOption(let option, let command, let suggestion):
            "unknown option \(option.quotedForMessage) before a command"
                + (command.isEmpty ? "" : " of \(command.joined(separator: " "))")
                + (suggestion.map { "; did you mean '\($0)'?" } ?? "; 'martlet help' lists the common options")
        case .missingVerb(let words, let verbs):
            "'\(words.joined(separator: " "))' needs a verb: \(verbs.joined(separator: ", "))"
        case .answers(let why): why
        case .noArguments: "cannot read the arguments of this command; /proc may be missing: mount it and try again"
        }
    }
}

extension UsageError {
    /// The same error, which names the feature of the command if that feature is not available.
    func explained(by composition: Composition) -> UsageError {
        guard case .unknownCommand(let words, _) = self, let first = words.first else { return self }
        // A feature may have only one command of a group that others have too: `mcp serve`.
        let whole = words.joined(separator: ".")
        let left = composition.off.first { left in
            left.commands.contains { $0 == first || $0 == whole || $0.hasPrefix(whole + ".") }
        }
        guard let left else { return self }
        return .absentCommand(words, feature: left.id, why: left.reason)
    }
}

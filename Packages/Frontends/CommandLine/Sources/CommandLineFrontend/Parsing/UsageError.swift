import Capabilities

/// Words that mean nothing here.
enum UsageError: Failure, Hashable {
    case unknownCommand([String], suggestion: String?)
    case unknownOption(String, command: [String])
    case missingVerb([String], verbs: [String])
    case answers(String)

    var code: String {
        switch self {
        case .unknownCommand: "usage.unknown-command"
        case .unknownOption: "usage.unknown-option"
        case .missingVerb: "usage.missing-verb"
        case .answers: "usage.answers"
        }
    }

    var exit: ExitCode { .usage }

    var message: String {
        switch self {
        case .unknownCommand(let words, let suggestion):
            "there is no command \(words.joined(separator: " ").quotedForMessage)"
                + (suggestion.map { "; did you mean '\((words.dropLast() + [$0]).joined(separator: " "))'?" }
                    ?? "; 'martlet help' lists the commands")
        case .unknownOption(let option, let command):
            "there is no option \(option.quotedForMessage) before a command"
                + (command.isEmpty ? "; 'martlet help' lists the common ones" : " of \(command.joined(separator: " "))")
        case .missingVerb(let words, let verbs):
            "'\(words.joined(separator: " "))' needs a verb: \(verbs.joined(separator: ", "))"
        case .answers(let why): why
        }
    }
}

import Capabilities
import ModelKit

extension ChatError {
    /// What a server means that did not answer, or failed while it did.
    ///
    /// - Parameters:
    ///   - status: nil in the midst of an answer.
    ///   - model: What was asked for.
    init(_ refusal: ServerRefusal?, status: Int?, retryAfter: Duration?, model: String, from server: ServerAccess) {
        let kind = RefusalKind(refusal, status: status).kind
        let words = refusal.map { server.redactor.redact($0.message) }.flatMap { $0.isEmpty ? nil : $0 }
        let (happened, remedy) = Self.sentence(kind, server, model, words, status, retryAfter)
        self.init(
            kind, happened, remedy: remedy, provider: server.id, status: status, retryAfter: retryAfter)
    }

    private static func sentence(
        _ kind: Kind, _ server: ServerAccess, _ model: String, _ words: String?, _ status: Int?, _ wait: Duration?
    ) -> (happened: String, remedy: String?) {
        let name = server.name
        let because = words.map { ": \(trimmed($0))" } ?? status.map { " (status \($0))" } ?? ""
        switch kind {
        case .keyRefused: return ("\(name) does not accept the key, or got none\(because)", server.remedy)
        case .forbidden:
            return ("\(name) does not allow this account to do that\(because)", "ask for the right, or another model")
        case .noCredit:
            return ("the account at \(name) has no credit or quota left\(because)", "add some there, or ask another")
        case .rateLimited:
            let advice = wait.map { "try again in \($0.words)" } ?? "wait a minute and try again"
            return ("\(name) was asked too often\(because)", advice)
        case .tooLong:
            return (
                "the conversation is longer than \(shown(model)) can read\(because)",
                "begin a new one, leave something out, or take a model with a larger context"
            )
        case .contentRefused:
            return ("\(name) holds the answer back because of its content\(because)", "ask in another way")
        case .modelNotFound:
            return ("\(name) has no model \(shown(model))\(because)", "'martlet chat models' lists what there is")
        case .notReady:
            let advice = wait.map { "try again in \($0.words)" } ?? "try again later"
            return ("\(name) is not ready\(because)", advice)
        case .timedOut: return ("\(name) did not get an answer in time itself\(because)", "try again")
        case .invalidRequest:
            let advice = speaksNoTools(words) ? "set chat.tool-format to tagged, or ask without tools" : nil
            return ("\(name) refused the request\(because)", advice)
        default: return ("something went wrong at \(name)\(because)", "try again")
        }
    }

    /// Whether the server cannot read calls of tools, as vLLM says that was started without a parser for them.
    private static func speaksNoTools(_ words: String?) -> Bool {
        let words = (words ?? "").lowercased()
        return ["tool choice requires", "tool-call-parser", "does not support tools", "does not support tool"].contains
        {
            words.contains($0)
        }
    }

    /// A model's name in a sentence. It may have been made by a server.
    static func shown(_ model: String) -> String {
        model.isEmpty ? "its model" : "“\(PlainText.escape(String(model.prefix(100))))”"
    }

    /// Without the final stop, since it becomes a part of our sentence.
    private static func trimmed(_ words: String) -> String {
        var words = words[...]
        while words.hasSuffix(".") || words.hasSuffix(" ") { words = words.dropLast() }
        return String(words)
    }
}

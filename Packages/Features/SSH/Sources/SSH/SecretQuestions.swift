import Capabilities
import Cryptography
import LoopKit
import Registry
import SSHClient
import Synchronization

/// Finds passphrases and passwords: in the vault, or else by asking the person, one question at a time.
actor SecretQuestions {
    private let context: ActionContext
    private let secrets: (any SecretStore)?
    private let turn: Turn
    /// What was found last, also that there is nothing, for all hosts of the action. It lives as long as the action.
    private var found: [SecretName: (secret: Secret?, number: Int)] = [:]

    /// - Parameter turn: lets one question at a time pass, also of others.
    init(_ context: ActionContext, _ secrets: (any SecretStore)?, turn: Turn) {
        self.context = context
        self.secrets = secrets
        self.turn = turn
    }

    /// The name in the vault of the passphrase of a key, by its file.
    static func passphraseName(_ file: String) -> SecretName {
        name("key", of: String(file.split(separator: "/").last ?? ""), file)
    }

    /// The name in the vault of the password of `user@host`.
    static func passwordName(_ account: String) -> SecretName { name("password", of: account, account) }

    /// Names in the vault are plain, so that a digest keeps those apart that look the same then.
    private static func name(_ kind: String, of shown: String, _ whole: String) -> SecretName {
        let plain = String(
            shown.lowercased().unicodeScalars.prefix(40).map {
                $0.properties.isAlphabetic && $0.isASCII || ("0"..."9").contains($0) ? Character($0) : "-"
            })
        let digest = Hexadecimal.encode(Digest.sha256(Array(whole.utf8))).prefix(8)
        return SecretName("ssh.\(kind).\(plain).\(digest)")
    }

    /// Questions of one host. It gets what others got, and asks again if that was refused.
    nonisolated func ofHost() -> SSHQuestions {
        let seen = SeenSecrets()
        var questions = SSHQuestions()
        questions.passphrase = { [self] file in
            try await secret(
                Self.passphraseName(file), "ssh.passphrase", "Passphrase of \(PlainText.escape(file))", seen)
        }
        questions.password = { [self] account in
            try await secret(
                Self.passwordName(account), "ssh.password", "Password of \(PlainText.escape(account))", seen)
        }
        questions.tell = { [context] in context.notice($0) }
        questions.answers = { [self] in try await answers(to: $0) }
        return questions
    }

    /// Answers a host's own questions, whose texts come from it.
    private func answers(to question: KeyboardQuestion) async throws -> [Secret]? {
        try await turn.take()
        defer { turn.pass() }
        let account = PlainText.escape(question.account)
        let instruction = [question.name, question.instruction].filter { !$0.isEmpty }
            .map { PlainText.escape($0, limit: 300) }.joined(separator: ": ")
        if !instruction.isEmpty { context.notice("\(account) says: \(instruction)") }
        var answers: [Secret] = []
        for prompt in question.prompts {
            let text = "\(account) asks: \(PlainText.escape(prompt.text, limit: 200).trimmed)"
            // An answer that may be shown can still be a code.
            guard
                let answer = try await answer({
                    prompt.isShown
                        ? Secret(try await context.interaction.text("ssh.answer", text))
                        : try await context.interaction.secret("ssh.answer", text)
                })
            else { return nil }
            answers.append(answer)
        }
        return answers
    }

    /// The answer to a question; nil if nobody is there to answer.
    private func answer(_ ask: () async throws -> Secret) async throws -> Secret? {
        do {
            return try await ask()
        } catch InteractionError.unanswered {
            return nil
        }
    }

    private func secret(
        _ name: SecretName, _ question: String, _ prompt: String, _ seen: SeenSecrets
    ) async throws -> Secret? {
        try await turn.take()
        defer { turn.pass() }
        let last = seen.number(of: name)
        if let known = found[name], known.number > last {
            seen.set(known.number, of: name)
            return known.secret
        }
        var given: Secret?
        if last == 0 { given = try await secrets?.secret(named: name) }
        if given == nil {
            given = try await answer { try await context.interaction.secret(question, prompt) }
            if given == nil, last == 0 {
                context.notice("\(prompt): nobody gives it; 'martlet auth secret set \(name)' keeps it for that")
            }
        }
        found[name] = (given, last + 1)
        seen.set(last + 1, of: name)
        return given.flatMap { $0.isEmpty ? nil : $0 }
    }
}

/// Which secrets a host has got, so that it is not given the same one again.
private final class SeenSecrets: Sendable {
    private let numbers = Mutex<[SecretName: Int]>([:])

    func number(of name: SecretName) -> Int { numbers.withLock { $0[name] ?? 0 } }
    func set(_ number: Int, of name: SecretName) { numbers.withLock { $0[name] = number } }
}

extension String {
    fileprivate var trimmed: String {
        var text = self[...]
        while text.last?.isWhitespace == true || text.last == ":" { text = text.dropLast() }
        return String(text)
    }
}

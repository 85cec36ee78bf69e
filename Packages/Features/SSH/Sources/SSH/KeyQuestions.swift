import Capabilities
import LoopKit
import Registry
import SSHClient
import SSHCore

/// Asks a person about the keys of all hosts that are not known, together: once every host has told its key or failed, or when
/// one has waited for the others for a while.
actor KeyQuestions {
    /// What becomes of the keys: the person's answer for all of them.
    typealias Asking = @Sendable ([(host: String, question: HostKeyQuestion)]) async throws -> Bool

    /// How long a host waits for the keys of slower ones.
    private static let patience = Duration.seconds(3)

    private let ask: Asking
    private let clock: any Clock<Duration>
    /// Hosts whose keys may still turn out to be unknown.
    private var undecided = 0
    private var waiting: [(host: String, question: HostKeyQuestion, answer: Promise<HostKeyDecision>)] = []
    private let turn: Turn

    /// - Parameter turn: lets one question at a time pass, also of others.
    init(clock: any Clock<Duration>, turn: Turn, asking ask: @escaping Asking) {
        self.clock = clock
        self.turn = turn
        self.ask = ask
    }

    /// A connection begins, whose key may be unknown.
    func begin() { undecided += 1 }

    /// A connection whose key was no question is there, or has failed.
    func settle() async {
        undecided -= 1
        if undecided == 0 { await askAll() }
    }

    /// The person's decision about the key of a host.
    func decision(on question: HostKeyQuestion, of host: String) async throws -> HostKeyDecision {
        let answer = Promise<HostKeyDecision>()
        waiting.append((host, question, answer))
        undecided -= 1
        // Counted again, because the connection settles when it is there.
        defer { undecided += 1 }
        if undecided > 0 {
            if let early = try await withTimeLimit(Self.patience, on: clock, answer.value) { return early }
        }
        await askAll()
        return try await answer.value()
    }

    private func askAll() async {
        do { try await turn.take() } catch { return }
        defer { turn.pass() }
        let asked = waiting
        waiting = []
        guard !asked.isEmpty else { return }
        let result: Result<HostKeyDecision, any Error>
        do {
            result = .success(try await ask(asked.map { ($0.host, $0.question) }) ? .add : .refuse)
        } catch {
            result = .failure(error)
        }
        for one in asked { one.answer.settle(with: result) }
    }
}

extension KeyQuestions {
    /// Shows the keys, and asks the person of an action. Nil if nobody can be asked: then each unknown host is an error with the
    /// command that accepts its key.
    static func of(_ context: ActionContext, turn: Turn) -> KeyQuestions? {
        guard context.interaction.canAsk else { return nil }
        return KeyQuestions(clock: context.host.clock, turn: turn) { asked in
            context.notice(words(asked))
            let them = asked.count == 1 ? "it" : "them"
            return try await context.interaction.confirm(
                questionID, "Trust \(them) and add \(them) to your known hosts?")
        }
    }

    static let questionID = "ssh.unknown-hosts"

    private static func words(_ asked: [(host: String, question: HostKeyQuestion)]) -> String {
        let title =
            asked.count == 1
            ? "the key of this host is not known; compare it with the one that its owner tells:"
            : "the keys of these \(asked.count) hosts are not known; compare them with those that their owners tell:"
        let lines = asked.sorted { $0.host < $1.host }.flatMap { host, question in
            ["  \(host) (\(question.address))  \(question.key.type) \(question.key.fingerprint)"]
                + question.problems.prefix(3).map { "    \($0)" }
        }
        return ([title] + lines).joined(separator: "\n")
    }
}

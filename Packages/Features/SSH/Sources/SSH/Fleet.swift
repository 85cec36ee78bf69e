import Capabilities
import LoopKit
import Registry
import SSHClient

/// Several hosts, and how an action connects to them: side by side, with its questions asked together.
struct Fleet: Sendable {
    let targets: [Target]
    private let width: Int
    let loop = EventLoop()
    private let keys: KeyQuestions?
    private let secrets: SecretQuestions

    init(_ targets: [Target], atMost width: Int, for context: ActionContext, _ secrets: (any SecretStore)?) {
        self.targets = targets
        self.width = width
        let turn = Turn()
        keys = KeyQuestions.of(context, turn: turn)
        self.secrets = SecretQuestions(context, secrets, turn: turn)
    }

    /// Does the same on all hosts, and returns what came of it in their order. The work of a host that fails must say so in its
    /// value, so that the others go on.
    ///
    /// - Parameter ended: is told what came of each host when it is there, and how many are done.
    func results<Value: Sendable>(
        _ work: @escaping @Sendable (Target) async throws -> Value,
        ended: (Value, _ count: Int) async throws -> Void
    ) async throws -> [Value] {
        var results = [Value?](repeating: nil, count: targets.count)
        try await withThrowingTaskGroup(of: (Int, Value).self) { group in
            var next = 0
            func start() {
                guard next < targets.count else { return }
                let index = next
                next += 1
                group.addTask { (index, try await work(targets[index])) }
            }
            for _ in 0..<width { start() }
            var count = 0
            while let (index, value) = try await group.next() {
                count += 1
                results[index] = value
                start()
                try await ended(value, count)
            }
        }
        return results.compactMap(\.self)
    }

    /// Connects to a host, lends the connection, and closes it.
    func withConnection<Value: Sendable>(
        to target: Target, _ work: (any SSHLink) async throws -> Value
    ) async throws -> Value {
        let connection = try await connect(to: target)
        do {
            let value = try await work(connection)
            await connection.close()
            return value
        } catch {
            await connection.close()
            throw error
        }
    }

    /// The key that a host has now.
    func hostKey(of target: Target) async throws -> PresentedHostKey {
        try await SSHHost.hostKey(of: target.settings, with: SSHConfiguration(loop: loop))
    }

    private func connect(to target: Target) async throws -> any SSHLink {
        var configuration = SSHConfiguration(loop: loop)
        configuration.questions = secrets.ofHost()
        guard let keys else { return try await SSHHost.connect(to: target.settings, with: configuration) }
        configuration.questions.hostKey = { try await keys.decision(on: $0, of: target.name) }
        await keys.begin()
        do {
            let connection = try await SSHHost.connect(to: target.settings, with: configuration)
            await keys.settle()
            return connection
        } catch {
            await keys.settle()
            throw error
        }
    }
}

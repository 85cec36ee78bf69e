public import Capabilities
import JSON
import Synchronization

/// An audit log in memory, which can be made to fail. An entry ends once.
public final class RecordingAuditLog: AuditLog {
    private struct State {
        var entries: [AuditEntry] = []
        var ended: Set<Int> = []
        var transactions = 0
        var taken: [String: Int] = [:]
        var erased: [AuditPlace] = []
        var failure: (any Error)?
    }

    private struct EndedBefore: Failure {
        let code = "storage.constraint"
        let message = "the entry has ended before"
    }

    private let state = Mutex(State())
    private let now: @Sendable () -> Timestamp

    /// - Parameter now: the time of the entries.
    public init(now: @escaping @Sendable () -> Timestamp = { Timestamp(microseconds: 0) }) {
        self.now = now
    }

    /// The entries in the order in which they were recorded, with how they ended.
    public var recorded: [AuditEntry] { state.withLock { $0.entries } }
    /// How often something was appended.
    public var transactions: Int { state.withLock { $0.transactions } }
    /// The conversations of which the content was erased.
    public var erased: [AuditPlace] { state.withLock { $0.erased } }

    /// From now on everything that writes fails in this way; nil to work again.
    public func fail(with error: (any Error)?) { state.withLock { $0.failure = error } }

    private func change<Value: Sendable>(_ body: (inout State) throws -> Value) throws -> Value {
        try state.withLock { state in
            if let failure = state.failure { throw failure }
            return try body(&state)
        }
    }

    public func append(_ lines: [AuditLine]) async throws -> [Int] {
        let time = now()
        return try change { state in
            for case .end(let number, _) in lines where state.ended.contains(number) { throw EndedBefore() }
            state.transactions += 1
            var numbers: [Int] = []
            for line in lines {
                switch line {
                case .entry(var entry):
                    (entry.number, entry.time) = (state.entries.count + 1, time)
                    state.entries.append(entry)
                    numbers.append(state.entries.count)
                case .end(let number, let completion):
                    state.ended.insert(number)
                    state.entries[number - 1].outcome = completion.outcome
                    var detail = state.entries[number - 1].detail.object ?? [:]
                    for (name, value) in completion.detail { detail[name] = value }
                    state.entries[number - 1].detail = .object(detail)
                }
            }
            return numbers
        }
    }

    public func entries(_ query: AuditQuery) async throws -> AuditPage {
        let found = recorded.reversed().filter { entry in
            let wanted = [
                (query.project, entry.project), (query.session, entry.session), (query.actor, entry.actor),
                (query.conversation, entry.conversation), (query.action, entry.action),
            ]
            let time = entry.time ?? Timestamp(microseconds: 0)
            return wanted.allSatisfy { $0.0 == nil || $0.0 == $0.1 } && query.since.map { $0 <= time } != false
                && query.until.map { time < $0 } != false
        }
        return AuditPage(entries: Array(found.dropFirst(query.offset).prefix(query.limit)), total: found.count)
    }

    public func takeOver(_ entries: [AuditEntry], from origin: String) async throws -> Int {
        try change { state in
            for var entry in entries {
                guard let number = entry.number, number > state.taken[origin] ?? 0 else { continue }
                state.taken[origin] = number
                (entry.number, entry.origin) = (state.entries.count + 1, origin)
                state.entries.append(entry)
            }
            return state.taken[origin] ?? 0
        }
    }

    public func verify() async throws -> AuditVerdict {
        var verdict = AuditVerdict()
        verdict.entries = recorded.count
        return verdict
    }

    public func places() async throws -> [AuditPlace] {
        let erased = Set(erased)
        let all = recorded.flatMap { entry in
            [entry.session.map(AuditPlace.session), entry.conversation.map(AuditPlace.conversation)]
                .compactMap(\.self)
        }
        return Array(Set(all).subtracting(erased))
    }

    public func eraseContent(of places: [AuditPlace]) async throws -> Int {
        try change { state in
            state.erased += places
            var count = 0
            for index in state.entries.indices {
                let entry = state.entries[index]
                let own = [entry.session.map(AuditPlace.session), entry.conversation.map(AuditPlace.conversation)]
                guard own.contains(where: { place in place.map(places.contains) == true }) else { continue }
                count += 1
                guard var detail = entry.detail.object else { continue }
                for name in AuditEntry.contentMembers { detail[name] = nil }
                state.entries[index].detail = .object(detail)
            }
            return count
        }
    }
}

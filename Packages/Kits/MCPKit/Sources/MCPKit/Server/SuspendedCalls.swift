import HTTPServer
import JSON
import Synchronization

/// The calls whose clients were asked something and have not come back yet. Each state is good for one request.
final class SuspendedCalls: Sendable {
    /// What a request must repeat to go on with a call.
    struct Claim: Sendable, Hashable {
        /// The connection, or all of HTTP.
        let owner: ObjectIdentifier
        let principal: Principal?
        let method: String
        /// Without what differs in a repeated request.
        let params: JSONObject

        init(_ owner: TaskOwner, _ principal: Principal?, _ method: String, _ params: JSONObject) {
            self.owner = ObjectIdentifier(owner)
            self.principal = principal
            self.method = method
            var rest = params
            for member in ["_meta", "inputResponses", "requestState"] { rest[member] = nil }
            self.params = rest
        }
    }

    private struct Entry {
        let call: ServerCall
        let claim: Claim
        let end: ContinuousClock.Instant
    }

    private let entries = Mutex([String: Entry]())
    private let limit: Int
    private let patience: Duration

    init(limit: Int, patience: Duration) {
        self.limit = limit
        self.patience = patience
    }

    /// Keeps a call and returns the state by which it goes on; nil if there are too many.
    func keep(_ call: ServerCall, _ claim: Claim, now: ContinuousClock.Instant = .now) -> String? {
        let state = RandomToken.make()
        let (late, isKept) = entries.withLock { entries in
            let late = entries.filter { $0.value.end <= now }
            for key in late.keys { entries[key] = nil }
            guard entries.count < limit else { return (late, false) }
            entries[state] = Entry(call: call, claim: claim, end: now + patience)
            return (late, true)
        }
        for entry in late.values { entry.call.cancel() }
        return isKept ? state : nil
    }

    /// The call with this state, which then is used up; nil if there is none for this request.
    func take(_ state: String, _ claim: Claim, now: ContinuousClock.Instant = .now) -> ServerCall? {
        entries.withLock { entries in
            guard let entry = entries[state], entry.claim == claim, entry.end > now else { return nil }
            entries[state] = nil
            return entry.call
        }
    }

    /// Forgets the calls of an owner, which ends them itself.
    func drop(of owner: TaskOwner) {
        entries.withLock { entries in entries = entries.filter { $0.value.claim.owner != ObjectIdentifier(owner) } }
    }

    /// The number of calls that are kept.
    var count: Int { entries.withLock { $0.count } }
}

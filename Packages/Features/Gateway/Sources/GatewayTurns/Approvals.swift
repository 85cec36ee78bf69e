public import Capabilities
import JSON
import Synchronization
import TurnLoop

/// The open approval requests of all sessions.
final class Approvals: Sendable {
    private struct Open {
        let ticket: ApprovalTicket
        let answer: Promise<Result<ApprovalAnswer, any Error>>
    }

    private let open = Mutex<[String: Open]>([:])
    private let clock: any Clock<Duration>
    private let now: @Sendable () -> Timestamp

    init(clock: any Clock<Duration>, now: @escaping @Sendable () -> Timestamp) {
        self.clock = clock
        self.now = now
    }

    /// Asks for approval and waits. Throws `InteractionError.unanswered` when the time is over, or the error that kept
    /// the client from answering.
    func ask(
        _ request: ApprovalRequest, session: String, within limit: Duration, tell: (ApprovalTicket) -> Void
    ) async throws -> ApprovalAnswer {
        var call = request.call
        call.name = request.tool
        let ticket = ApprovalTicket(
            id: Self.newID(), session: session, call: call, source: request.source, effect: request.effect,
            summary: request.summary, reach: request.reach, remembers: request.remembers,
            expires: Timestamp(microseconds: now().microseconds + Int64(limit / .microseconds(1))), limit: limit)
        let answer = Promise<Result<ApprovalAnswer, any Error>>()
        open.withLock { $0[ticket.id] = Open(ticket: ticket, answer: answer) }
        defer { _ = take(ticket.id, of: session) }
        tell(ticket)
        let first = try await withTimeLimit(limit, on: clock) { try await answer.value() }
        if let first { return try first.get() }
        // An accepted answer counts, even if the time ran out at the same moment.
        guard take(ticket.id, of: session) != nil else { return try await answer.value().get() }
        throw InteractionError.unanswered(id: "gateway.approval", prompt: "allow \(PlainText.escape(request.tool))")
    }

    /// - Parameter answer: The answer, or the error that prevented one.
    func answer(_ id: String, of session: String, _ answer: Result<ApprovalAnswer, any Error>) throws(GatewayError) {
        guard let open = take(id, of: session) else {
            throw GatewayError(
                .approvalNotFound,
                "this session has no open approval request \(PlainText.escape(id)): it was answered or has expired",
                param: "approval")
        }
        open.answer.settle(answer)
    }

    /// The open approval requests of a session, oldest first.
    func tickets(of session: String) -> [ApprovalTicket] {
        open.withLock { open in
            open.values.map(\.ticket).filter { $0.session == session }
                .sorted { ($0.expires, $0.id) < ($1.expires, $1.id) }
        }
    }

    /// Closes an approval request; only the caller that gets it may decide it.
    private func take(_ id: String, of session: String) -> Open? {
        open.withLock { open in
            guard open[id]?.ticket.session == session else { return nil }
            return open.removeValue(forKey: id)
        }
    }

    /// An id that cannot be guessed, so that only clients that were asked know it.
    private static func newID() -> String {
        var generator = SystemRandomNumberGenerator()
        let (high, low): (UInt64, UInt64) = (generator.next(), generator.next())
        return "approval_" + String(high, radix: 36) + String(low, radix: 36)
    }
}

/// An approval request that waits for a client's answer.
public struct ApprovalTicket: Sendable, Hashable {
    /// The id with which the client answers. It cannot be guessed.
    public let id: String
    /// The session whose turn waits.
    public let session: String
    /// The call that the model wants, under the tool's own name.
    public let call: ToolCall
    /// The source of the tool.
    public let source: String
    /// Whether the call reads, writes or destroys.
    public let effect: Effect
    /// The tool's description.
    public let summary: String
    /// What the call would reach.
    public let reach: ToolReach
    /// What a lasting answer would cover; nil if the answer can count only once.
    public let remembers: String?
    /// When it counts as denied.
    public let expires: Timestamp
    /// How long it may wait in total.
    public let limit: Duration
}

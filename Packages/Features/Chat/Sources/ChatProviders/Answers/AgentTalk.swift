package import Capabilities
import GatewayKit
import HTTPCore
import JSON
import Synchronization
import TurnLoop

/// How a server that runs tools is asked, besides the question itself.
struct AgentTalk: Sendable {
    /// The header of a client that cannot answer approval questions, so that the server does not wait.
    private static let approvals = "X-Martlet-Approvals"

    /// The server: its sessions, and the calls in them that wait for approval.
    let gateway: RemoteGateway
    /// Receives the running session when the answer is no longer wanted.
    let stop: @Sendable (_ session: String) -> Void
    /// What the caller of this question adds.
    var options = AgentOptions()

    /// Answers approval questions; nil if nobody can.
    var approve: TurnLoop.Approve? { options.approve }

    /// The access to this server.
    func access(_ access: ServerAccess) -> ServerAccess {
        guard approve == nil else { return access }
        var access = access
        access.headers[Self.approvals] = "deny"
        return access
    }

    /// The outcome of an approval question.
    struct Settled {
        var isUnapproved = false
        /// Whether a prepared answer does not match the question.
        var isUnfit = false
        /// A notice for the user.
        var notice: String?
    }

    /// Asks the user an approval question and sends the answer to the server.
    func settle(_ question: AgentApproval, in session: String?, through access: ServerAccess) async throws -> Settled {
        guard let approve, let session = question.session ?? session else { return Settled() }
        var settled = Settled()
        var answer = ApprovalAnswer(isAllowed: false)
        do {
            let given = try await withTimeLimit(question.limit, on: access.clock) {
                try await approve(ApprovalRequest(question))
            }
            guard let given else {
                return Settled(
                    isUnapproved: true, notice: "nobody answered in time, so \(access.name) does not run the call")
            }
            answer = given
        } catch is CancellationError {
            throw CancellationError()
        } catch InteractionError.declined {
            // A denial without a reason.
        } catch let error as InteractionError where error.isUnfit {
            settled.isUnfit = true
            answer.reason = "the prepared answer does not match the question"
            settled.notice = error.message
        } catch {
            settled.isUnapproved = true
            answer.reason = "nobody was available to allow it"
            if case InteractionError.unanswered = error {} else { settled.notice = AnyFailure(error).message }
        }
        do {
            let given = AgentApprovalAnswer(answer)
            let notice = try await access.asking { try await tell(given, question.id, session, access) }
            if let notice { settled.notice = notice }
        } catch let error where !(error is CancellationError) {
            settled.notice = "your answer did not reach \(access.name): \(AnyFailure(error).message)"
        }
        return settled
    }

    /// - Returns: a notice for the user, if the server restricted the answer.
    private func tell(
        _ answer: AgentApprovalAnswer, _ id: String, _ session: String, _ access: ServerAccess
    ) async throws -> String? {
        do {
            try await send(answer, id, session)
            return nil
        } catch let error as RemoteGatewayError where error.kind == .forbidden && answer.scope == .project {
            // Rules of a project may be reserved for others.
            var lesser = answer
            lesser.scope = .session
            try await send(lesser, id, session)
            return
                "your answer applies to this conversation only: \(access.name) lets only administrators make rules for a"
                + " project"
        }
    }

    private func send(_ answer: AgentApprovalAnswer, _ id: String, _ session: String) async throws {
        _ = try await gateway.answer(id, ofSession: session, answer).required("approvals", of: gateway.server)
    }
}

extension ApprovalRequest {
    /// The question about a call that the server runs only after approval.
    fileprivate init(_ question: AgentApproval) {
        self.init(
            call: question.call, tool: question.call.name, source: question.source ?? "the server",
            effect: question.effect ?? .writes, summary: question.summary)
    }
}

extension AgentApprovalAnswer {
    fileprivate init(_ answer: ApprovalAnswer) {
        let scope: Scope =
            switch answer.scope {
            case .once: .once
            case .conversation: .session
            case .project, .always: .project
            }
        self.init(isAllowed: answer.isAllowed, scope: scope, reason: answer.reason)
    }
}

/// A provider whose server may run its own tools and asks before some of them.
package protocol AgentProvider: ModelProvider {
    /// Asks a model like `answer`, with the options of a caller who has some.
    func answer(
        _ request: ChatRequest, with options: AgentOptions, _ receive: ([ChatEvent]) async throws -> Void
    ) async throws -> ChatAnswer

    /// The id of the project with this name or id. A server that lists no projects decides itself what it accepts.
    func project(named name: String) async throws -> String
}

/// The session and the project of a gateway's answer: from its headers, else its body, else as they were sent.
struct ServerSession: Sendable {
    private var told = ChatStart()
    private let sent: ChatStart

    init(sentIn extras: JSONObject) {
        sent = ChatStart(session: extras["session_id"]?.string, project: extras["project_id"]?.string)
    }

    /// The running session, if it is known.
    var id: String? { told.session ?? sent.session }

    mutating func read(_ headers: HTTPHeaders) {
        told.session = headers["X-Session-ID"] ?? told.session
        told.project = headers["X-Project-ID"] ?? told.project
    }

    func completed(_ start: ChatStart) -> ChatStart {
        var start = start
        start.session = told.session ?? start.session ?? sent.session
        start.project = told.project ?? start.project ?? sent.project
        return start
    }

    mutating func complete(_ events: inout [ChatEvent]) {
        for index in events.indices {
            guard case .began(let start) = events[index] else { continue }
            let whole = completed(start)
            // A stop needs the id even if only the body contained it.
            told.session = whole.session
            told.project = whole.project
            events[index] = .began(whole)
        }
    }
}

/// Tells gateways that an answer is no longer wanted.
///
/// The caller that stops must not wait for this, and it must be sent although the caller's task is cancelled. Therefore
/// these tasks live here for at most two seconds, and `close` waits for them.
final class Farewells: Sendable {
    private struct State {
        var tasks: [Int: Task<Void, Never>] = [:]
        var next = 0
    }

    private let state = Mutex(State())
    private static let limit: Duration = .seconds(2)

    /// Stops what runs in a session.
    func stop(_ session: String, at gateway: RemoteGateway) {
        state.withLock { state in
            let number = state.next
            state.next += 1
            // Owned by this object and awaited in `close`.
            state.tasks[number] = Task {
                await Self.end(session, gateway.waiting(atMost: Self.limit))
                self.forget(number)
            }
        }
    }

    /// Returns when all stops were sent.
    func close() async {
        for task in state.withLock({ Array($0.tasks.values) }) { await task.value }
    }

    private func forget(_ number: Int) {
        state.withLock { _ = $0.tasks.removeValue(forKey: number) }
    }

    private static func end(_ session: String, _ gateway: RemoteGateway) async {
        do {
            _ = try await gateway.stop(session: session)
        } catch {
            // The connection of the answer is already closed, which also ends it at most servers.
        }
    }
}

package import Capabilities
import HTTPClient
import HTTPCore
import JSON
import Synchronization
package import TurnLoop

/// How a server that runs tools is asked, besides the question itself.
struct AgentServer: Sendable {
    /// The header of a client that cannot answer approval questions, so that the server does not wait.
    private static let approvals = "X-Martlet-Approvals"

    /// The address of its sessions.
    let sessions: HTTPURL
    /// Receives the running session when the answer is no longer wanted.
    let stop: @Sendable (_ session: String) -> Void
    /// Answers approval questions; nil if nobody can.
    var approve: TurnLoop.Approve?

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
    func settle(_ question: ServerQuestion, in session: String?, through access: ServerAccess) async throws -> Settled {
        guard let approve, let session = question.session ?? session else { return Settled() }
        var settled = Settled()
        var answer = ApprovalAnswer(isAllowed: false)
        do {
            let given = try await withTimeLimit(question.limit, on: access.clock) {
                try await approve(question.request)
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
            if let notice = try await tell(answer, question.id, session, access) { settled.notice = notice }
        } catch let error where !(error is CancellationError) {
            settled.notice = "your answer did not reach \(access.name): \(AnyFailure(error).message)"
        }
        return settled
    }

    /// - Returns: a notice for the user, if the server restricted the answer.
    private func tell(
        _ answer: ApprovalAnswer, _ id: String, _ session: String, _ access: ServerAccess
    ) async throws -> String? {
        let place = try sessions.below("/\(session)/approvals/\(id)")
        var body: JSONObject = ["allow": .bool(answer.isAllowed)]
        switch answer.scope {
        case .once: break
        case .conversation: body["scope"] = "session"
        case .project, .always: body["scope"] = "project"
        }
        body["reason"] = answer.reason.map(JSON.string)
        var response = try await access.post(place, body)
        var notice: String?
        if response.status == .forbidden, body["scope"] == "project" {
            // Rules of a project may be reserved for others.
            body["scope"] = "session"
            response = try await access.post(place, body)
            notice =
                "your answer applies to this conversation only: \(access.name) lets only administrators make rules for a"
                + " project"
        }
        guard !response.status.isSuccess else { return notice }
        guard response.status.code != 404 else {
            throw ChatError(.unsupported, "the question is no longer open", provider: access.id, status: 404)
        }
        throw access.refused(response)
    }
}

/// A call that the server runs only after approval, from a frame of its stream.
struct ServerQuestion {
    let id: String
    let session: String?
    let request: ApprovalRequest
    /// How long the server waits for the answer.
    let limit: Duration?

    /// Nil if this is not such a frame, or if it could not be answered.
    init?(_ data: [UInt8]) {
        guard let frame = try? JSON(parsing: data, reading: .stream), frame["object"] == "approval_request",
            let id = frame["id"]?.string, id.isPathWord
        else { return nil }
        self.id = id
        session = frame["session_id"]?.string.flatMap { $0.isPathWord ? $0 : nil }
        let name = frame["name"]?.string ?? "a tool"
        let call = ToolCall(
            id: frame["tool_id"]?.string ?? id, name: name, input: frame["input"] ?? [:], isDone: true)
        request = ApprovalRequest(
            call: call, tool: name, source: frame["source"]?.string ?? "the server",
            effect: frame["effect"]?.string.flatMap(Effect.init) ?? .writes, summary: frame["summary"]?.string ?? "")
        limit = frame["expires_in_ms"]?.int.flatMap { $0 >= 0 ? .milliseconds($0) : nil }
    }
}

extension String {
    /// Whether it can be one component of a path.
    var isPathWord: Bool {
        !isEmpty && utf8.count <= 200 && utf8.allSatisfy(HTTPHeaders.isTokenByte)
    }
}

/// A provider whose server may run its own tools and asks before some of them.
package protocol AgentProvider: ModelProvider {
    /// Asks a model like `answer`.
    ///
    /// - Parameter approve: answers approval questions. Without it the server denies at once what it would ask about.
    func answer(
        _ request: ChatRequest, approve: TurnLoop.Approve?, _ receive: ([ChatEvent]) async throws -> Void
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

/// A folder in which a gateway's tools work.
struct ServerProject {
    let id: String
    let name: String

    /// A server with endless pages must not block the caller.
    private static let mostPages = 50

    /// All projects of a gateway.
    static func list(_ place: HTTPURL, _ access: ServerAccess) async throws -> [ServerProject] {
        var all: [ServerProject] = []
        for page in 1...mostPages {
            let response = try await access.list(place.adding("page", "\(page)").adding("per_page", "100"))
            guard let json = try? JSON(parsing: response.body, reading: .stream),
                let rows = json.array ?? json["data"]?.array
            else {
                throw ChatError(
                    .badAnswer, "unexpected response from \(access.name): not a list of projects", provider: access.id)
            }
            all += rows.compactMap { row in
                guard let id = row["id"]?.string, let name = row["name"]?.string else { return nil }
                return ServerProject(id: id, name: name)
            }
            guard json["pagination"]?["has_next"]?.bool == true, !rows.isEmpty else { break }
        }
        return all
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

    /// Ends a session with everything that runs in it.
    func stop(_ session: String, at chat: HTTPURL, through access: ServerAccess) {
        state.withLock { state in
            let number = state.next
            state.next += 1
            // Owned by this object and awaited in `close`.
            state.tasks[number] = Task {
                await Self.end(session, chat, access)
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

    private static func end(_ session: String, _ chat: HTTPURL, _ access: ServerAccess) async {
        // Anything but a plain id would change the path.
        guard session.isPathWord else { return }
        do {
            var request = HTTPRequest(.delete, try chat.below("/\(session)"), headers: access.headers)
            request.limits.total = limit
            request.limits.firstByte = limit
            request.limits.connect = limit
            request.redirects = .none
            request.retry = .none
            _ = try await access.send(request)
        } catch {
            // The connection of the answer is already closed, which also ends it at most servers.
        }
    }
}

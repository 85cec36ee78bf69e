package import Capabilities
import HTTPClient
import HTTPCore
import JSON
import Synchronization
package import TurnLoop

/// What a server that runs tools is told besides the question itself.
struct AgentServer: Sendable {
    /// By which a client says that it cannot answer questions, so that nobody waits for it.
    private static let approvals = "X-Martlet-Approvals"

    /// Where its sessions are.
    let sessions: HTTPURL
    /// Told the session that runs when the answer is not wanted any more.
    let stop: @Sendable (_ session: String) -> Void
    /// Answers what the server asks; nil where nobody is there.
    var approve: TurnLoop.Approve?

    /// How this server is asked.
    func access(_ access: ServerAccess) -> ServerAccess {
        guard approve == nil else { return access }
        var access = access
        access.headers[Self.approvals] = "deny"
        return access
    }

    /// What became of a question.
    struct Settled {
        var isUnapproved = false
        /// Whether the answer that was given beforehand does not fit.
        var isUnfit = false
        /// What the person has to know.
        var notice: String?
    }

    /// Asks the person what the server asks, and tells it the answer.
    func settle(_ question: ServerQuestion, in session: String?, through access: ServerAccess) async throws -> Settled {
        guard let approve, let session = question.session ?? session else { return Settled() }
        var settled = Settled()
        var answer = ApprovalAnswer(isAllowed: false)
        do {
            answer = try await Self.limited(question.limit, on: access.clock) { try await approve(question.request) }
        } catch is CancellationError {
            throw CancellationError()
        } catch is Expired {
            return Settled(
                isUnapproved: true, notice: "nobody answered in time, so \(access.name) does not do the call")
        } catch InteractionError.declined {
            // A no without words.
        } catch let error as InteractionError where error.isUnfit {
            settled.isUnfit = true
            answer.reason = "the answer that was given beforehand does not fit the question"
            settled.notice = error.message
        } catch {
            settled.isUnapproved = true
            answer.reason = "nobody was there to allow it"
            if case InteractionError.unanswered = error {} else { settled.notice = AnyFailure(error).message }
        }
        do {
            if let notice = try await tell(answer, question.id, session, access) { settled.notice = notice }
        } catch let error where !(error is CancellationError) {
            settled.notice = "the answer did not reach \(access.name): \(AnyFailure(error).message)"
        }
        return settled
    }

    /// - Returns: what the person is to know of how it was taken.
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
            // Rules of a project may be for others to make.
            body["scope"] = "session"
            response = try await access.post(place, body)
            notice =
                "your answer counts for this conversation only: \(access.name) lets nobody but an administrator make"
                + " rules for a project"
        }
        guard !response.status.isSuccess else { return notice }
        guard response.status.code != 404 else {
            throw ChatError(.unsupported, "the question is not open any more", provider: access.id, status: 404)
        }
        throw access.refused(response)
    }

    private struct Expired: Error {}

    private static func limited<Value: Sendable>(
        _ limit: Duration?, on clock: any Clock<Duration>, _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        guard let limit else { return try await work() }
        return try await withThrowingTaskGroup(of: Value.self) { group in
            group.addTask { try await work() }
            group.addTask {
                try await clock.sleep(for: limit)
                throw Expired()
            }
            defer { group.cancelAll() }
            guard let first = try await group.next() else { throw CancellationError() }
            return first
        }
    }
}

/// A call that a server does only when somebody allows it, as a frame of its stream tells it.
struct ServerQuestion {
    let id: String
    let session: String?
    let request: ApprovalRequest
    /// How long the server waits for the answer.
    let limit: Duration?

    /// Nil for what is no such frame, or could not be answered.
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
    /// Whether it can stand in a path as one part of it, and changes nothing else there.
    var isPathWord: Bool {
        !isEmpty && utf8.count <= 200 && utf8.allSatisfy(HTTPHeaders.isTokenByte)
    }
}

/// A provider whose server may run tools of its own, and asks before it uses some of them.
package protocol AgentProvider: ModelProvider {
    /// Asks a model as `answer` does.
    ///
    /// - Parameter approve: answers what the server asks; without it the server denies at once what it would have to ask.
    func answer(
        _ request: ChatRequest, approve: TurnLoop.Approve?, _ receive: ([ChatEvent]) async throws -> Void
    ) async throws -> ChatAnswer

    /// The id of a project that the server knows by this name or id. A server that lists no projects decides itself what
    /// it takes.
    func project(named name: String) async throws -> String
}

/// The session and the project under which a gateway runs an answer: as its headers say, else its body, else as they
/// were sent.
struct ServerSession: Sendable {
    private var told = ChatStart()
    private let sent: ChatStart

    init(sentIn extras: JSONObject) {
        sent = ChatStart(session: extras["session_id"]?.string, project: extras["project_id"]?.string)
    }

    /// The session that runs now, as far as it is known.
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
            // A stop by this id needs it also when it stood only in the body.
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

    /// A server that pages for ever must not keep anybody.
    private static let mostPages = 50

    /// All that a gateway has.
    static func list(_ place: HTTPURL, _ access: ServerAccess) async throws -> [ServerProject] {
        var all: [ServerProject] = []
        for page in 1...mostPages {
            let response = try await access.list(place.adding("page", "\(page)").adding("per_page", "100"))
            guard let json = try? JSON(parsing: response.body, reading: .stream),
                let rows = json.array ?? json["data"]?.array
            else {
                throw ChatError(.badAnswer, "\(access.name) lists its projects in no known form", provider: access.id)
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

/// Tells gateways that an answer is not wanted any more.
///
/// Whoever stops must not wait for that, and it must go out although their task is cancelled. So these tasks live here,
/// two seconds at most, and `close` waits for them.
final class Farewells: Sendable {
    private struct State {
        var tasks: [Int: Task<Void, Never>] = [:]
        var next = 0
    }

    private let state = Mutex(State())
    private static let limit: Duration = .seconds(2)

    /// Ends a session, and with it what runs in it.
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

    /// Returns when all has been said.
    func close() async {
        for task in state.withLock({ Array($0.tasks.values) }) { await task.value }
    }

    private func forget(_ number: Int) {
        state.withLock { _ = $0.tasks.removeValue(forKey: number) }
    }

    private static func end(_ session: String, _ chat: HTTPURL, _ access: ServerAccess) async {
        // What is no plain id would change the path.
        guard session.isPathWord else { return }
        do {
            var request = HTTPRequest(.delete, try chat.below("/\(session)"), headers: access.headers)
            request.limits.total = limit
            request.limits.firstByte = limit
            request.limits.connect = limit
            request.redirects = .none
            request.retry = .none
            _ = try await access.credential.send(request, with: access.client)
        } catch {
            // The connection of the answer is closed already, which ends it at most servers; nobody waits for more.
        }
    }
}

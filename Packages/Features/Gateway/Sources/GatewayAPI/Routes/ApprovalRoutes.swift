import Capabilities
import GatewayStore
import GatewayTurns
import HTTPCore
import HTTPServer
import JSON
import TurnLoop

/// Calls that wait for approval. A stream in the rich dialect reports each of them, and clients with the scope approve
/// can answer. An answer for the whole project is a rule, which needs the scope admin.
struct ApprovalRoutes {
    let services: APIServices

    var all: [Route] {
        [
            Route(
                .get, "/v1/sessions/{id}/approvals", "listApprovals", "List the calls that wait for approval",
                .path("id", "The session")
            ) { _, id in try await list(id) }.refusing(.notFound),
            Route(
                .post, "/v1/sessions/{id}/approvals/{approval}", "answerApproval", "Allow or deny a call",
                .path("id", "The session"), .path("approval", "The approval request"),
                .body(ApprovalBody.self, "The answer", unknown: .ignored)
            ) { request, id, approval, body in
                if body.answer.scope == .project { try request.principal?.grant.check(.route([.admin])) }
                return try await answer(id, approval, body, by: request.principal)
            }.refusing(.notFound, .conflict),
        ].map { $0.tagged("approvals") }
    }

    private func list(_ session: String) async throws -> WireList<WireApproval> {
        _ = try await services.session(session)
        let now = services.now()
        return WireList(rows: services.turns.openApprovals(of: session).map { WireApproval(ticket: $0, now: now) })
    }

    private func answer(
        _ session: String, _ id: String, _ body: ApprovalBody, by principal: Principal?
    ) async throws -> ApprovalDone {
        try await services.answer(id, of: session, body.answer, in: services.turns, by: principal?.name ?? "client")
        return ApprovalDone(id: id, isAllowed: body.answer.isAllowed)
    }
}

/// A call that waits for approval: a frame of the rich dialect, and a row of the list.
struct WireApproval: Record {
    let ticket: ApprovalTicket
    let now: Timestamp

    static let fields: [Field<WireApproval>] = [
        Field("object", "Always approval_request") { _ in "approval_request" },
        Field("id", "Id of the approval request") { $0.ticket.id },
        Field("session_id", "The session") { $0.ticket.session },
        Field("tool_id", "Id of the call") { $0.ticket.call.id },
        Field("name", "The tool", .name) { $0.ticket.call.name },
        Field("source", "Source of the tool") { $0.ticket.source },
        Field("input", "Input of the call") { $0.ticket.call.input },
        Field("effect", "Whether it reads, writes or destroys") { $0.ticket.effect },
        Field("summary", "Description of the tool") { $0.ticket.summary },
        Field("paths", "Files and folders that it reaches, with links resolved") { wire -> [String]? in
            wire.ticket.reach.paths.isEmpty ? nil : wire.ticket.reach.paths.map(\.text)
        },
        Field("diff", "Changes that it would make") { $0.ticket.reach.diff },
        Field("caution", "What the sandbox does not prevent") { $0.ticket.reach.command?.caution },
        Field("remembers", "What an answer for the session or project would cover; absent if it counts only once") {
            $0.ticket.remembers
        },
        Field("expires_in_ms", "Time until it is denied without an answer") { wire in
            max(0, Int((wire.ticket.expires - wire.now) / .milliseconds(1)))
        },
    ]
}

/// The answer to an approval request.
struct ApprovalBody: InputValue {
    let answer: ApprovalAnswer

    /// How long an answer applies.
    enum Scope: String, Choice {
        case once, session, project
    }

    static let schema = Schema.record([
        Schema.Property("allow", "Whether to allow the call", .boolean),
        Schema.Property("scope", "How long the answer applies; default: once", .optional(Scope.schema)),
        Schema.Property("reason", "Reason for a denial, passed to the model", .optional(.string)),
    ])

    init(json: JSON) throws(ValueError) {
        let scope: ApprovalScope =
            switch json["scope"]?.string.flatMap(Scope.init) {
            case .once, nil: .once
            case .session: .conversation
            case .project: .project
            }
        answer = ApprovalAnswer(
            isAllowed: json["allow"]?.bool ?? false, scope: scope, reason: json["reason"]?.string)
    }
}

/// Confirms that an answer was accepted.
struct ApprovalDone: Record {
    let id: String
    let isAllowed: Bool

    static let fields: [Field<ApprovalDone>] = [
        Field("id", "The approval request") { $0.id },
        Field("status", "allowed or denied", .state) { $0.isAllowed ? "allowed" : "denied" },
    ]
}

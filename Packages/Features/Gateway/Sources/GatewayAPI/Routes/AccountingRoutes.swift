import Capabilities
import GatewayStore
import HTTPCore
import HTTPServer
import JSON

/// What was used, and who did what.
struct AccountingRoutes {
    let services: APIServices
    private var store: GatewayStore { services.store }

    var all: [Route] {
        [
            Route(
                .get, "/v1/usage", "getUsage", "Tokens and cost, summed up",
                .query("by", "What each sum is of", default: UsageGroup.day),
                .query("from", "The first day, such as 2026-11-01, by UTC", as: DayWord?.self).documented(.day),
                .query("to", "The last day", as: DayWord?.self).documented(.day),
                .query("project_id", "Only of this project", as: String?.self),
                .query("session_id", "Only of this session", as: String?.self),
                .query("model", "Only of this model, as PROVIDER/MODEL or its bare name", as: String?.self),
                .query("client", "Only for this client, by the name of its token", as: String?.self)
            ) { _, group, first, last, project, session, model, client in
                try await usage(group, first, last, project, session, model, client)
            },
            Route(
                .get, "/v1/sessions/{id}/audit", "listAudit", "Who did what in a session, the newest first",
                .path("id", "The session"), .page, .pageSize
            ) { _, id, page, size in try await audit(id, page, size) }.refusing(.notFound),
        ].map { $0.tagged("accounting") }
    }

    private func usage(
        _ group: UsageGroup, _ first: DayWord?, _ last: DayWord?, _ project: String?, _ session: String?,
        _ model: String?, _ client: String?
    ) async throws -> UsageReport {
        var filter = UsageFilter()
        filter.from = first?.day
        filter.through = last?.day
        filter.project = project
        filter.session = session
        filter.client = client
        if let model {
            let parts = model.split(separator: "/", maxSplits: 1)
            filter.provider = parts.count == 2 ? String(parts[0]) : nil
            filter.model = parts.last.map(String.init) ?? model
        }
        return UsageReport(group: group, sums: try await store.usage(by: group, filter).map(WireSum.init))
    }

    private func audit(_ id: String, _ page: Int, _ size: Int) async throws -> WirePage<WireAudit> {
        _ = try await services.session(id)
        let found = try await store.auditEntries(session: id, page: PageRequest(number: page, size: size))
        return WirePage(found, WireAudit.init)
    }
}

/// A day in a query.
struct DayWord: InputValue {
    let day: Day
    static let schema = Schema.string

    init(json: JSON) throws(ValueError) {
        guard let day = json.string.flatMap({ Day($0) }) else { throw ValueError("needs a day such as 2026-11-21") }
        self.day = day
    }
}

/// Sums of what was used.
struct UsageReport: Record {
    let group: UsageGroup
    let sums: [WireSum]

    static let fields: [Field<UsageReport>] = [
        Field("object", "Always list") { _ in "list" },
        Field("by", "What each sum is of") { $0.group },
        Field("data", "The sums") { $0.sums },
    ]
}

/// One sum. What nobody told is left out, never zero.
struct WireSum: Record {
    let sum: UsageSum

    static let fields: [Field<WireSum>] = [
        Field("key", "What it is of; absent for what belongs to nothing of the kind", .name) { $0.sum.key },
        Field("answers", "How many answers of models") { $0.sum.answers },
        Field("input_tokens", "Tokens read by models") { $0.sum.usage.inputTokens },
        Field("output_tokens", "Tokens written by models") { $0.sum.usage.outputTokens },
        Field("cached_tokens", "Tokens read that came from a cache") { $0.sum.usage.cachedTokens },
        Field("reasoning_tokens", "Tokens written that were thoughts") { $0.sum.usage.reasoningTokens },
        Field("total_tokens", "Read and written together") { $0.sum.tokens },
        Field("total_cost", "US dollars, of the answers whose cost is known") { $0.sum.usage.cost },
        Field("unpriced", "How many answers have a cost that nobody knows") { $0.sum.unpriced },
    ]
}

/// One thing that was done.
struct WireAudit: Record {
    let entry: AuditEntry

    static let fields: [Field<WireAudit>] = [
        Field("number", "Its place among all entries") { $0.entry.number },
        Field("created_at", "When it was done") { $0.entry.time },
        Field("project_id", "In which project") { $0.entry.project },
        Field("session_id", "In which session") { $0.entry.session },
        Field("actor", "Who did it") { $0.entry.actor },
        Field("action", "What was done", .name) { $0.entry.action },
        Field("subject", "To what") { $0.entry.subject },
        Field("decision", "What was decided about it", .state) { $0.entry.decision },
        Field("detail", "More about it", .detail) { $0.entry.detail },
    ]
}

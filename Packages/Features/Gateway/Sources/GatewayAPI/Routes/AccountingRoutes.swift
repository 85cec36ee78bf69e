import Capabilities
import GatewayStore
import HTTPCore
import HTTPServer
import JSON

/// Usage and the audit log.
struct AccountingRoutes {
    let services: APIServices
    private var store: GatewayStore { services.store }

    var all: [Route] {
        [
            Route(
                .get, "/v1/usage", "getUsage", "Get sums of tokens and cost",
                .query("by", "What to group by", default: UsageGroup.day),
                .query("from", "First day (UTC), such as 2026-11-01", as: DayWord?.self).documented(.day),
                .query("to", "Last day (UTC)", as: DayWord?.self).documented(.day),
                .query("project_id", "Only usage of this project", as: String?.self),
                .query("session_id", "Only usage of this session", as: String?.self),
                .query("model", "Only usage of this model, as PROVIDER/MODEL or MODEL", as: String?.self),
                .query("client", "Only usage of this client, by the name of its token", as: String?.self)
            ) { _, group, first, last, project, session, model, client in
                try await usage(group, first, last, project, session, model, client)
            },
            Route(
                .get, "/v1/sessions/{id}/audit", "listAudit", "List the audit log of a session, newest first",
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
        guard let found = try await store.auditEntries(session: id, page: PageRequest(number: page, size: size)) else {
            throw RequestProblem.notFound("there is no audit log here; the feature 'audit' is off or not in this build")
        }
        return WirePage(found, WireAudit.init)
    }
}

/// A day in a query.
struct DayWord: InputValue {
    let day: Day
    static let schema = Schema.string

    init(json: JSON) throws(ValueError) {
        guard let day = json.string.flatMap({ Day($0) }) else { throw ValueError("must be a day such as 2026-11-21") }
        self.day = day
    }
}

/// Sums of what was used.
struct UsageReport: Record {
    let group: UsageGroup
    let sums: [WireSum]

    static let fields: [Field<UsageReport>] = [
        Field("object", "Always list") { _ in "list" },
        Field("by", "What to group by") { $0.group },
        Field("data", "The sums") { $0.sums },
    ]
}

/// One sum. Unknown values are left out, never zero.
struct WireSum: Record {
    let sum: UsageSum

    static let fields: [Field<WireSum>] = [
        Field("key", "The group, such as a day; absent for usage outside any group", .name) { $0.sum.key },
        Field("answers", "Number of answers of models") { $0.sum.answers },
        Field("input_tokens", "Tokens read by models") { $0.sum.usage.inputTokens },
        Field("output_tokens", "Tokens written by models") { $0.sum.usage.outputTokens },
        Field("cached_tokens", "Tokens read from a cache") { $0.sum.usage.cachedTokens },
        Field("cache_write_tokens", "Tokens written to a cache") { $0.sum.usage.cacheWriteTokens },
        Field("reasoning_tokens", "Tokens written as reasoning") { $0.sum.usage.reasoningTokens },
        Field("total_tokens", "Tokens read and written") { $0.sum.tokens },
        Field("total_cost", "Cost in US dollars of the answers whose cost is known") { $0.sum.usage.cost },
        Field("unpriced", "Number of answers whose cost is unknown") { $0.sum.unpriced },
    ]
}

/// One entry of the audit log.
struct WireAudit: Record {
    let entry: AuditEntry

    static let fields: [Field<WireAudit>] = [
        Field("number", "Number of the entry") { $0.entry.number },
        Field("created_at", "Time of the action") { $0.entry.time },
        Field("project_id", "Project") { $0.entry.project },
        Field("session_id", "Session") { $0.entry.session },
        Field("actor", "Who did it") { $0.entry.actor },
        Field("action", "What was done", .name) { $0.entry.action },
        Field("subject", "What it was done to") { $0.entry.subject },
        Field("decision", "Decision about it", .state) { $0.entry.decision },
        Field("detail", "More details", .detail) { $0.entry.detail },
    ]
}

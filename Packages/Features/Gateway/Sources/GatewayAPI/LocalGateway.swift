public import Capabilities
import GatewayStore
public import GatewayTurns
import HTTPCore
import HTTPServer
import ToolKit
import TurnLoop

/// The gateway of this program, without HTTP: the same projects and sessions, with the rights of the running action's
/// caller instead of those of a token.
///
/// What a route needs a scope for, the caller's grant is asked about in the same way. A grant that names folders also
/// restricts the folders of projects.
public final class LocalGateway: AgentServer, ProjectCatalog {
    public let server: ServerID
    private let current: @Sendable () -> APIServices
    private let others: @Sendable () -> [Turns]

    /// - Parameters:
    ///   - services: called for each request, because their settings may change.
    ///   - others: other turns of this process over the same records, such as those of a gateway that is serving.
    public init(
        _ server: ServerID, services: @escaping @Sendable () -> APIServices,
        others: @escaping @Sendable () -> [Turns] = { [] }
    ) {
        self.server = server
        current = services
        self.others = others
    }

    // MARK: The server

    public func health() async throws -> Offered<AgentHealth> {
        // This route is open.
        let services = current()
        let active = (others() + [services.turns]).map(\.runningSessionCount).reduce(0, +)
        return .value(AgentHealth(isHealthy: true, version: services.version, activeSessions: active))
    }

    public func stats() async throws -> Offered<AgentStats> {
        try await asked("getStats") { AgentStats(try await $0.store.stats()) }
    }

    // MARK: Projects

    public func projects() async throws -> Offered<AgentList<AgentProject>> {
        try await asked("listProjects") { services in
            try await Self.list({ try await services.store.projects(page: $0) }, AgentProject.init)
        }
    }

    public func project(_ id: String) async throws -> Offered<AgentProject> {
        try await asked("getProject", .project, id) { AgentProject(try await $0.projectRow(id)) }
    }

    public func createProject(_ new: NewAgentProject) async throws -> Offered<AgentProject> {
        try await asked("createProject") { services in
            try Self.checkFolder(of: new, in: services.folders)
            let row = try await services.createProject(
                NewProject(name: new.name, description: new.summary, path: new.path ?? ""))
            // A link may have led elsewhere.
            try Caller.grantHere.check(.path(row.project.path, .tree))
            return AgentProject(row)
        }
    }

    public func deleteProject(_ id: String) async throws -> Offered<Nothing> {
        try await asked("deleteProject", .project, id) {
            try await $0.deleteProject(id)
            return Nothing()
        }
    }

    // MARK: Sessions

    public func sessions(ofProject project: String?) async throws -> Offered<AgentList<AgentSession>> {
        try await asked("listSessions") { services in
            try await Self.list(
                { try await services.store.sessions(project: project, page: $0) }, { AgentSession($0) })
        }
    }

    public func session(_ id: String) async throws -> Offered<AgentSession> {
        try await asked("getSession", .session, id) { AgentSession(try await $0.session(id)) }
    }

    public func createSession(_ new: NewAgentSession) async throws -> Offered<AgentSession> {
        try await asked("createSession", new.project.map { _ in .project }, new.project ?? "") { services in
            let values = NewSession(
                project: new.project, title: new.title, model: new.model?.filled, systemPrompt: new.systemPrompt,
                selection: new.tools ?? ToolSelection())
            return AgentSession(try await services.createSession(values))
        }
    }

    public func endSession(_ id: String) async throws -> Offered<Nothing> {
        try await asked("deleteSession", .session, id) {
            try await $0.deleteSession(id)
            return Nothing()
        }
    }

    public func status(ofSession id: String) async throws -> Offered<AgentStatus> {
        try await asked("getStatus", .session, id) { services in
            AgentStatus(try await self.turns(of: id, services).status(session: id))
        }
    }

    public func stop(session id: String) async throws -> Offered<AgentStop> {
        try await asked("stopTurn", .session, id) { services in
            AgentStop(wasRunning: try await self.turns(of: id, services).stop(session: id))
        }
    }

    // MARK: Files

    public func files(
        ofProject project: String, _ query: AgentFileQuery
    ) async throws -> Offered<AgentList<AgentFile>> {
        let isRoot = query.path == "."
        return try await asked("listFiles", isRoot ? .project : .file, isRoot ? project : query.path) { services in
            let workspace = try await services.workspace(project)
            try self.check(isRoot ? nil : query.path, .tree, in: workspace)
            let look = Workspace.Look(
                path: query.path, hidden: query.hidden, ignored: query.ignored, limit: query.limit)
            let found =
                if let glob = query.glob { try await workspace.find(glob, look) } else {
                    try await workspace.entries(look, depth: query.depth)
                }
            return AgentList(found.entries.map(AgentFile.init), isCut: found.isCut)
        }
    }

    public func readFile(
        _ path: String, ofProject project: String, in range: Range<Int>?
    ) async throws -> Offered<AgentFileContent> {
        try await asked("readFile", .file, path) { services in
            let workspace = try await services.workspace(project)
            try self.check(path, .read, in: workspace)
            let file = try await workspace.open(path)
            let size = file.entry.size
            let part = range?.clamped(to: 0..<size) ?? 0..<size
            guard range == nil || !part.isEmpty else {
                throw RequestProblem(
                    HTTPStatus(416), code: "gateway.range",
                    "the range starts after the end of the file (\(size) bytes)")
            }
            guard part.count <= AgentFileContent.most else {
                throw AgentServerError.tooLarge(.file, path, at: self.server)
            }
            var bytes: [UInt8] = []
            while bytes.count < part.count {
                let more = try await file.read(at: part.lowerBound + bytes.count, count: part.count - bytes.count)
                // The file has become shorter.
                guard !more.isEmpty else { throw AgentServerError.changed(.file, path, at: self.server) }
                bytes += more
            }
            return AgentFileContent(bytes: bytes, start: part.lowerBound, size: size, etag: file.entry.etag)
        }
    }

    public func writeFile(
        _ bytes: [UInt8], to path: String, ofProject project: String, if condition: AgentWriteCondition
    ) async throws -> Offered<AgentFile> {
        try await asked("writeFile", .file, path) { services in
            guard bytes.count <= AgentFileContent.most else {
                throw AgentServerError.tooLarge(.file, path, at: self.server)
            }
            let workspace = try await services.workspace(project)
            try self.check(path, .write, in: workspace)
            let rule: Workspace.WriteRule =
                switch condition {
                case .always: .always
                case .isNew: .isNew
                case .matches(let etag): .matches(etag: etag)
                }
            return AgentFile(try await workspace.write(bytes, to: path, when: rule).entry)
        }
    }

    // MARK: Tools

    public func toolServers(_ scope: AgentToolScope, project: String?) async throws -> Offered<[AgentToolServer]> {
        try await asked("listToolServers", project.map { _ in .project }, project ?? "") { services in
            try await services.turns.toolOffers(project: project, scope).map(AgentToolServer.init)
        }
    }

    public func tools(ofServer id: String, project: String?) async throws -> Offered<[AgentTool]> {
        try await asked("listServerTools", .toolServer, id) { services in
            let offers = try await services.turns.toolOffers(project: project)
            guard let offer = offers.first(where: { $0.source == id }) else {
                throw AgentServerError.notFound(.toolServer, id, at: self.server)
            }
            return offer.tools.map(AgentTool.init)
        }
    }

    public func setTools(_ selection: ToolSelection, ofSession id: String) async throws -> Offered<ToolSelection> {
        try await asked("setTools", .session, id) { services in
            let mayEndAudit = Caller.grantHere.decide(.route([.admin])).isAllowed
            return try await services.setTools(selection, of: id, mayEndAudit: mayEndAudit)
        }
    }

    public func approvals(ofSession id: String) async throws -> Offered<[AgentApproval]> {
        try await asked("listApprovals", .session, id) { services in
            _ = try await services.session(id)
            let now = services.now()
            return self.turns(asking: id, services).openApprovals(of: id).map { AgentApproval($0, now: now) }
        }
    }

    public func answer(
        _ approval: String, ofSession session: String, _ answer: AgentApprovalAnswer
    ) async throws -> Offered<Nothing> {
        try await asked("answerApproval", .approval, approval) { services in
            if answer.scope == .project { try Caller.grantHere.check(.route([.admin])) }
            let scope: ApprovalScope =
                switch answer.scope {
                case .once: .once
                case .session: .conversation
                case .project: .project
                }
            let given = ApprovalAnswer(isAllowed: answer.isAllowed, scope: scope, reason: answer.reason)
            let actor = Caller.current?.isPerson == true ? "owner" : "caller"
            let turns = self.turns(asking: session, services)
            try await services.answer(approval, of: session, given, in: turns, by: actor)
            return Nothing()
        }
    }

    // MARK: Accounts

    public func usage(by group: UsageGroup, _ filter: UsageFilter) async throws -> Offered<[UsageSum]> {
        try await asked("getUsage") { try await $0.store.usage(by: group, filter) }
    }

    public func audit(ofSession id: String) async throws -> Offered<AgentList<AuditEntry>> {
        let found: Offered<AgentList<AuditEntry>?> = try await asked("listAudit", .session, id) { services in
            _ = try await services.session(id)
            guard services.store.hasAudit else { return nil }
            return try await Self.list({ try await services.store.auditEntries(session: id, page: $0) ?? .none($0) }) {
                $0.asRoutesShowIt
            }
        }
        return found.value.flatMap(\.self).map(Offered.value) ?? .notOffered
    }
}

extension Page {
    /// A page of a list without items.
    fileprivate static func none(_ request: PageRequest) -> Page { Page(items: [], request: request, total: 0) }
}

extension AuditEntry {
    /// With what clients of the routes see of it; the rest is in the details.
    fileprivate var asRoutesShowIt: AuditEntry {
        var entry = AuditEntry(
            project: project, session: session, actor: actor, action: action, subject: subject, decision: decision,
            detail: detail)
        (entry.number, entry.time) = (number, time)
        return entry
    }
}

extension LocalGateway {
    /// Does what a route does, if the caller may.
    ///
    /// - Parameters:
    ///   - route: the id of the route.
    ///   - subject: what the request names, and its id: if it does not exist, that is the error.
    private func asked<Value: Sendable>(
        _ route: String, _ subject: AgentSubject? = nil, _ id: String = "",
        _ work: (APIServices) async throws -> Value
    ) async throws -> Offered<Value> {
        try Caller.grantHere.check(.route(RouteScopes.of(route)))
        do {
            return .value(try await work(current()))
        } catch let failure as any Failure {
            throw known(failure, subject, id) ?? failure
        }
    }

    /// What callers react to, as clients of the routes see it.
    private func known(_ failure: any Failure, _ subject: AgentSubject?, _ id: String) -> AgentServerError? {
        let code = WireCode.text(of: failure.code)
        let named = AgentSubject(errorCode: code) ?? subject
        guard let named, !(failure is AgentServerError) else { return nil }
        let isSame = named == subject
        switch (failure as? RequestProblem)?.status.code ?? FailureStatus.known(failure)?.code {
        case 404: return .notFound(named, isSame ? id : "", at: server, told: isSame ? nil : failure.message)
        case 409 where code != "changed": return .busy(named, isSame ? id : "", at: server)
        case 409, 412: return .changed(named, isSame ? id : "", at: server)
        default: return nil
        }
    }

    /// The turns in which the turn of a session runs; those for new turns if it runs in none of this process.
    private func turns(of session: String, _ services: APIServices) -> Turns {
        others().first { $0.runningSessions.contains(session) } ?? services.turns
    }

    /// The turns in which calls of a session wait for approval.
    private func turns(asking session: String, _ services: APIServices) -> Turns {
        others().first { !$0.openApprovals(of: session).isEmpty } ?? services.turns
    }

    /// As many pages as clients of the routes read.
    private static func list<Stored, Row>(
        _ page: (PageRequest) async throws -> Page<Stored>, _ row: (Stored) -> Row
    ) async throws -> AgentList<Row> {
        var list = AgentList<Row>([], isCut: true)
        for number in 1...50 {
            let found = try await page(PageRequest(number: number, size: 100))
            list.rows += found.items.map(row)
            guard found.hasNext else {
                list.isCut = false
                break
            }
        }
        return list
    }

    /// Throws unless the caller may reach a file or folder of a project.
    ///
    /// - Parameter path: relative to the folder of the project; nil for that folder.
    private func check(_ path: String?, _ purpose: PathPurpose, in workspace: Workspace) throws {
        guard let path else { return try Caller.grantHere.check(.path(workspace.path, purpose)) }
        guard AgentFile.isPath(path) else { throw AgentServerError.notFound(.file, path, at: server) }
        try Caller.grantHere.check(.path("\(workspace.path)/\(path)", purpose))
    }

    /// Throws unless the caller may reach the folder of a project that is to be created.
    private static func checkFolder(of new: NewAgentProject, in folders: ProjectFolders) throws(AccessFailure) {
        // A path with `..` is refused anyway.
        let wanted = new.path.flatMap { $0.isEmpty || $0.split(separator: "/").contains("..") ? nil : $0 }
        let place = wanted.map { $0.hasPrefix("/") ? $0 : "\(folders.home)/\($0)" }
        try Caller.grantHere.check(.path(place ?? folders.home, .tree))
    }
}

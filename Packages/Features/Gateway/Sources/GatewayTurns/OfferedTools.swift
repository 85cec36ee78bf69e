public import Capabilities
import GatewayStore
import JSON
import Synchronization
import ToolKit
import TurnLoop

/// The tools of a source that a turn may use. It counts their runs.
final class OfferedTools: ToolSource {
    private let source: any ToolSource
    /// The names of the selected tools; nil for all.
    private let selected: [String]?
    private let runs: ToolRuns

    init(_ source: any ToolSource, selected: [String]?, runs: ToolRuns) {
        self.source = source
        self.selected = selected
        self.runs = runs
    }

    var name: String { source.name }
    var isBuiltIn: Bool { source.isBuiltIn }
    var scope: AgentToolScope { source.scope }
    var version: String? { source.version }

    func tools() async throws -> [ToolDescription] {
        try await source.tools().filter { tool in
            selected?.contains { Self.isTool(tool.name, of: name, isBuiltIn, called: $0) } ?? true
        }
    }

    /// Whether `word` names a tool: by its own name, with its source before it, or as models know it, because most
    /// providers allow neither dots nor long names.
    static func isTool(_ tool: String, of source: String, _ isBuiltIn: Bool, called word: String) -> Bool {
        if word == tool || word == "\(source)/\(tool)" { return true }
        return word
            == (isBuiltIn ? ToolDescription.sentName(tool) : ToolDescription.sentName(tool, ofServer: source))
    }

    func reach(of call: ToolCall) async throws -> ToolReach { try await source.reach(of: call) }

    func run(_ call: ToolCall) async throws -> ToolResult {
        try await runs.run { try await source.run(call) }
    }

    func run(
        _ call: ToolCall, reaching agreed: ToolReach, telling tell: @escaping @Sendable (String) async -> Void
    ) async throws -> ToolResult {
        try await runs.run { try await source.run(call, reaching: agreed, telling: tell) }
    }
}

/// The tools of one source.
public struct ToolOffer: Sendable, Hashable {
    /// The name of the source in selections: `files` for the folder of a project, or a server's name.
    public let source: String
    /// Its tools; empty if they cannot be listed.
    public let tools: [ToolDescription]
    /// Why its tools cannot be listed now.
    public let problem: String?
    /// Whether its tools belong to this program, and not to a server.
    public var isBuiltIn = true
    /// Who set it up.
    public var scope = AgentToolScope.user
    /// The version of what is behind it, as far as that is known.
    public var version: String?
}

extension Turns {
    /// The sources that can be selected, with their tools.
    ///
    /// - Parameters:
    ///   - project: The project whose folder the tools work in; nil for tools that need no folder.
    ///   - scope: Who set them up; `all` for all of them.
    public func toolOffers(project id: String? = nil, _ scope: AgentToolScope = .all) async throws -> [ToolOffer] {
        var found: [any ToolSource] = []
        if let id {
            found = try await sources(in: project(id))
        } else {
            found = try await sources(in: nil)
        }
        return await offers(of: found.filter { scope == .all || $0.scope == scope })
    }

    private func offers(of sources: [any ToolSource]) async -> [ToolOffer] {
        await withTaskGroup(of: (Int, ToolOffer).self) { group in
            for (index, source) in sources.enumerated() {
                group.addTask { [clock = parts.clock, limit = parts.settings.callTime] in
                    (index, await Self.offer(of: source, within: limit, on: clock))
                }
            }
            return await group.reduce(into: [:]) { $0[$1.0] = $1.1 }.sorted { $0.key < $1.key }.map(\.value)
        }
    }

    /// Throws if a selection names a tool that does not exist, so that a selection without effect is reported.
    public func check(_ selection: ToolSelection, inProject id: String?) async throws {
        guard selection.tools?.isEmpty == false else { return }
        var project: Project?
        if let id { project = try await self.project(id) }
        try await check(selection, among: sources(in: project))
    }

    func check(_ selection: ToolSelection, among sources: [any ToolSource]) async throws {
        guard let wanted = selection.tools, !wanted.isEmpty else { return }
        let offers = await offers(of: sources)
        // A source that does not answer now may have any tool, so nothing can be refused.
        guard offers.allSatisfy({ $0.problem == nil }) else { return }
        // Tools of sources that the selection leaves out cannot be meant.
        let known = offers.filter { selection.servers?.contains($0.source) ?? true }.flatMap { offer in
            offer.tools.map { (offer: offer, name: $0.name) }
        }
        for word in wanted {
            let meant = known.filter {
                OfferedTools.isTool($0.name, of: $0.offer.source, $0.offer.isBuiltIn, called: word)
            }
            if meant.count > 1, !meant.contains(where: { "\($0.offer.source)/\($0.name)" == word }) {
                let names = meant.map { "\($0.offer.source)/\($0.name)" }.joined(separator: " and ")
                throw GatewayError(
                    .invalid,
                    "the tool \(PlainText.escape(word).quoted) may be \(PlainText.escape(names)); name it with its source",
                    param: "enabled_tools")
            }
            guard meant.isEmpty else { continue }
            let names = known.map(\.name)
            let list = names.isEmpty ? "no tools are available here" : "available are \(names.joined(separator: ", "))"
            throw GatewayError(
                .unknownTool, "there is no tool \(PlainText.escape(word).quoted); \(list)", param: "enabled_tools")
        }
    }

    private static func offer(
        of source: any ToolSource, within limit: Duration, on clock: any Clock<Duration>
    ) async -> ToolOffer {
        do {
            let tools = try await withTimeLimit(limit, on: clock) { try await source.tools() }
            guard let tools else {
                throw GatewayError(.toolsUnavailable, "it did not respond within \(limit.words)")
            }
            return ToolOffer(
                source: source.name, tools: tools, problem: nil, isBuiltIn: source.isBuiltIn, scope: source.scope,
                version: source.version)
        } catch {
            return ToolOffer(
                source: source.name, tools: [], problem: AnyFailure(error).message, isBuiltIn: source.isBuiltIn,
                scope: source.scope, version: source.version)
        }
    }
}

/// Counts running tools. A stopped turn does not wait for its tools, so the shutdown does: a shell command still has
/// 200 ms between TERM and KILL.
final class ToolRuns: Sendable {
    private struct State {
        var count = 0
        var waiting: [Promise<Void>] = []
    }

    private let state = Mutex(State())

    func run<Value: Sendable>(_ work: () async throws -> Value) async rethrows -> Value {
        state.withLock { $0.count += 1 }
        defer {
            let waiting = state.withLock { state in
                state.count -= 1
                guard state.count == 0 else { return [Promise<Void>]() }
                defer { state.waiting = [] }
                return state.waiting
            }
            for promise in waiting { promise.settle(()) }
        }
        return try await work()
    }

    /// Returns when no tool is running. Throws only when the waiting task is cancelled.
    func allEnded() async throws {
        let ended = Promise<Void>()
        let isIdle = state.withLock { state in
            if state.count > 0 { state.waiting.append(ended) }
            return state.count == 0
        }
        if !isIdle { try await ended.value() }
    }
}

extension Project {
    /// The tools that work in its folder, as far as rules allow.
    func files(_ settings: TurnSettings, _ policy: ApprovalPolicy) throws(GatewayError) -> any ToolSource {
        WorkspaceTools(try workspace(settings, policy), offering: .all, shell: settings.shell)
    }

    /// Its folder, without the paths that rules deny to tools.
    func workspace(_ settings: TurnSettings, _ policy: ApprovalPolicy) throws(GatewayError) -> Workspace {
        let denied = policy.deniedPaths(of: WorkspaceTools.name, WorkspaceTools.fileDescriptions)
        return Workspace(try folder(), denying: denied, home: settings.home)
    }

    /// Its folder. Throws if the path no longer leads to the folder of the project.
    func folder() throws(GatewayError) -> Workspace {
        do {
            return try Workspace(canonical: path)
        } catch {
            throw GatewayError(
                .folderMissing, "cannot use the project's folder: \(error.message)", param: "project_id",
                cause: error)
        }
    }
}

extension ToolSelection {
    /// The selected sources, those with priority first. If several have a tool of the same name, the first wins.
    func sources(among all: [any ToolSource]) -> [any ToolSource] {
        let selected = all.filter { source in servers?.contains(source.name) ?? true }
        var sorted: [any ToolSource] = []
        for source in priority.compactMap({ name in selected.first { $0.name == name } }) + selected
        where !sorted.contains(where: { $0 === source }) {
            sorted.append(source)
        }
        return sorted
    }

    /// Messages about selected sources that do not exist, so that a selection without effect is reported.
    func problems(among all: [any ToolSource]) -> [String] {
        let names = all.map(\.name)
        return (servers ?? []).filter { !names.contains($0) }.map { name in
            "there is no tool source \(PlainText.escape(name).quoted) here\(Suggestion.text(for: name, among: names))"
        }
    }
}

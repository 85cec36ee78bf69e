public import Capabilities
public import GatewayModels
public import GatewayStore
import JSON
import TurnLoop

/// Answers requests: asks models, runs tools, asks clients for approval, and writes down what happens.
///
/// ```swift
/// let turns = Turns(store: store, providers: { [openAI] }, now: host.now)
/// var input = TurnInput(ChatRequest(model: "", messages: [Message(.user, "Where are the TODOs?")]), isAgent: true)
/// input.project = project.id
/// let report = try await turns.run(input) { events in try await show(events) }
/// await turns.close()
/// ```
///
/// It owns all that runs: a turn whose client has vanished is either ended or goes on under its limits, and `close` ends and
/// awaits everything.
public final class Turns: Sendable {
    let parts: TurnParts
    let catalogue: Catalogue
    var table: TurnTable { parts.running.table }
    private let others: @Sendable () async -> [any ToolSource]

    /// - Parameters:
    ///   - providers: who can be asked, the preferred first. The offline model is added to them.
    ///   - sources: tools beside those of a project's folder.
    ///   - claude: the `claude` command, offered as `claude/…`.
    ///   - running: what runs already, with settings from before, and is to be seen and ended here too.
    ///   - keeping: what has to be there as long as a turn runs, such as what the providers belong to.
    ///   - folders: where answers that hold for a project are kept; without it they hold for the session.
    public init(
        store: GatewayStore, providers: @escaping @Sendable () async -> [any ModelProvider],
        settings: TurnSettings = TurnSettings(), sources: @escaping @Sendable () async -> [any ToolSource] = { [] },
        claude: ClaudeCommand? = nil, clock: any Clock<Duration> = ContinuousClock(),
        now: @escaping @Sendable () -> Timestamp, tracer: Tracer? = nil, running: RunningTurns? = nil,
        keeping: (any Sendable)? = nil, folders: (any FolderRules)? = nil
    ) {
        parts = TurnParts(
            store: store, settings: settings, clock: clock, now: now, tracer: tracer ?? Tracer(sinks: [], now: now),
            running: running ?? RunningTurns(clock: clock, now: now), keeping: keeping, folders: folders)
        catalogue = Catalogue(providers: providers, claude: claude, clock: clock, now: now) { listing in
            // A log that cannot be written is no reason to keep the other models from anybody.
            do {
                try await store.audit(
                    AuditEntry(
                        actor: "gateway", action: "models.left-out", subject: listing.id,
                        detail: listing.problem.map { .string($0.message) } ?? .null))
            } catch {}
        }
        others = sources
    }

    /// Everybody's tools: those of the project's folder first.
    func sources(in project: Project?, _ policy: ApprovalPolicy = ApprovalPolicy()) async throws -> [any ToolSource] {
        var sources: [any ToolSource] = []
        if let project { sources.append(try project.files(parts.settings, policy)) }
        return sources + (await others())
    }

    /// Whether models are being listed.
    public var isListing: Bool { catalogue.isLoading }

    /// How many turns and completions run.
    public var running: Int { table.count }

    /// In how many sessions a turn runs here.
    public var runningSessionCount: Int { table.sessionCount }

    /// The sessions in which a turn runs here.
    public var runningSessions: [String] { table.sessions }

    /// Ends all turns, keeping what was said, and awaits them with their tools, also those that began with other settings.
    /// Runs that come later are refused.
    public func close() async {
        await table.close()
        await catalogue.close()
        // A tool that does not end although it was cancelled must not keep the gateway from ending.
        let (runs, clock) = (parts.toolRuns, parts.clock)
        await withTaskGroup { group in
            group.addTask { do { try await runs.allEnded() } catch {} }
            group.addTask { do { try await clock.sleep(for: .seconds(5)) } catch {} }
            await group.next()
            group.cancelAll()
        }
    }
}

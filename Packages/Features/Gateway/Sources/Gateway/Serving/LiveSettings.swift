import Capabilities
import GatewayAPI
import GatewayStore
import GatewayTurns
import Registry
import Settings
import Synchronization

/// What the settings decide about a gateway while it serves: each request finds what they say now, and a turn goes on with
/// what they said when it began.
final class LiveSettings: Sendable {
    private let context: ActionContext
    private let store: GatewayStore
    /// Where it listens besides, which commands of models must not reach.
    private let socket: String?
    let running: RunningTurns
    private let state = Mutex(State())

    private struct State {
        var present: Present?
        /// Those before whose models are still being listed.
        var former: [Turns] = []
    }

    private struct Present {
        let generation: Generation
        let parts: APIServices.SettingsParts
    }

    init(_ context: ActionContext, _ store: GatewayStore, socket: String? = nil) {
        self.context = context
        self.store = store
        self.socket = socket
        running = RunningTurns(clock: context.host.clock, now: context.host.now)
    }

    /// How many turns and completions run, with whichever settings.
    var count: Int { running.count }

    /// What holds now.
    func parts() -> APIServices.SettingsParts {
        let newest = context.session.keepNewest(telling: context.notice)
        if let known = known(newest.generation) { return known }
        let next = Present(generation: newest.generation, parts: parts(newest))
        let (parts, isChange) = state.withLock { state -> (APIServices.SettingsParts, Bool) in
            guard let present = state.present else {
                state.present = next
                return (next.parts, false)
            }
            // Another request may have been here first, or have found newer ones meanwhile.
            guard present.generation.number < next.generation.number else { return (present.parts, false) }
            state.former = (state.former + [present.parts.turns]).filter(\.isListing)
            state.present = next
            return (next.parts, true)
        }
        if isChange { tell(next.generation.host.settings) }
        return parts
    }

    private func known(_ generation: Generation) -> APIServices.SettingsParts? {
        state.withLock { state in
            guard let present = state.present, present.generation.number >= generation.number else { return nil }
            return present.parts
        }
    }

    /// Ends what runs.
    func close() async {
        let turns = state.withLock { state in state.former + [state.present?.parts.turns].compactMap(\.self) }
        for turns in turns { await turns.close() }
    }

    /// Turns for other programs: with every provider and every tool that this composition has.
    private func parts(_ kept: KeptGeneration) -> APIServices.SettingsParts {
        let host = kept.generation.host
        let settings = host.settings.view(for: GatewayFeature.manifest.id)
        let turns = Turns(
            store: store,
            providers: {
                kept.generation.registry.all((any ModelProvider).self).filter { $0.id != EmbeddedGateway.id }
            },
            settings: GatewaySettings.turns(settings, host.surroundings, socket: socket),
            sources: { kept.generation.registry.all((any ToolSource).self) },
            claude: host.claude, clock: host.clock, now: host.now, tracer: kept.generation.tracer, running: running,
            keeping: kept, folders: kept.generation.registry.optional((any FolderRules).self))
        return APIServices.SettingsParts(turns: turns, folders: ProjectFolders(settings, host.surroundings))
    }

    /// Says what is taken up, and what has to wait.
    private func tell(_ settings: Settings) {
        let waiting = GatewaySettings.readAtStart.map { [GatewayFeature.manifest.id] + $0.key }
            .filter { settings[$0]?.value != context.host.settings[$0]?.value }
        let rest =
            waiting.isEmpty
            ? "" : "; \(waiting.map { $0.joined(separator: ".") }.joined(separator: ", ")) from the next start on"
        context.notice("the settings have changed, and hold for requests from now on\(rest)")
    }
}

extension ProjectFolders {
    fileprivate init(_ settings: FeatureSettings, _ surroundings: Surroundings) {
        self.init(
            home: settings[GatewaySettings.projects].map { surroundings.locations.absolute($0.text) }
                ?? "\(surroundings.locations.data)/projects",
            allowed: settings[GatewaySettings.folders].map { surroundings.locations.absolute($0.text) })
    }
}

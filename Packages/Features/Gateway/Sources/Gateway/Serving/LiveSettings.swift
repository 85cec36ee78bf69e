import Capabilities
import GatewayAPI
import GatewayStore
import GatewayTurns
import Registry
import Settings
import Synchronization

/// The settings of a running gateway. Each request uses the settings at its start, and a turn keeps them until its end.
final class LiveSettings: Sendable {
    private let context: ActionContext
    private let store: GatewayStore
    /// The Unix socket on which it also listens; models' commands must not reach it.
    private let socket: String?
    let running: RunningTurns
    private let state = Mutex(State())

    private struct State {
        var present: Present?
        /// Turns with earlier settings that are still listing models.
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

    /// The number of running turns and completions, whatever their settings.
    var count: Int { running.count }

    /// The turns of the present settings; nil before the first request. Those of former ones are visible in them too.
    var turns: Turns? { state.withLock { $0.present?.parts.turns } }

    /// The parts that follow from the present settings.
    func parts() -> APIServices.SettingsParts {
        let newest = context.session.keepNewest(telling: context.notice)
        if let known = known(newest.generation) { return known }
        let next = Present(generation: newest.generation, parts: parts(newest))
        let (parts, isChange) = state.withLock { state -> (APIServices.SettingsParts, Bool) in
            guard let present = state.present else {
                state.present = next
                return (next.parts, false)
            }
            // Another request may have done this first, or found newer settings.
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

    /// Ends all running turns.
    func close() async {
        let turns = state.withLock { state in state.former + [state.present?.parts.turns].compactMap(\.self) }
        for turns in turns { await turns.close() }
    }

    /// Turns for other programs, with every provider and every tool of this build.
    private func parts(_ kept: KeptGeneration) -> APIServices.SettingsParts {
        let host = kept.generation.host
        let settings = GatewaySettings(reading: host.settings.view(for: GatewayFeature.manifest.id))
        let turns = Turns(
            store: store,
            providers: {
                kept.generation.registry.all((any ModelProvider).self).filter { $0.id != EmbeddedGateway.id }
            },
            builtIn: kept.generation.registry.optional((any BuiltInModel).self),
            settings: settings.turns(in: host.surroundings, socket: socket),
            sources: { try await kept.generation.registry.toolSources(at: $0, telling: $1) },
            claude: host.claude, clock: host.clock, now: host.now, tracer: kept.generation.tracer, running: running,
            keeping: kept, folders: kept.generation.registry.optional((any FolderRules).self))
        return APIServices.SettingsParts(turns: turns, folders: ProjectFolders(settings, host.surroundings))
    }

    /// Reports that the settings changed, and which changes need a restart.
    private func tell(_ settings: Settings) {
        let waiting = GatewaySettings.readAtStart.map { [GatewayFeature.manifest.id] + $0.key }
            .filter { settings[$0]?.value != context.host.settings[$0]?.value }
        let rest =
            waiting.isEmpty
            ? "" : "; restart the gateway to apply \(waiting.map { $0.joined(separator: ".") }.joined(separator: ", "))"
        context.notice("the settings have changed and apply to new requests\(rest)")
    }
}

extension ProjectFolders {
    init(_ settings: GatewaySettings, _ surroundings: Surroundings) {
        self.init(
            home: settings.projects.map { surroundings.locations.absolute($0.text) }
                ?? "\(surroundings.locations.data)/projects",
            allowed: settings.folders.map { surroundings.locations.absolute($0.text) })
    }
}

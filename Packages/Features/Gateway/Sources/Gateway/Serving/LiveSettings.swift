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
    private let running: RunningTurns
    private let present = Mutex<Present?>(nil)

    private struct Present {
        let generation: Generation
        let settled: APIServices.Settled
    }

    init(_ context: ActionContext, _ store: GatewayStore) {
        self.context = context
        self.store = store
        running = RunningTurns(clock: context.host.clock, now: context.host.now)
    }

    /// How many turns and completions run, with whichever settings.
    var count: Int { running.count }

    /// What holds now.
    func settled() -> APIServices.Settled {
        let newest = context.session.keepNewest(telling: context.notice)
        let (now, before) = present.withLock { present -> (Present, Generation?) in
            if let present, present.generation === newest.generation { return (present, nil) }
            let next = Present(generation: newest.generation, settled: settled(newest))
            return (next, exchange(&present, with: next)?.generation)
        }
        if let before { tell(now.generation.host.settings, after: before.host.settings) }
        return now.settled
    }

    /// Ends what runs.
    func close() async {
        await settled().turns.close()
    }

    /// Turns for other programs: with every provider and every tool that this composition has.
    private func settled(_ kept: KeptGeneration) -> APIServices.Settled {
        let host = kept.generation.host
        let settings = host.settings.view(for: GatewayFeature.manifest.id)
        let turns = Turns(
            store: store,
            providers: {
                kept.generation.registry.all((any ModelProvider).self).filter { $0.id != EmbeddedGateway.id }
            },
            settings: GatewaySettings.turns(settings, host.surroundings),
            sources: { kept.generation.registry.all((any ToolSource).self) },
            claude: host.claude, clock: host.clock, now: host.now, tracer: kept.generation.tracer, running: running,
            keeping: kept)
        return APIServices.Settled(turns: turns, folders: ProjectFolders(settings, host.surroundings))
    }

    /// Says what is taken up, and what has to wait.
    private func tell(_ settings: Settings, after before: Settings) {
        let waiting = GatewaySettings.readAtStart.map { [GatewayFeature.manifest.id] + $0.key }
            .filter { settings[$0]?.value != before[$0]?.value }
        let rest =
            waiting.isEmpty
            ? "" : "; \(waiting.map { $0.joined(separator: ".") }.joined(separator: ", ")) from the next start on"
        context.notice("the settings have changed, and hold for requests from now on\(rest)")
    }
}

extension ProjectFolders {
    fileprivate init(_ settings: FeatureSettings, _ surroundings: Surroundings) {
        self.init(
            home: settings[GatewaySettings.projects].map { surroundings.absolute($0.text) }
                ?? "\(surroundings.locations.data)/projects",
            allowed: settings[GatewaySettings.folders].map { surroundings.absolute($0.text) })
    }
}

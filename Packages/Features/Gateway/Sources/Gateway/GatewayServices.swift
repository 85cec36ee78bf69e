import Capabilities
import FileKit
import GatewayAPI
import GatewayModels
import GatewayStore
import GatewayTurns
import ProcessKit
import Registry
import StorageKit
import Synchronization

/// The services that the parts of the gateway share. Creating them opens no file.
final class GatewayServices: Sendable {
    let settings: GatewaySettings
    let surroundings: Surroundings
    let store: GatewayStore
    let embedded: EmbeddedGateway
    let token: GatewayToken

    /// The gateway that this process serves, if it does.
    let serving: ServingGateway
    private let local = Mutex<APIServices?>(nil)

    /// All features of this program; nil where only the gateway is used.
    let whole: WholeRegistry?

    init(
        settings: GatewaySettings, surroundings: Surroundings, whole: WholeRegistry?, turns: Holdings,
        serving: ServingGateway
    ) {
        self.serving = serving
        self.whole = whole
        self.settings = settings
        self.surroundings = surroundings
        let database = GatewayStore.database(at: "\(surroundings.locations.data)/gateway.db") {
            $0.tell(ActionContext.current?.warn)
        }
        store = GatewayStore(
            database, without: settings.keepsSecrets ? nil : surroundings.redactor, turns: turns,
            audit: { whole?.registry?.optional((any AuditLog).self) }, now: surroundings.now)
        token = GatewayToken(surroundings)
        embedded = EmbeddedGateway(settings: settings, surroundings: surroundings, store: store, whole: whole)
    }

    func close() async {
        await embedded.close()
        await local.withLock { $0?.turns }?.close()
        await store.close()
    }
}

/// The gateway for other features of this program, which need no HTTP for it.
extension GatewayServices {
    /// Its records, and the turns that run in this process.
    var agentServer: LocalGateway {
        LocalGateway(ServerID(EmbeddedGateway.id), services: localServices) { [embedded, serving] in
            [serving.turns, embedded.turns].compactMap(\.self)
        }
    }

    /// What knows the tools, the models and the folders of projects. Created when it is first needed.
    private func localServices() -> APIServices {
        local.withLock { local in
            if let local { return local }
            let turns = Turns(
                store: store,
                // Not kept, because the registry keeps this.
                providers: { [whole] in
                    (whole?.registry?.all((any ModelProvider).self) ?? []).filter { $0.id != EmbeddedGateway.id }
                },
                builtIn: whole?.registry?.optional((any BuiltInModel).self), settings: settings.turns(in: surroundings),
                sources: { [whole] in try await whole?.registry?.toolSources(at: $0, telling: $1) ?? [] },
                claude: ClaudeCommand.find(
                    in: surroundings.environment, clock: surroundings.clock, now: surroundings.now),
                clock: surroundings.clock, now: surroundings.now,
                folders: whole?.registry?.optional((any FolderRules).self))
            let made = APIServices(
                store: store, turns: turns, folders: ProjectFolders(settings, surroundings),
                version: GatewayFeature.manifest.version, now: surroundings.now)
            local = made
            return made
        }
    }
}

/// The gateway that a process serves, whatever composition of its features began that.
final class ServingGateway: Sendable {
    private let live = Mutex<LiveSettings?>(nil)

    /// Its turns; nil while none is served.
    var turns: Turns? { live.withLock { $0 }?.turns }

    func begin(_ settings: LiveSettings) { live.withLock { $0 = settings } }

    func end(_ settings: LiveSettings) {
        live.withLock { if $0 === settings { $0 = nil } }
    }
}

extension Surroundings {
    /// The folder for sockets, locks and other files that are valid only for this login.
    var runtimeFolder: String {
        let places = Directories(application: "martlet", override: "MARTLET_HOME", environment: environment)
        do {
            // Systems without logins have no such folder; the state folder works too.
            return try places.runtime ?? locations.state
        } catch {
            // A home folder that cannot be used is reported when the settings are read.
            return locations.state
        }
    }
}

extension Host {
    /// The `claude` command, if it is installed. It gets none of our keys.
    var claude: ClaudeCommand? { ClaudeCommand.find(in: environment, clock: clock, now: now) }
}

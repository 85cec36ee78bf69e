import Capabilities
import FileKit
import GatewayAPI
import GatewayModels
import GatewayStore
import GatewayTurns
import ProcessKit
import Registry
import Settings
import StorageKit

/// What the parts of the gateway share. Making it opens nothing.
final class GatewayServices: Sendable {
    let settings: FeatureSettings
    let surroundings: Surroundings
    let store: GatewayStore
    let embedded: EmbeddedGateway
    let token: GatewayToken

    /// What the composition of these services offers; nil where they are asked about nothing else.
    let whole: WholeRegistry?

    init(settings: FeatureSettings, surroundings: Surroundings, whole: WholeRegistry?, turns: Holdings) {
        self.whole = whole
        self.settings = settings
        self.surroundings = surroundings
        let database = GatewayStore.database(at: "\(surroundings.locations.data)/gateway.db") {
            $0.tell(ActionContext.current?.notice)
        }
        store = GatewayStore(
            database, without: settings[GatewaySettings.keepsSecrets] ? nil : surroundings.redactor, turns: turns,
            now: surroundings.now)
        token = GatewayToken(surroundings)
        embedded = EmbeddedGateway(settings: settings, surroundings: surroundings, store: store, whole: whole)
    }

    func close() async {
        await embedded.close()
        await store.close()
    }
}

extension Surroundings {
    /// Where sockets, locks and what holds only for this login are kept.
    var runtimeFolder: String {
        let places = Directories(application: "martlet", override: "MARTLET_HOME", environment: environment)
        do {
            // Systems without logins have no such folder, and the state folder serves as well.
            return try places.runtime ?? locations.state
        } catch {
            // An address of the home folder that cannot be used is told of by whoever reads the settings.
            return locations.state
        }
    }
}

extension Host {
    /// The `claude` command, where one is installed; it gets none of our keys.
    var claude: ClaudeCommand? { ClaudeCommand.find(in: environment, clock: clock, now: now) }
}

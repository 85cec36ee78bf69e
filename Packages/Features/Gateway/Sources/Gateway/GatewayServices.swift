import Capabilities
import FileKit
import GatewayAPI
import GatewayModels
import GatewayStore
import GatewayTurns
import ProcessKit
import Registry
import StorageKit

/// The services that the parts of the gateway share. Creating them opens no file.
final class GatewayServices: Sendable {
    let settings: GatewaySettings
    let surroundings: Surroundings
    let store: GatewayStore
    let embedded: EmbeddedGateway
    let token: GatewayToken

    /// All features of this program; nil where only the gateway is used.
    let whole: WholeRegistry?

    init(settings: GatewaySettings, surroundings: Surroundings, whole: WholeRegistry?, turns: Holdings) {
        self.whole = whole
        self.settings = settings
        self.surroundings = surroundings
        let database = GatewayStore.database(at: "\(surroundings.locations.data)/gateway.db") {
            $0.tell(ActionContext.current?.notice)
        }
        store = GatewayStore(
            database, without: settings.keepsSecrets ? nil : surroundings.redactor, turns: turns,
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

public import Capabilities
public import GatewayStore
public import GatewayTurns
import HTTPServer
import TraceKit

/// The services that the gateway's routes use.
public struct APIServices: Sendable {
    /// The parts that depend on settings. They may be others for the next request.
    public struct SettingsParts: Sendable {
        /// The turns with these settings. The caller closes them.
        public let turns: Turns
        let folders: ProjectFolders

        /// The parts for the next requests.
        public init(turns: Turns, folders: ProjectFolders) {
            self.turns = turns
            self.folders = folders
        }
    }

    /// The gateway's records. The caller closes them.
    public let store: GatewayStore
    private let parts: @Sendable () -> SettingsParts
    /// The program's version, as `/health` reports it.
    public let version: String
    let metrics = TurnMetrics()
    let requests = RequestMetrics()
    /// Whether a turn continues when its client disconnects; nil to follow the turns' settings.
    public var keepsRunning: Bool?
    /// How long the head of a streamed response waits for the model, so that an early failure still gets its own
    /// status.
    public var patience: Duration {
        get { openings.limit }
        set { openings = Alarms(after: newValue, on: ContinuousClock()) }
    }
    /// Fires for streams whose head has waited that long.
    private(set) var openings = Alarms(after: .seconds(10), on: ContinuousClock())
    let now: @Sendable () -> Timestamp
    let started: Timestamp

    /// Services whose settings can change while the gateway runs.
    ///
    /// - Parameter parts: called for each request, so it must return at once.
    public init(
        store: GatewayStore, version: String, now: @escaping @Sendable () -> Timestamp,
        parts: @escaping @Sendable () -> SettingsParts
    ) {
        self.store = store
        self.parts = parts
        self.version = version
        self.now = now
        started = now()
    }

    /// Services with settings that never change.
    public init(
        store: GatewayStore, turns: Turns, folders: ProjectFolders, version: String,
        now: @escaping @Sendable () -> Timestamp
    ) {
        let parts = SettingsParts(turns: turns, folders: folders)
        self.init(store: store, version: version, now: now) { parts }
    }

    /// The turns with the current settings. A request reads them once.
    public var turns: Turns { parts().turns }
    var folders: ProjectFolders { parts().folders }

    var uptime: Duration { now() - started }
    /// The current time in seconds since 1970, as OpenAI's objects have it.
    var seconds: Int { Int(now().microseconds / 1_000_000) }
}

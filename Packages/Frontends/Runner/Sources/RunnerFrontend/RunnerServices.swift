import Capabilities
import HTTPClient
import ProcessKit
import Registry
import Runs
import StorageKit
import Synchronization

/// What the actions of this feature share.
struct RunnerServices: Sendable {
    /// Opened by its first use.
    let journal: Journal
    /// Made by its first use.
    let client: StepClient

    init(_ surroundings: Surroundings, held: Holdings) {
        client = StepClient(surroundings)
        let folder = surroundings.locations.data
        journal = Journal(folder.isEmpty ? "" : "\(folder)/runs.db", held: held, now: surroundings.now) {
            $0.tell(ActionContext.current?.notice)
        }
    }
}

/// The client for the requests of steps. Making this makes no client, and a client loads libcurl when it is first used.
final class StepClient: Sendable {
    private let surroundings: Surroundings
    private let made = Mutex<HTTPClient?>(nil)

    init(_ surroundings: Surroundings) {
        self.surroundings = surroundings
    }

    /// The client for an action. It trusts whom the person trusts, and goes through the proxies of their environment; it
    /// signs nothing, and shows nobody the certificate of the person.
    func client(for context: ActionContext) async throws -> HTTPClient {
        if let client = made.withLock(\.self) { return client }
        // Not a need of the feature: it would be started for every run.
        let trust = try await context.provider(of: (any TrustStore).self)
        return made.withLock { made in
            if let client = made { return client }
            var configuration = HTTPClient.Configuration()
            if let trust { configuration.trust = TrustDomain(trust) }
            (configuration.trust.identity, configuration.trust.identities) = (nil, [:])
            configuration.proxies = ProxySettings(environment: surroundings.environment)
            configuration.feature = "runner"
            configuration.tracer = context.generation.tracer
            configuration.now = surroundings.now
            let client = HTTPClient(configuration)
            made = client
            return client
        }
    }

    func close() async {
        await made.withLock { $0.take() }?.close()
    }
}

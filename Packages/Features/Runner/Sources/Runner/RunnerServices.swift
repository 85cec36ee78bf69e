import Capabilities
import HTTPClient
import ProcessKit
import Registry
import Runs
import StorageKit
import Synchronization

/// What the actions of this feature share.
struct RunnerServices: Sendable {
    /// Opened on first use.
    let journal: Journal
    /// Created on first use.
    let client: StepClient

    init(_ surroundings: Surroundings, held: Holdings) {
        client = StepClient(surroundings)
        let folder = surroundings.locations.data
        journal = Journal(folder.isEmpty ? "" : "\(folder)/runs.db", held: held, now: surroundings.now) {
            $0.tell(ActionContext.current?.warn)
        }
    }
}

/// The HTTP client for the requests of steps. It is created on first use, which also loads libcurl.
final class StepClient: Sendable {
    private let surroundings: Surroundings
    private let made = Mutex<HTTPClient?>(nil)

    init(_ surroundings: Surroundings) {
        self.surroundings = surroundings
    }

    /// The client for an action. It uses the trust settings of the user and the proxies of the environment. It signs no
    /// requests and never presents the user's client certificate.
    func client(for context: ActionContext) async throws -> HTTPClient {
        if let client = made.withLock(\.self) { return client }
        // Not declared as a need of the feature, which would start it for every run.
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

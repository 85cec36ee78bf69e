//# secret
import Capabilities
import Registry

/// The key of the weather server: the secret `weather`, or the variable `WEATHER_API_KEY`.
enum WeatherKey {
    static let name: SecretName = "weather"

    /// The key, if there is one. Secrets are redacted from all output once they were read.
    static func key(_ context: ActionContext) async throws -> Secret? {
        try await context.provider(of: (any SecretStore).self)?.secret(named: name)
    }

    /// What `doctor` says about the key.
    static let check = HealthCheck("weather.key", "the key of the weather server") { host in
        do {
            let secrets = try host.registry.one((any SecretStore).self)
            if try await secrets.secret(named: name) != nil { return .ok("stored") }
            return .warning("not stored", mend: "run 'martlet auth secret set weather'")
        } catch {
            return .failure(AnyFailure(error).message, mend: "run 'martlet auth secret list'")
        }
    }
}
//#

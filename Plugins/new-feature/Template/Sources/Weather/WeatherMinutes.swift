//# background
import Capabilities
import Registry
import Synchronization

/// Counts the minutes for which the feature has run.
final class WeatherMinutes: Sendable {
    private let minutes = Mutex(0)

    var action: Action {
        Action("weather.minutes", "Show for how many minutes the session has run", .reads) { _ in
            self.minutes.withLock(\.self)
        }
        .example("martlet weather minutes", "0 in a new process")
    }

    /// Counts until it is cancelled, which happens when the session closes.
    func count(in host: Host, report: @escaping @Sendable (Health) -> Void) async throws {
        report(.ok)
        while true {
            try await host.clock.sleep(for: .seconds(60))
            minutes.withLock { $0 += 1 }
        }
    }
}
//#

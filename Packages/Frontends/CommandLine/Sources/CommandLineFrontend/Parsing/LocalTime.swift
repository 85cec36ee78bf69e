import Capabilities
import Glibc

/// The time that the person's clock shows.
enum LocalTime {
    /// How far it is ahead of UTC at a moment.
    static func offset(at time: Timestamp) -> Duration {
        var seconds = time_t(time.microseconds / 1_000_000)
        var parts = unsafe tm()
        // localtime_r need not look at TZ by itself.
        tzset()
        guard unsafe localtime_r(&seconds, &parts) != nil else { return .zero }
        return unsafe .seconds(parts.tm_gmtoff)
    }
}

public import Capabilities
import FileKit

/// Formats times for a person who reads them now: as an age, and in local time.
public struct LocalClock: Sendable {
    /// The time that ages are counted from.
    public let now: Timestamp

    /// A clock that shows this time.
    public init(now: Timestamp) { self.now = now }

    /// For a table: `3 min ago`, `in 2 h`, or the date if that is more than a week away.
    public func brief(_ time: Timestamp) -> String { relative(time) ?? local(time, withSeconds: false) }

    /// For a single value: the time and its age.
    public func full(_ time: Timestamp) -> String { local(time) + (relative(time).map { " (\($0))" } ?? "") }

    /// `2026-11-22 14:03:12`, in the person's own zone.
    public func local(_ time: Timestamp, withSeconds: Bool = true) -> String {
        LocalTime.words(time, withSeconds: withSeconds)
    }

    private func relative(_ time: Timestamp) -> String? {
        let seconds = Double(now.microseconds - time.microseconds) / 1_000_000
        let size = abs(seconds)
        let words: String
        switch size {
        case ..<5: return seconds < 0 ? "now" : "just now"
        case ..<60: words = "\(Int(size)) s"
        case ..<3_600: words = "\(Int(size / 60)) min"
        case ..<86_400: words = "\(Int(size / 3_600)) h"
        case ..<172_800: words = "1 day"
        case ..<604_800: words = "\(Int(size / 86_400)) days"
        default: return nil
        }
        return seconds < 0 ? "in \(words)" : "\(words) ago"
    }
}

import Capabilities
import FileKit

/// Times as a person reads them who reads now: how long ago, and by the clock on the wall.
struct LocalClock: Sendable {
    let now: Timestamp

    /// For a table: `3 min ago`, `in 2 h`; the date where that is more than a week away.
    func brief(_ time: Timestamp) -> String { relative(time) ?? local(time, withSeconds: false) }

    /// For a single value: the time, and how long ago that is.
    func full(_ time: Timestamp) -> String { local(time) + (relative(time).map { " (\($0))" } ?? "") }

    /// `2026-11-22 14:03:12`, in the person's own zone.
    func local(_ time: Timestamp, withSeconds: Bool = true) -> String {
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

extension Timestamp {
    /// Reads a time as people type it: `2h` or `3d` (so long ago), `today`, `yesterday`, a day such as `2026-11-20`, or
    /// what `init(iso8601:)` reads. A day begins at midnight of the person's own time.
    ///
    /// - Parameter offset: how far that time is ahead of UTC at a moment.
    public init?(words: String, now: Timestamp, offset: (Timestamp) -> Duration) {
        let word = words.lowercased()
        let today = Timestamp.days(of: now, offset)
        switch word {
        case "now": self = now
        case "today": self.init(day: today, offset)
        case "yesterday": self.init(day: today - 1, offset)
        default:
            if let time = Timestamp(iso8601: words) {
                self = time
            } else if let day = Timestamp(iso8601: words + "T00:00:00Z") {
                self.init(day: day.microseconds / Self.day, offset)
            } else if word.last?.isLetter == true, let ago = Duration(words: word), ago < .seconds(1 << 32) {
                self.init(microseconds: now.microseconds - Int64(ago / .microseconds(1)))
            } else {
                return nil
            }
        }
    }

    private static let day: Int64 = 86_400_000_000

    /// The number of the day in the person's time.
    private static func days(of time: Timestamp, _ offset: (Timestamp) -> Duration) -> Int64 {
        let local = (time + offset(time)).microseconds
        return local / day - (local % day < 0 ? 1 : 0)
    }

    /// The moment at which a day begins in the person's time, whose offset may be another one than now.
    private init(day: Int64, _ offset: (Timestamp) -> Duration) {
        let midnight = Timestamp(microseconds: day * Self.day)
        let near = midnight + (.zero - offset(midnight))
        self = midnight + (.zero - offset(near))
    }
}

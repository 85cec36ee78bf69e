/// What a progress line shows at one moment.
struct ProgressFrame: Sendable {
    var text = StyledText()
    var fraction: Double?

    /// Whether nothing was said yet.
    var isEmpty: Bool { text.isEmpty && fraction == nil }

    private static let spinner = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"]
    private static let barWidth = 20

    /// One line of at most `width` columns; the text gives way first.
    func line(elapsed: Duration, width: Int) -> StyledText {
        var line = gauge(elapsed: elapsed, isWide: width >= 50)
        let time = StyledText(" " + Self.clock(elapsed), Style(.mutedForeground))
        let room = width - line.width - time.width - 1
        if !text.isEmpty && room > 0 { line = line + " " + text.truncated(to: room) }
        line.append(time)
        return line.truncated(to: width)
    }

    private func gauge(elapsed: Duration, isWide: Bool) -> StyledText {
        guard let fraction else {
            let step = Int(elapsed / .milliseconds(100)) % Self.spinner.count
            return StyledText(Self.spinner[step], Style(.ring))
        }
        let share = fraction.isNaN ? 0 : min(1, max(0, fraction))
        let percent = TextWidth.pad("\(Int(share * 100))%", to: 4, alignment: .trailing)
        guard isWide else { return StyledText(percent, Style(.ring)) }
        let filled = Int(share * Double(Self.barWidth))
        return StyledText(String(repeating: "━", count: filled), Style(.ring))
            + StyledText(String(repeating: "─", count: Self.barWidth - filled), Style(.border))
            + StyledText(percent, Style(.ring))
    }

    /// `7s`, `1m07s`, `2h01m`.
    private static func clock(_ elapsed: Duration) -> String {
        let seconds = Int(max(0, elapsed.components.seconds))
        func twoDigits(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        if seconds < 60 { return "\(seconds)s" }
        if seconds < 3600 { return "\(seconds / 60)m\(twoDigits(seconds % 60))s" }
        return "\(seconds / 3600)h\(twoDigits(seconds / 60 % 60))m"
    }
}

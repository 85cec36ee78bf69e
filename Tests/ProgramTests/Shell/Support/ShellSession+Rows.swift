import TerminalTesting

extension ShellSession {
    /// The rows that pyte shows of all output so far, when they are as expected.
    @discardableResult
    func rows(columns: Int = 80, rows: Int = 24, until isWanted: ([String]) throws -> Bool) throws -> [String] {
        let start = ContinuousClock.now
        while true {
            let screens = try PyteScreen.show([transcript(afterPauseOf: 100)], columns: columns, rows: rows)
            let shown = (screens.first ?? []).map { row in Self.trimmed(row.map(\.text).joined()) }
            if try isWanted(shown) { return shown }
            guard ContinuousClock.now - start < .seconds(20) else {
                throw TestTerminalError(message: "pyte shows \(shown.joined(separator: "\n"))")
            }
        }
    }

    private static func trimmed(_ text: String) -> String {
        var text = text
        while text.last == " " { text.removeLast() }
        return text
    }
}

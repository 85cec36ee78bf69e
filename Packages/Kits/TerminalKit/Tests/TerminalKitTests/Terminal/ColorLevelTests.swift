import Testing

@testable import TerminalKit

@Suite struct ColorLevelTests {
    struct Case: Sendable {
        var choice = ColorChoice.auto
        var isTerminal = true
        var environment: [String: String] = ["TERM": "xterm-256color"]
        var level: ColorLevel
    }

    @Test(
        "The level follows the option, then the environment, then the terminal",
        arguments: [
            Case(level: .ansi256), Case(environment: ["TERM": "xterm"], level: .ansi16),
            Case(environment: ["TERM": "xterm", "COLORTERM": "truecolor"], level: .truecolor),
            Case(environment: ["TERM": "xterm", "COLORTERM": "24bit"], level: .truecolor),
            Case(environment: ["TERM": "xterm", "COLORTERM": "yes"], level: .ansi16),
            Case(environment: ["TERM": "dumb", "COLORTERM": "truecolor"], level: .none),
            Case(environment: [:], level: .none), Case(environment: ["TERM": ""], level: .none),
            Case(isTerminal: false, level: .none),
            Case(environment: ["TERM": "xterm", "NO_COLOR": "1"], level: .none),
            Case(environment: ["TERM": "xterm", "NO_COLOR": ""], level: .ansi16),
            Case(environment: ["TERM": "xterm", "NO_COLOR": "1", "FORCE_COLOR": "1"], level: .none),
            Case(isTerminal: false, environment: ["TERM": "xterm-256color", "FORCE_COLOR": "1"], level: .ansi256),
            Case(isTerminal: false, environment: ["CLICOLOR_FORCE": "1"], level: .ansi16),
            Case(isTerminal: false, environment: ["TERM": "xterm", "CLICOLOR_FORCE": "0"], level: .none),
            Case(isTerminal: false, environment: ["TERM": "xterm", "FORCE_COLOR": ""], level: .none),
            Case(choice: .always, isTerminal: false, level: .ansi256),
            Case(choice: .always, environment: ["TERM": "dumb", "NO_COLOR": "1"], level: .ansi16),
            Case(choice: .never, environment: ["TERM": "xterm", "FORCE_COLOR": "1"], level: .none),
        ])
    func level(_ example: Case) {
        let level = ColorLevel.detect(
            choice: example.choice, isTerminal: example.isTerminal, environment: example.environment)
        #expect(level == example.level)
    }
}

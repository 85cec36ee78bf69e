import Capabilities
import JSON

/// A shell command, and what is told of its end.
struct CommandRun {
    private static let linesShown = 40

    let command: String
    let seconds: Int

    func carryOut(at desk: inout Desk) throws(Stop) {
        let result = try desk.ask(.shell, ["command": .string(command), "timeout_ms": .int(seconds * 1000)])
        let shown = Markdown.code(command)
        switch result.exitCode {
        case 0?: desk.say("\(shown) succeeded.")
        case let code?: desk.say("\(shown) **failed** with exit code \(code).")
        case nil: desk.say(result.isError ? "\(shown) **failed**." : "\(shown) has run.")
        }
        let lines = result.content.split(separator: "\n", omittingEmptySubsequences: false)
        let problems = result.isError || result.exitCode ?? 0 != 0 ? Self.problems(in: lines) : []
        if !problems.isEmpty, lines.count > Self.linesShown {
            desk.say("Lines that look like the reason:")
            desk.say(Markdown.block(problems.joined(separator: "\n")))
        }
        guard !result.content.isEmpty else { return desk.say("It printed nothing.") }
        desk.say(lines.count > Self.linesShown ? "The last \(Self.linesShown) lines:" : "Its output:")
        desk.say(Markdown.block(lines.suffix(Self.linesShown).joined(separator: "\n")))
    }

    private static func problems(in lines: [Substring]) -> [Substring] {
        let found = lines.filter { line in
            let line = line.lowercased()
            return ["error", "fail", "fatal", "panic", "assert"].contains { line.firstRange(of: $0) != nil }
        }
        return Array(found.prefix(10))
    }
}

import Capabilities
import CoreTesting
import Testing
import ToolKit
import TurnLoop

@Suite("Random messages to the offline model", .timeLimit(.minutes(5)))
struct RandomMessageTests {
    private static let words = [
        "find", "the", "TODOs", "and", "fix", "first", "then", "replace", "\"a\"", "by", "with", "`b`", "in", "Sources",
        "file.swift", "line", "3", "to", "9", "read", "show", "lines", "add", "remove", "create", "mark", "as", "done",
        "where", "is", "used", "?", ";", "\n", ",", ".", "what", "about", "apply", "it", "again", "make", "a", "plan",
        "go",
        "on", "preview", "replacing", "{\"x\": 1}", "use", "ls", "```", "'", "\"", "“", "everywhere", "*.swift",
        "Swift",
        "files", "last", "#2", "2nd", "summarise", "repository", "repeat:", "undo", "🙂", "é\u{301}", "\u{0}", "-", "1.",
        "a/b/../c", ":", "file.swift:2-1", "99999999999999999999", "search", "for", "(", ")", "only", "same", "list",
    ]

    @Test("Random messages break nothing and end within a few rounds")
    func storm() async throws {
        let seed = UInt64.random(in: 1...1_000_000)
        print("seed \(seed)")
        var random = SeededGenerator(seed: seed)
        // Without a shell, so that random text cannot run commands.
        try await withConversation(offering: .editing) { chat in
            try Repository(seed: 4).write(to: chat.folder)
            try chat.write("file.swift", "let a = 1\n// TODO: replace \"a\" by \"b\"\n")
            try chat.write("Sources/other.swift", "let b = a\n")
            var fresh = try Conversation(chat.folder, offering: .editing)
            for number in 0..<1000 {
                if number % 10 == 0 { fresh = try Conversation(chat.folder, offering: .editing) }
                let count = Int.random(in: 0...14, using: &random)
                let text = (0..<count).map { _ in Self.words.randomElement(using: &random) ?? "" }.joined(
                    separator: " ")
                let outcome = try await fresh.turn(text)
                #expect(outcome.rounds <= 45, "seed \(seed), '\(text)'")
                #expect(fresh.messages.last?.text.isEmpty == false, "seed \(seed), '\(text)'")
            }
        }
    }

    @Test("Messages of random characters are read without a crash")
    func noise() async throws {
        let seed = UInt64.random(in: 1...1_000_000)
        print("seed \(seed)")
        var random = SeededGenerator(seed: seed)
        for _ in 0..<2000 {
            var text = ""
            for _ in 0..<Int.random(in: 0...60, using: &random) {
                let pool = Bool.random(using: &random) ? 0x7F : 0x2FFF
                if let scalar = Unicode.Scalar(UInt32(Int.random(in: 1...pool, using: &random))) {
                    text.unicodeScalars.append(scalar)
                }
            }
            let said = try await answer(text).answer.message.text
            #expect(!said.isEmpty, "seed \(seed)")
        }
    }
}

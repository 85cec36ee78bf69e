import Capabilities
import ChatHistory
import CoreTesting
import JSON
import Testing

@Suite("Stored messages", .timeLimit(.minutes(5)))
struct CodingTests {
    /// Texts that break code which counts bytes, lines or characters.
    private static let texts = ["", "a", "\u{0}", "\r\n", "👩‍👩‍👧", "e\u{301}", "\"\\", "\u{FFFD}", "\u{10F8E0}", "ß\n\n"]

    private static func text(_ random: inout SeededGenerator) -> String {
        (0..<Int.random(in: 0..<5, using: &random)).map { _ in texts.randomElement(using: &random) ?? "" }.joined()
    }

    private static func json(_ random: inout SeededGenerator, depth: Int) -> JSON {
        switch Int.random(in: 0..<(depth == 0 ? 6 : 8), using: &random) {
        case 0: .null
        case 1: .bool(.random(using: &random))
        case 2: .int(.random(in: .min ... .max, using: &random))
        case 3: .double(.random(in: -1e300...1e300, using: &random))
        case 4: .big("-123456789012345678901234567890")
        case 5: .string(text(&random))
        case 6: .array((0..<3).map { _ in json(&random, depth: depth - 1) })
        default: .object(JSONObject((0..<3).map { ("\($0)" + text(&random), json(&random, depth: depth - 1)) }))
        }
    }

    private static func part(_ random: inout SeededGenerator) -> Message.Part {
        func maybe(_ random: inout SeededGenerator) -> String? { Bool.random(using: &random) ? text(&random) : nil }
        switch Int.random(in: 0..<8, using: &random) {
        case 0, 1: return .text(text(&random))
        case 2: return .reasoning(Reasoning(text(&random), signature: maybe(&random), sealed: maybe(&random)))
        case 3: return .refusal(text(&random))
        case 4:
            let bytes = (0..<Int.random(in: 0..<100, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            return .attachment(Attachment(name: text(&random), mediaType: text(&random), bytes: bytes))
        case 5:
            let input = json(&random, depth: 3)
            return .call(
                ToolCall(id: text(&random), name: text(&random), input: input, isDone: .random(using: &random)))
        case 6:
            return .malformedCall(
                MalformedCall(id: text(&random), name: text(&random), text: text(&random), reason: text(&random)))
        default:
            let size = Int.random(in: 0..<2, using: &random) * 40_000
            return .result(
                ToolResult(
                    call: text(&random), content: text(&random) + String(repeating: "é", count: size),
                    isError: .random(using: &random),
                    duration: Bool.random(using: &random)
                        ? Duration(
                            secondsComponent: 3, attosecondsComponent: .random(in: 0..<1_000_000, using: &random))
                        : nil,
                    exitCode: Bool.random(using: &random) ? .random(in: -300...300, using: &random) : nil))
        }
    }

    @Test("Any message is read back unchanged from the history and from our own format")
    func anything() async throws {
        let seed = UInt64.random(in: .min ... .max)
        var random = SeededGenerator(seed: seed)
        let messages = (0..<300).map { _ in
            Message(
                Message.Role.allCases.randomElement(using: &random) ?? .user,
                (0..<Int.random(in: 0..<5, using: &random)).map { _ in Self.part(&random) })
        }
        let read = try Transcript(parsing: Array(Transcript(messages: messages).text(as: .json).utf8))
        for (read, wanted) in zip(read.path, messages) {
            #expect(identical(read.message, wanted), "seed \(seed)")
        }
        try await withHistory { history in
            let chat = try await history.add(read)
            let entries = try await history.entries(of: chat.id)
            #expect(entries.count == 300)
            for (entry, wanted) in zip(entries, messages) {
                #expect(identical(entry.message, wanted), "seed \(seed)")
            }
        }
    }

    /// Equal in every byte; `==` also treats canonically equivalent texts as equal.
    private func identical(_ left: Message, _ right: Message) -> Bool {
        left == right && Array("\(left)".utf8) == Array("\(right)".utf8)
    }

    @Test("An input that nests as deeply as can be read is stored and exported", arguments: [10, 256, 300, 512])
    func deep(depth: Int) async throws {
        var reading = JSONReading.strict
        reading.maxDepth = depth
        let text = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        let call = ToolCall(id: "1", name: "x", input: try JSON(parsing: text, reading: reading))
        let message = Message(.assistant, [.call(call)])
        try await withHistory { history in
            let chat = try await history.create(ConversationSetup())
            try await history.append(message, to: chat.id, after: nil)
            try await history.note(CallEntry(call, .done), in: chat.id)
            #expect(try await history.entries(of: chat.id).map(\.message) == [message])
            let transcript = try await history.transcript(of: chat.id)
            for format in [TranscriptFormat.json, .markdown, .openai] {
                let read = try Transcript(parsing: Array(transcript.text(as: format).utf8), as: format)
                #expect(read.path.map(\.message) == [message], "\(format)")
            }
        }
    }
}

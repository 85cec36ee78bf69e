import Capabilities
import ChatHistory
import CoreTesting
import Testing

@testable import Chat

@Suite("Answers that this program writes", .timeLimit(.minutes(5)))
struct LiveAnswersTests {
    private let live = LiveAnswers()
    private let id = ConversationID(rawValue: "20261121-213045-k7f3qd8z")

    @Test("A turn that is over or that nobody has any more leaves nothing")
    func over() {
        let conversation = live.conversation(id)
        #expect(!conversation.snapshot.isAnswering)
        do {
            let turn = LiveTurn(in: conversation, without: nil)
            turn.add("some", toOutputOf: "c")
            #expect(conversation.snapshot.isAnswering && conversation.snapshot.outputs == ["c": "some"])
        }
        #expect(!conversation.snapshot.isAnswering && conversation.snapshot.outputs.isEmpty)
        let turn = LiveTurn(in: conversation, without: nil)
        turn.end()
        turn.end()
        #expect(!conversation.snapshot.isAnswering)
    }

    @Test("A conversation is the same for all who have it, and is forgotten with the last of them")
    func forgotten() {
        weak var first: LiveConversation?
        do {
            let conversation = live.conversation(id)
            first = conversation
            #expect(live.conversation(id) === conversation)
            #expect(live.conversation(ConversationID(rawValue: "20261121-213045-k7f3qd8y")) !== conversation)
        }
        #expect(first == nil)
    }

    @Test("A piece of an answer wakes readers, and only what is stored makes them read again")
    func woken() {
        let conversation = live.conversation(id)
        let turn = LiveTurn(in: conversation, without: nil)
        let (stored, count) = (conversation.snapshot.stored, conversation.signal.count)
        for _ in 0..<10_000 { turn.grow() }
        turn.add("some", toOutputOf: "c")
        #expect(conversation.signal.count == count + 10_001 && conversation.snapshot.stored == stored)
        turn.end(call: "c")
        #expect(conversation.snapshot.stored == stored + 1 && conversation.snapshot.outputs.isEmpty)
    }

    @Test("Of a long output the last lines are kept, without secrets, also if nobody reads it")
    func output() {
        let redactor = Redactor()
        redactor.learn(Secret("open-sesame-1"), named: "door")
        let conversation = live.conversation(id)
        let turn = LiveTurn(in: conversation, without: redactor)
        for number in 0..<20_000 {
            turn.add("line \(number) open-sesa", toOutputOf: "c"); turn.add("me-1\n", toOutputOf: "c")
        }
        let text = conversation.snapshot.outputs["c"] ?? ""
        #expect(text.hasPrefix("…\nline ") && text.hasSuffix("line 19999 ‹redacted:door›\n"))
        #expect(!text.contains("sesame") && text.unicodeScalars.count <= 4_002)
    }
}

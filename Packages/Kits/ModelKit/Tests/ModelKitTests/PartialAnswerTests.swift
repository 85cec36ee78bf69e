import Capabilities
import ModelKit
import Testing

@Suite("Partial answers")
struct PartialAnswerTests {
    @Test("Parts that are taken out while an answer grows join to the whole answer, wherever it is cut")
    func joined() {
        let result = ToolResult(call: "1", content: "done")
        let events: [ChatEvent] = [
            .reasoning("Hm"), .reasoning("m."), .thought(Reasoning("", signature: "proof")), .text("a"), .text("b"),
            .result(result), .text("c"), .refusal("n"), .refusal("o"),
        ]
        let whole: [Message.Part] = [
            .reasoning(Reasoning("Hmm.", signature: "proof")), .text("ab"), .result(result), .text("c"), .refusal("no"),
        ]
        for cut in 0...events.count {
            var answer = PartialAnswer()
            for event in events[..<cut] { answer.add(event) }
            var (taken, source, rest) = answer.kept(by: nil)
            for event in events[cut...] { rest.add(event) }
            taken += rest.parts
            #expect(PartialAnswer(joining: taken).parts == whole, "cut at \(cut)")
            // What could not be stored is put back before what came later.
            source.add(rest)
            #expect(source.parts == whole, "cut at \(cut)")
        }
    }

    @Test("The beginning of a secret is taken out only when the rest of it shows that it is none")
    func secret() {
        let redactor = Redactor()
        redactor.learn(Secret("open-sesame-1"), named: "door")
        var answer = PartialAnswer()
        answer.add(.text("It is open-sesa"))
        var (taken, _, rest) = answer.kept(by: redactor)
        #expect(taken == [.text("It is ")])
        rest.add(.text("me-1, and open-air."))
        taken += rest.kept(by: redactor).parts
        let text = PartialAnswer(joining: taken).parts
        #expect(text == [.text("It is ‹redacted:door›, and open-air.")])
    }
}

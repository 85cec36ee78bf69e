import Capabilities
import CoreTesting
import JSON
import Synchronization
import Testing

@testable import TurnLoop

@Suite("Context budget")
struct ContextBudgetTests {
    /// Turns of about 100 tokens each.
    private func history(_ turns: Int) -> [Message] {
        [Message(.system, "Be kind.")]
            + (1...turns).flatMap { turn in
                [
                    Message(.user, "\(turn)?" + String(repeating: " word", count: 25)),
                    Message(.assistant, [.text(String(repeating: "word ", count: 25)), call("c\(turn)", "read")]),
                    Message(.tool, [.result(ToolResult(call: "c\(turn)", content: "result"))]),
                    Message(.assistant, "So."),
                ]
            } + [Message(.user, "And now?")]
    }

    private func request(_ messages: [Message]) -> ChatRequest { ChatRequest(model: "m", messages: messages) }

    @Test("Everything that fits is sent, without a notice")
    func fits() async throws {
        let request = request(history(3))
        let fitted = try await ContextBudget(tokens: 10_000).fit(request)
        #expect(fitted == FittedRequest(request: request))
    }

    @Test("The oldest turns are left out whole, and the model and the user are informed")
    func leavesOut() async throws {
        let budget = ContextBudget(tokens: 900, reserve: 100)
        let fitted = try await budget.fit(request(history(20)))
        let messages = fitted.request.messages
        #expect(TokenEstimate().tokens(of: fitted.request) <= 800)
        #expect(messages[0] == Message(.system, "Be kind."))
        #expect(messages.last == Message(.user, "And now?"))
        #expect(isValid(messages))
        let notice = try #require(fitted.notice)
        #expect(notice.messages == 81 - (messages.count - 1))
        let text = "earlier messages do not fit into the model's context and are left out"
        #expect(notice.text == "\(notice.messages) \(text)")
        #expect(messages[1].role == .user)
        let note = "earlier messages of this conversation are left out here.]"
        #expect(messages[1].text.hasPrefix("[\(notice.messages) \(note)"))
        #expect(notice.tokens > 800)
    }

    @Test("The same cut is kept until it is not enough, so that a cache stays valid")
    func keepsCut() async throws {
        let budget = ContextBudget(tokens: 900, reserve: 100)
        var cut: ContextCut?
        var cuts: [Int] = []
        for turns in 5...40 {
            let fitted = try await budget.fit(request(history(turns)), after: cut)
            #expect(TokenEstimate().tokens(of: fitted.request) <= 800)
            cut = fitted.cut
            cuts.append(cut?.messages ?? 0)
        }
        #expect(cuts == cuts.sorted())
        #expect(Set(cuts).count < cuts.count * 2 / 3)
    }

    @Test("An old cut that no longer falls between turns is not used")
    func staleCut() async throws {
        let budget = ContextBudget(tokens: 900, reserve: 100)
        for stale in [-1, 1, 3, 1000] {
            let fitted = try await budget.fit(request(history(20)), after: ContextCut(messages: stale))
            #expect(isValid(fitted.request.messages))
            #expect(fitted.cut?.messages != stale)
        }
    }

    @Test("A summary replaces the turns that are left out, and is made once")
    func summary() async throws {
        let asked = Mutex<[Int]>([])
        let budget = ContextBudget(tokens: 900, reserve: 100) { messages in
            asked.withLock { $0.append(messages.count) }
            return "They spoke of words."
        }
        let first = try await budget.fit(request(history(20)))
        #expect(first.request.messages[1].text.contains("summarised: They spoke of words.]"))
        #expect(first.notice?.isSummarised == true)
        let second = try await budget.fit(request(history(20)), after: first.cut)
        #expect(second == first)
        #expect(asked.withLock { $0 } == [first.cut?.messages])
    }

    @Test("A failed summary does not stop the turn, and the reason is reported")
    func failedSummary() async throws {
        let budget = ContextBudget(tokens: 900, reserve: 100) { _ in throw ToolFault() }
        let fitted = try await budget.fit(request(history(20)))
        #expect(fitted.notice?.isSummarised == false)
        #expect(fitted.notice?.text.hasSuffix("no summary could be made: the server behind the tool is gone") == true)
    }

    @Test("A turn that is too long alone loses steps, but not its question or its newest step")
    func longTurn() async throws {
        var messages = [Message(.user, "Do it.")]
        for step in 1...20 {
            messages.append(Message(.assistant, [call("s\(step)", "read")]))
            let content = String(repeating: "word ", count: 40)
            messages.append(Message(.tool, [.result(ToolResult(call: "s\(step)", content: content))]))
        }
        let fitted = try await ContextBudget(tokens: 900, reserve: 100).fit(request(messages))
        let sent = fitted.request.messages
        #expect(TokenEstimate().tokens(of: fitted.request) <= 800)
        #expect(sent[0].text.hasSuffix("Do it."))
        #expect(sent.last == messages.last)
        #expect(isValid(sent))
        #expect(fitted.cut == nil)
        #expect(fitted.notice?.messages == messages.count - sent.count)
    }

    @Test("A newest message that is too long is sent anyway, with a notice")
    func tooLong() async throws {
        let message = Message(.user, String(repeating: "word ", count: 5000))
        let fitted = try await ContextBudget(tokens: 900, reserve: 100).fit(request([message]))
        #expect(fitted.request.messages == [message])
        #expect(fitted.notice?.isTooLong == true)
        #expect(fitted.notice?.text == "the newest message alone is longer than the model's context")
    }

    @Test("Any cut history keeps calls with their results and the newest message", arguments: 1...60)
    func random(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        var messages: [Message] = []
        for turn in 0..<Int.random(in: 1...12, using: &random) {
            messages.append(Message(.user, String(repeating: "w ", count: Int.random(in: 1...300, using: &random))))
            for step in 0..<Int.random(in: 0...4, using: &random) {
                messages.append(Message(.assistant, [call("\(turn)-\(step)", "read")]))
                let content = String(repeating: "r ", count: Int.random(in: 1...300, using: &random))
                messages.append(Message(.tool, [.result(ToolResult(call: "\(turn)-\(step)", content: content))]))
            }
            messages.append(Message(.assistant, "a"))
        }
        messages.append(Message(.user, "newest"))
        let cut = Bool.random(using: &random) ? ContextCut(messages: Int.random(in: 0...40, using: &random)) : nil
        let budget = ContextBudget(tokens: Int.random(in: 100...3000, using: &random), reserve: 50)
        let fitted = try await budget.fit(request(messages), after: cut)
        #expect(isValid(fitted.request.messages), "seed \(seed)")
        #expect(fitted.request.messages.last?.text.hasSuffix("newest") == true, "seed \(seed)")
        let isWhole = fitted.request.messages.count == messages.count
        #expect((fitted.notice == nil || fitted.notice?.isTooLong == true) == isWhole, "seed \(seed)")
    }

    @Test("A turn reports a cut once and remembers it")
    func inTurn() async throws {
        let fixture = TurnFixture()
        let tools = ScriptedTools([tool("read")])
        let model = ScriptedModel(
            .says([call("x", "read")], finish: .calls), .says([call("y", "read")], finish: .calls),
            .says([.text("So.")]))
        var loop = fixture.loop([tools])
        loop.budget = ContextBudget(tokens: 900, reserve: 100)
        let outcome = try await fixture.run(loop, model, history(20))
        let notices = fixture.all.filter { if case .context = $0 { true } else { false } }
        #expect(notices.count == 1)
        #expect(outcome.cut != nil)
        #expect(model.requests.allSatisfy { isValid($0.messages) && $0.messages.count < 40 })
    }
}

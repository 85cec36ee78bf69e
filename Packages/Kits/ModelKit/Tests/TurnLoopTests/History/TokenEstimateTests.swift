import Capabilities
import JSON
import Testing

@testable import TurnLoop

@Suite("Token estimate")
struct TokenEstimateTests {
    /// Texts with the counts of a real tokeniser (o200k_base).
    static let counted: [(text: String, tokens: Int)] = CountedTexts.all

    @Test("The estimate is within its stated error", arguments: counted)
    func error(text: String, tokens: Int) {
        let ratio = Double(TokenEstimate().tokens(of: text)) / Double(tokens)
        #expect(ratio > 0.66 && ratio < 1.5, "\(ratio)")
    }

    @Test("The estimate learns from the provider's counts, within bounds")
    func learns() {
        let request = ChatRequest(model: "m", messages: [Message(.user, String(repeating: "word ", count: 1000))])
        var estimate = TokenEstimate()
        let first = estimate.tokens(of: request)
        estimate.learn(reported: first * 3 / 2, for: request)
        #expect(abs(estimate.tokens(of: request) - first * 3 / 2) <= 2)
        estimate.learn(reported: 1, for: request)
        #expect(estimate.correction == 0.5)
        estimate.learn(reported: 1_000_000, for: request)
        #expect(estimate.correction == 3)
        estimate.learn(reported: 0, for: request)
        #expect(estimate.correction == 3)
    }

    @Test("The estimate counts tools, calls, results and attachments")
    func everything() {
        let estimate = TokenEstimate()
        let empty = estimate.tokens(of: Message(.user, []))
        let image = Attachment(name: "a.png", mediaType: "image/png", bytes: Array(repeating: 0, count: 500_000))
        #expect(estimate.tokens(of: Message(.user, [.attachment(image)])) == empty + 1600)
        #expect(estimate.tokens(of: Message(.assistant, [call("a", "read", ["path": "x"])])) > empty + 8)
        #expect(estimate.tokens(of: [tool("read").0]) > 20)
    }
}

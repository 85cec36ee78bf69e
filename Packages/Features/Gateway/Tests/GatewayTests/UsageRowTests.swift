import Capabilities
import GatewayStore
import JSON
import Testing

@testable import Gateway

@Suite("Usage rows")
struct UsageRowTests {
    @Test("Answers without a price are shown only if there are any")
    func unpriced() {
        let cost = Usage(cost: Cost(nanodollars: 1_000_000))
        #expect(UsageRow(UsageSum(key: "a", answers: 3, usage: cost, unpriced: 2)).json["answers_without_price"] == 2)
        #expect(UsageRow(UsageSum(key: "a", answers: 3, usage: cost)).json["answers_without_price"] == nil)
    }
}

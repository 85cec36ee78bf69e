import Capabilities
import JSON
import Testing

@testable import TurnLoop

@Suite("Prices")
struct PriceTests {
    private let price = ModelPrice(
        input: TokenPrice(perMillion: 3), output: TokenPrice(perMillion: 15), cachedInput: TokenPrice(perMillion: 0.3),
        cacheWrite: TokenPrice(perMillion: 3.75))

    @Test("Cached, written and plain tokens add up exactly")
    func exact() {
        let usage = Usage(inputTokens: 10_000, outputTokens: 1001, cachedTokens: 6000, cacheWriteTokens: 1000)
        // 3,000 × 3 + 6,000 × 0.3 + 1,000 × 3.75 + 1,001 × 15, in millionths of a dollar.
        #expect(price.cost(of: usage) == Cost(nanodollars: 29_565_000))
    }

    @Test("A million single tokens cost the same as a million tokens")
    func sums() {
        let one = ModelPrice(input: TokenPrice(perMillion: 0.1), output: TokenPrice(perMillion: 0.4))
        #expect(one.cost(of: Usage(inputTokens: 1, outputTokens: 0)) == Cost(nanodollars: 100))
        #expect(one.cost(of: Usage(inputTokens: 1_000_000, outputTokens: 0)) == Cost(nanodollars: 100_000_000))
    }

    @Test("A price is unknown if a count or price that matters is")
    func unknown() {
        #expect(price.cost(of: Usage(inputTokens: 10)) == nil)
        #expect(price.cost(of: Usage(outputTokens: 10)) == nil)
        let half = ModelPrice(input: TokenPrice(perMillion: 3))
        #expect(half.cost(of: Usage(inputTokens: 10, outputTokens: 1)) == nil)
        #expect(half.cost(of: Usage(inputTokens: 10, outputTokens: 0)) == Cost(nanodollars: 30_000))
        let uncached = ModelPrice(input: TokenPrice(perMillion: 3), output: TokenPrice(perMillion: 15))
        #expect(uncached.cost(of: Usage(inputTokens: 10, outputTokens: 1, cachedTokens: 5)) == nil)
    }

    @Test(
        "Impossible counts have no price",
        arguments: [
            Usage(inputTokens: -1, outputTokens: 1), Usage(inputTokens: 5, outputTokens: 1, cachedTokens: 6),
            Usage(inputTokens: 5, outputTokens: 1, cachedTokens: 3, cacheWriteTokens: 3),
            Usage(inputTokens: .max, outputTokens: .max), Usage(inputTokens: 1 << 40, outputTokens: 1 << 40),
            Usage(inputTokens: 5, outputTokens: 1, cachedTokens: .max, cacheWriteTokens: .max),
        ])
    func senseless(usage: Usage) {
        #expect(price.cost(of: usage) == nil)
    }

    @Test(
        "A model with a date or version word in its name has a price",
        arguments: [
            ("claude-sonnet-4-5", "claude-sonnet-4-5"), ("claude-sonnet-4-5-20250929", "claude-sonnet-4-5"),
            ("gpt-4o-2024-08-06", "gpt-4o"), ("gpt-4o-latest", "gpt-4o"), ("gpt-4o-mini", "gpt-4o-mini"),
        ])
    func found(id: String, family: String) throws {
        let provider = id.hasPrefix("gpt") ? "openai" : "anthropic"
        var expected = try #require(ModelTable.known.all.first { $0.id == family })
        expected.id = id
        #expect(ModelTable.known.description(of: id, provider: provider) == expected)
    }

    @Test(
        "A model whose name only begins alike has no price",
        arguments: ["claude-sonnet-4-9", "claude-opus-4-5x", "claude", "claude-sonnet-4-5-preview", ""])
    func notFound(id: String) {
        #expect(ModelTable.known.description(of: id, provider: "anthropic") == nil)
        #expect(ModelTable.known.description(of: "gpt-4o", provider: "openrouter") == nil)
        #expect(ModelTable.known.description(of: "gpt-4o-audio-preview", provider: "openai") == nil)
    }

    @Test("The prices in the table are plausible")
    func table() throws {
        let table = ModelTable.known
        #expect(table.all.count > 20)
        #expect(Set(table.all.map(\.id)).count == table.all.count)
        #expect(Timestamp(iso8601: table.date + "T00:00:00Z") != nil)
        for model in table.all {
            if let context = model.contextTokens, let output = model.outputTokens { #expect(output < context) }
            guard let price = model.price else { continue }
            let (input, output) = try (#require(price.input), #require(price.output))
            #expect(input.femtodollars > 0 && output.femtodollars > input.femtodollars, "\(model.id)")
            if let cached = price.cachedInput { #expect(cached.femtodollars < input.femtodollars, "\(model.id)") }
            if let write = price.cacheWrite { #expect(write.femtodollars > input.femtodollars, "\(model.id)") }
        }
    }

    @Test("JSON overrides prices entry by entry")
    func overridden() throws {
        let json = try JSON(
            parsing: """
                {"date": "2027-01-01", "models": [
                  {"provider": "openai", "id": "gpt-4o", "input_usd": 1.5, "output_usd": 2},
                  {"provider": "lab", "id": "ours", "context": 8192, "abilities": ["tools"]}]}
                """)
        let table = try ModelTable.known.overridden(by: json)
        #expect(table.date == "2027-01-01")
        let changed = try #require(table.description(of: "gpt-4o", provider: "openai"))
        #expect(changed.price?.input == TokenPrice(perMillion: 1.5))
        #expect(changed.contextTokens == nil)
        let new = try #require(table.description(of: "ours", provider: "lab"))
        #expect((new.contextTokens, new.abilities, new.price) == (8192, [.tools], nil))
        #expect(table.all.count == ModelTable.known.all.count + 1)
    }

    @Test(
        "Impossible prices in JSON are refused with their place",
        arguments: [
            (#"{"models": [{"id": "a"}]}"#, "models.0.provider"), (#"{}"#, "models"),
            (#"{"models": [{"id": "a", "provider": "b", "input_usd": -1}]}"#, "models.0.input_usd"),
            (#"{"models": [{"id": "a", "provider": "b", "output_usd": 1e300}]}"#, "models.0.output_usd"),
            (#"{"models": [{"id": "a", "provider": "b", "abilities": ["flying"]}]}"#, "models.0.abilities.0"),
        ])
    func refused(text: String, place: String) throws {
        let json = try JSON(parsing: text)
        let error = #expect(throws: ValueError.self) { try ModelTable.known.overridden(by: json) }
        #expect(error?.path.joined(separator: ".") == place)
    }

    @Test("The table completes what a catalogue lacks, and nothing else")
    func completes() throws {
        var model = ModelDescription(id: "gpt-4o", provider: "openai", contextTokens: 5)
        model = ModelTable.known.completing(model)
        #expect((model.contextTokens, model.outputTokens, model.name) == (5, 16_384, "GPT-4o"))
        let other = ModelDescription(id: "else", provider: "openai")
        #expect(ModelTable.known.completing(other) == other)
    }
}

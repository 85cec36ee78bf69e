import Capabilities
import JSON
import OfflinePlanner
import Synchronization
import Testing

@Suite("The offline model as a provider")
struct StreamTests {
    @Test("Words are streamed one by one, and together they are the answer")
    func words() async throws {
        let (answer, events) = try await answer("hello")
        let texts = events.compactMap { if case .text(let text) = $0 { text } else { nil } }
        #expect(texts.joined() == answer.message.text)
        #expect(texts.count > 50)
        #expect(texts.allSatisfy { $0.split { $0.isWhitespace }.count == 1 })
        #expect(events.first == .began(ChatStart(model: "martlet-offline")))
    }

    @Test("The same request always gets the same answer")
    func deterministic() async throws {
        let question = "find the TODOs and run the tests"
        let first = try await answer(question, tools: ["grep_search"]).answer
        #expect(try await answer(question, tools: ["grep_search"]).answer == first)
    }

    @Test("Tokens are counted, and the cost is zero")
    func usage() async throws {
        let (answer, events) = try await answer("repeat: one two three four five six seven eight nine ten")
        #expect(answer.usage.cost == Cost(nanodollars: 0))
        #expect(10...25 ~= answer.usage.outputTokens ?? 0)
        #expect(answer.usage.inputTokens ?? 0 > answer.usage.outputTokens ?? 0)
        #expect(events.last == .usage(answer.usage))
    }

    @Test("A cancelled answer ends between two words")
    func cancelling() async throws {
        let heard = Mutex(0)
        let task = Task {
            _ = try await PlannerModel().answer(ChatRequest(model: "", messages: [Message(.user, "hello")])) { events in
                let count = heard.withLock { count in
                    count += 1
                    return count
                }
                if count == 10 { unsafe withUnsafeCurrentTask { unsafe $0?.cancel() } }
            }
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(heard.withLock { $0 } == 10)
    }

    @Test("A token limit and a stop word are respected")
    func limits() async throws {
        var options = ModelOptions()
        options.maxTokens = 8
        let short = try await answer(
            "repeat: one two three four five six seven eight nine ten eleven", options: options)
        #expect(short.answer.finish == .length)
        #expect(short.answer.message.text.hasPrefix("one two") && !short.answer.message.text.has("eleven"))
        options = ModelOptions()
        options.stop = ["three"]
        #expect(try await answer("repeat: one two three four", options: options).answer.message.text == "one two ")
    }

    @Test("A request with a schema is refused")
    func schema() async throws {
        var request = ChatRequest(model: "", messages: [Message(.user, "hello")])
        request.schema = AnswerSchema(name: "x", schema: [:])
        let answer = try await PlannerModel().answer(request) { _ in }
        #expect(answer.finish == .refused)
    }

    @Test("Another model's name is an error", arguments: ["gpt-5", "martlet/other", "other/martlet-offline"])
    func unknown(model: String) async throws {
        await #expect {
            try await answer("hello", model: model)
        } throws: {
            ($0 as? PlannerError)?.kind == .unknownModel
        }
    }

    @Test("The model's listing says that it is not a language model and costs nothing")
    func description() async throws {
        let models = try await PlannerModel().models()
        #expect(models.map(\.id) == ["martlet-offline"])
        #expect(models[0].name?.has("not a language model") == true && models[0].price?.input?.femtodollars == 0)
        #expect(await PlannerModel().isAvailable())
    }
}

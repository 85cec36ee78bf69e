import Capabilities
import JSON
import ModelKit
import OpenAIDialect
import Testing

@Suite("Model lists of all servers")
struct ModelListTests {
    private func models(_ body: String) throws -> [ModelDescription] {
        try OpenAIDialect.models(in: Array(body.utf8), provider: "p")
    }

    @Test("OpenAI lists only ids")
    func openAI() throws {
        let list = """
            {"object":"list","data":[{"id":"gpt-5","object":"model","created":1,"owned_by":"openai"},{"id":"o3"},{},7]}
            """
        #expect(
            try models(list) == [
                ModelDescription(id: "gpt-5", provider: "p"), ModelDescription(id: "o3", provider: "p"),
            ])
    }

    @Test("OpenRouter lists string prices, contexts and input kinds")
    func openRouter() throws {
        let list = """
            {"data":[{"id":"a/b","name":"B","context_length":200000,"architecture":{"input_modalities":["text","image"]},
            "pricing":{"prompt":"0.000003","completion":"0.000015","input_cache_read":"0.0000003"},
            "top_provider":{"max_completion_tokens":64000},"supported_parameters":["tools","reasoning"]},
            {"id":"auto","pricing":{"prompt":"-1","completion":"-1"},"context_length":null}]}
            """
        let price = ModelPrice(
            input: TokenPrice(perMillion: 3), output: TokenPrice(perMillion: 15),
            cachedInput: TokenPrice(perMillion: 0.3))
        #expect(
            try models(list) == [
                ModelDescription(
                    id: "a/b", provider: "p", name: "B", contextTokens: 200_000, outputTokens: 64_000, price: price,
                    abilities: [.images, .tools, .reasoning]), ModelDescription(id: "auto", provider: "p"),
            ])
    }

    @Test(
        "The context size is found where each server puts it",
        arguments: [
            (#"{"data":[{"id":"m","object":"model","root":"m","max_model_len":8192}]}"#, 8192),
            (#"{"models":[{"name":"m"}],"data":[{"id":"m","meta":{"n_ctx_train":32768}}]}"#, 32768),
            (#"{"models":[{"name":"m","model":"m","context_length":0}]}"#, nil),
            (#"[{"id":"m","maxTokens":4096}]"#, 4096), (#"{"data":["m"]}"#, nil),
        ] as [(String, Int?)])
    func contexts(_ list: String, _ context: Int?) throws {
        #expect(try models(list) == [ModelDescription(id: "m", provider: "p", contextTokens: context)])
    }

    @Test("A gateway lists abilities and the price of a thousand tokens")
    func capabilities() throws {
        let list = """
            {"models":[{"id":"c","name":"Claude","description":"d","max_tokens":200000,"input_cost_per_1k":0.003,
            "output_cost_per_1k":0.015,"supports_streaming":true,"supports_tools":true}],"total":1}
            """
        let price = ModelPrice(input: TokenPrice(perMillion: 3), output: TokenPrice(perMillion: 15))
        #expect(
            try models(list) == [
                ModelDescription(
                    id: "c", provider: "p", name: "Claude", contextTokens: 200_000, price: price, abilities: [.tools])
            ])
    }

    @Test("An invalid list is an error", arguments: ["", "{}", "[", #"{"data":{}}"#, "<html>"])
    func malformed(_ body: String) {
        #expect(throws: DialectError.self) { try models(body) }
    }

    @Test("Our own list is read back")
    func ownList() throws {
        let models = [ModelDescription(id: "a", provider: "p", name: "A", contextTokens: 5)]
        let body = JSON.object(OpenAIDialect.modelList(models, created: 1)).text()
        #expect(try self.models(body) == models)
    }
}

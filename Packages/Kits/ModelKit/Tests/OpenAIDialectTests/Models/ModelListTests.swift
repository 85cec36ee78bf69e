import Capabilities
import JSON
import ModelKit
import OpenAIDialect
import Testing

@Suite("Lists of models are read from every kind of server")
struct ModelListTests {
    private func models(_ body: String) throws -> [ModelDescription] {
        try OpenAIDialect.models(in: Array(body.utf8), provider: "p")
    }

    @Test("openai has ids and nothing else")
    func openAI() throws {
        let list = """
            {"object":"list","data":[{"id":"gpt-5","object":"model","created":1,"owned_by":"openai"},{"id":"o3"},{},7]}
            """
        #expect(
            try models(list) == [
                ModelDescription(id: "gpt-5", provider: "p"), ModelDescription(id: "o3", provider: "p"),
            ])
    }

    @Test("openrouter has prices as strings, contexts and what goes in")
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
        "contexts are found where each server puts them",
        arguments: [
            (#"{"data":[{"id":"m","object":"model","root":"m","max_model_len":8192}]}"#, 8192),
            (#"{"models":[{"name":"m"}],"data":[{"id":"m","meta":{"n_ctx_train":32768}}]}"#, 32768),
            (#"{"models":[{"name":"m","model":"m","context_length":0}]}"#, nil),
            (#"[{"id":"m","maxTokens":4096}]"#, 4096), (#"{"data":["m"]}"#, nil),
        ] as [(String, Int?)])
    func contexts(_ list: String, _ context: Int?) throws {
        #expect(try models(list) == [ModelDescription(id: "m", provider: "p", contextTokens: context)])
    }

    @Test("a gateway tells what its models can do and what a thousand tokens cost")
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

    @Test("what is no list is an error", arguments: ["", "{}", "[", #"{"data":{}}"#, "<html>"])
    func malformed(_ body: String) {
        #expect(throws: DialectError.self) { try models(body) }
    }

    @Test("the list that our server writes is read by us")
    func ownList() throws {
        let models = [ModelDescription(id: "a", provider: "p", name: "A", contextTokens: 5)]
        let body = JSON.object(OpenAIDialect.modelList(models, created: 1)).text()
        #expect(try self.models(body) == models)
    }
}

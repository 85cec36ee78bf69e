import AnthropicDialect
import Capabilities
import JSON
import ModelKit
import Testing

@Suite("Model list")
struct ModelListTests {
    @Test("A page has names, limits, abilities and the next page")
    func page() throws {
        let list = #"""
            {"data":[{"type":"model","id":"claude-a","display_name":"Claude A","created_at":"2025-01-01T00:00:00Z",
            "max_input_tokens":200000,"max_tokens":64000,"capabilities":{"image_input":{"supported":true},
            "pdf_input":{"supported":false},"thinking":{"supported":true,"types":{}},"new":null}},
            {"type":"model","id":"claude-b","display_name":"","max_tokens":0,"capabilities":null},{"id":""},7,
            {"type":"model","id":"claude-old","lifecycle":"retired"}],
            "has_more":true,"first_id":"claude-a","last_id":"claude-old"}
            """#
        let page = try AnthropicDialect.models(in: Array(list.utf8), provider: "p")
        #expect(
            page.models == [
                ModelDescription(
                    id: "claude-a", provider: "p", name: "Claude A", contextTokens: 200_000, outputTokens: 64_000,
                    abilities: [.tools, .images, .reasoning]), ModelDescription(id: "claude-b", provider: "p"),
            ])
        #expect(page.next == "claude-old")
    }

    @Test("The last page has no next page")
    func last() throws {
        for list in [#"{"data":[],"has_more":false,"last_id":"a"}"#, #"{"data":[],"has_more":null}"#, #"{"data":[]}"#] {
            let page = try AnthropicDialect.models(in: Array(list.utf8), provider: "p")
            #expect(page.models.isEmpty && page.next == nil)
        }
    }

    @Test("An invalid list is refused", arguments: ["", "[]", "{}", #"{"data":{}}"#, "<html>"])
    func malformed(_ body: String) {
        let error = #expect(throws: DialectError.self) {
            try AnthropicDialect.models(in: Array(body.utf8), provider: "p")
        }
        #expect(error?.kind == .malformed)
    }

    @Test("Our own list is read back")
    func again() throws {
        let models = [
            ModelDescription(id: "a", provider: "p", name: "A", contextTokens: 9, outputTokens: 5),
            ModelDescription(id: "b", provider: "p", name: "B"),
        ]
        let body = JSON.object(AnthropicDialect.modelList(models)).text()
        #expect(
            try AnthropicDialect.models(in: Array(body.utf8), provider: "p") == ModelPage(models: models, next: nil))
    }
}

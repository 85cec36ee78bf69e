import Capabilities
import JSON
import MCPKit

/// What the conformance suite of the protocol wants of a server.
struct ScenarioService: MCPService {
    let identity = MCPIdentity(name: "scenarios", version: "1")
    let changes = MCPChanges()
    /// Lets `test_reconnection` end.
    let mayEnd = Promise<Void>()

    static let image = Attachment(name: "image", mediaType: "image/png", bytes: [0x89, 0x50, 0x4E, 0x47])
    static let audio = Attachment(name: "audio", mediaType: "audio/wav", bytes: [1, 2, 3])
    static let resource = ToolResource(
        address: "test://embedded", mediaType: "text/plain", content: .text("embedded"))
    /// A schema with keywords of the draft 2020-12.
    static let schema: JSON = [
        "$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object",
        "$defs": ["address": ["$anchor": "address", "type": "object", "properties": ["street": ["type": "string"]]]],
        "properties": ["name": ["type": "string"], "address": ["$ref": "#/$defs/address"]],
        "allOf": [["anyOf": [["required": ["name"]], ["required": ["address"]]]]],
        "if": ["required": ["address"]], "then": ["required": ["name"]], "else": [:], "additionalProperties": false,
    ]
    static let defaults: JSON = [
        "type": "object",
        "properties": [
            "name": ["type": "string", "default": "John Doe"], "age": ["type": "integer", "default": 30],
            "score": ["type": "number", "default": 95.5],
            "status": ["type": "string", "enum": ["active", "inactive", "pending"], "default": "active"],
            "verified": ["type": "boolean", "default": true],
        ], "required": [],
    ]
    static let enums: JSON = [
        "type": "object",
        "properties": [
            "plain": ["type": "string", "enum": ["a", "b"]],
            "titled": ["type": "string", "oneOf": [["const": "a", "title": "The A"]]],
            "legacy": ["type": "string", "enum": ["a"], "enumNames": ["The A"]],
            "several": ["type": "array", "items": ["type": "string", "enum": ["a", "b"]]],
            "severalTitled": ["type": "array", "items": ["anyOf": [["const": "a", "title": "The A"]]]],
        ], "required": [],
    ]

    func capabilities(for peer: MCPPeer) -> MCPServerCapabilities {
        var offered = MCPServerCapabilities()
        offered.tools = MCPServerCapabilities.Listing(tellsChanges: true)
        offered.prompts = MCPServerCapabilities.Listing(tellsChanges: true)
        offered.resources = MCPServerCapabilities.Listing(tellsChanges: true)
        (offered.subscribesResources, offered.logging, offered.completions) = (true, true, true)
        return offered
    }

    // MARK: Tools

    static let names = [
        "simple_text", "image_content", "audio_content", "embedded_resource", "multiple_content_types", "logging",
        "error", "progress", "sampling", "elicitation", "defaults", "enums", "roots", "several", "rounds",
        "reconnection",
    ]

    func tools(for peer: MCPPeer) async throws -> [MCPTool] {
        Self.names.map { MCPTool(name: "test_\($0)", summary: "Tests \($0).") }
            + [MCPTool(name: "json_schema_2020_12_tool", summary: "Has a schema.", input: Self.schema)]
    }

    func call(_ tool: String, _ arguments: JSONObject, in context: MCPCallContext) async throws -> MCPResult {
        switch tool {
        case "test_simple_text": return MCPResult("simple")
        case "test_image_content": return MCPResult([.media(Self.image)])
        case "test_audio_content": return MCPResult([.media(Self.audio)])
        case "test_embedded_resource": return MCPResult([.resource(Self.resource)])
        case "test_multiple_content_types":
            return MCPResult([.text("several"), .media(Self.image), .resource(Self.resource)])
        case "test_logging":
            for word in ["started", "processing", "completed"] { context.log(.info, .string(word)) }
            return MCPResult("logged")
        case "test_error": return MCPResult("This tool fails on purpose", isError: true)
        case "test_progress":
            for value in [0.0, 50, 100] { context.progress(value, of: 100) }
            return MCPResult("done")
        case "test_sampling":
            let answer = try await context.sample(
                MCPSampling([MCPMessage(.user, [.text(arguments["prompt"]?.string ?? "")])], mostTokens: 100))
            return MCPResult("LLM response: \(answer.parts.map(\.text).joined())")
        case "test_elicitation": return try await ask(["type": "object", "properties": [:]], context)
        case "test_defaults": return try await ask(Self.defaults, context)
        case "test_enums": return try await ask(Self.enums, context)
        case "test_roots": return MCPResult(try await context.roots().map(\.address).joined(separator: " "))
        case "test_several":
            async let asked = ask(["type": "object", "properties": [:]], context)
            async let folders = context.roots()
            async let sampled = context.sample(MCPSampling([], mostTokens: 1))
            return MCPResult("\(try await asked.isError) \(try await folders.count) \(try await sampled.model)")
        case "test_rounds":
            for step in 1...3 { _ = try await ask(["type": "object", "title": "step \(step)"], context) }
            return MCPResult("all rounds")
        case "test_reconnection":
            context.progress(1)
            try await mayEnd.value()
            return MCPResult("after the break")
        default: throw MCPUnknown.tool(tool)
        }
    }

    private func ask(_ schema: JSON, _ context: MCPCallContext) async throws -> MCPResult {
        switch try await context.elicit(.form(message: "Please", schema: schema)) {
        case .accept(let values): MCPResult("accept \(JSON.object(values).text())")
        case .decline: MCPResult("decline")
        case .cancel: MCPResult("cancel")
        }
    }

    // MARK: Resources

    func resources(for peer: MCPPeer) async throws -> [ToolLink] {
        [
            ToolLink(address: "test://static-text", name: "text"),
            ToolLink(address: "test://static-binary", name: "binary"),
        ]
    }

    func resourceTemplates(for peer: MCPPeer) async throws -> [MCPResourceTemplate] {
        [MCPResourceTemplate(address: "test://template/{id}/data", name: "template")]
    }

    func read(_ address: String, in context: MCPCallContext) async throws -> [ToolResource] {
        switch address {
        case "test://static-text":
            [ToolResource(address: address, mediaType: "text/plain", content: .text("static"))]
        case "test://static-binary":
            [ToolResource(address: address, mediaType: "image/png", content: .bytes(Self.image.bytes))]
        case "test://template/123/data":
            [ToolResource(address: address, mediaType: "application/json", content: .text(#"{"id":"123"}"#))]
        default: throw MCPUnknown.resource(address)
        }
    }

    // MARK: Prompts

    func prompts(for peer: MCPPeer) async throws -> [MCPPrompt] {
        [
            MCPPrompt("test_simple_prompt", summary: "Is simple."),
            MCPPrompt(
                "test_prompt_with_arguments", summary: "Has arguments.",
                arguments: [MCPPrompt.Argument("arg1", isRequired: true), MCPPrompt.Argument("arg2", isRequired: true)]),
            MCPPrompt("test_prompt_with_embedded_resource"), MCPPrompt("test_prompt_with_image"),
            MCPPrompt("test_prompt_that_asks"),
        ]
    }

    func prompt(
        _ name: String, _ arguments: [String: String], in context: MCPCallContext
    ) async throws -> MCPFilledPrompt {
        let parts: [ToolPart]
        switch name {
        case "test_simple_prompt": parts = [.text("simple")]
        case "test_prompt_with_arguments": parts = [.text("\(arguments["arg1"] ?? "") \(arguments["arg2"] ?? "")")]
        case "test_prompt_with_embedded_resource": parts = [.resource(Self.resource)]
        case "test_prompt_with_image": parts = [.media(Self.image)]
        case "test_prompt_that_asks": parts = try await ask(["type": "object"], context).parts
        default: throw MCPUnknown.prompt(name)
        }
        return MCPFilledPrompt(messages: [MCPMessage(.user, parts)])
    }

    func complete(
        _ reference: MCPReference, _ argument: String, _ value: String, given: [String: String], for peer: MCPPeer
    ) async throws -> MCPCompletions {
        MCPCompletions(["paris", "park", "party"].filter { $0.hasPrefix(value) })
    }
}

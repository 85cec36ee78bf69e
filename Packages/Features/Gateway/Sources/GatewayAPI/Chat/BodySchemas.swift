import Capabilities
import JSON

/// JSON Schemas of the members in the bodies of the three dialects, for the OpenAPI document.
///
/// The dialects parse the bodies themselves. A test sends bodies that these schemas allow and bodies that they do not.
enum BodySchemas {
    private static let text: JSON = ["type": "string"]
    private static let word: JSON = ["type": "string", "minLength": 1]
    private static let anyObject: JSON = ["type": "object"]
    private static let flag: JSON = ["type": "boolean"]

    private static func one(of words: String...) -> JSON {
        ["type": "string", "enum": .array(words.map { .string($0) })]
    }

    private static func any(of schemas: JSON...) -> JSON { ["anyOf": .array(schemas)] }

    private static func list(_ items: JSON) -> JSON { ["type": "array", "items": items] }

    /// An object schema. Optional members may also be null, which the dialects treat as absent.
    private static func object(_ required: [String], _ properties: JSONObject) -> JSON {
        var members = JSONObject()
        for (name, schema) in properties {
            let words = schema.object ?? [:]
            members[name] = .object(required.contains(name) ? words : Schema.orNull(words))
        }
        return ["type": "object", "required": .array(required.map { .string($0) }), "properties": .object(members)]
    }

    /// A text, or a list of parts.
    private static func content(_ kinds: JSON) -> JSON { any(of: text, list(kinds)) }

    /// A data URI with the bytes; the gateway does not fetch other URLs.
    private static let dataURI: JSON = [
        "type": "string", "pattern": #"^data:[a-z]+/[a-z0-9.+-]+;base64,([A-Za-z0-9+/]{4})*$"#,
    ]

    /// A message of these roles with text in it; a conversation has at least one.
    private static func saying(_ roles: JSON, type: JSON? = nil) -> JSON {
        let said = any(of: word, ["type": "array", "contains": object(["text"], ["text": word])])
        var properties: JSONObject = ["role": roles, "content": said]
        properties["type"] = type
        return object(["role", "content"], properties)
    }

    private static func conversation(_ message: JSON, _ roles: JSON) -> JSONObject {
        ["items": message, "minItems": 1, "contains": saying(roles)]
    }

    private static func words(_ schema: JSON) -> JSONObject { schema.object ?? [:] }

    /// The format of an answer: text, any JSON, or JSON that fits a schema.
    private static func format(_ schema: JSON) -> JSON {
        any(of: object(["type"], ["type": one(of: "text", "json_object")]), schema)
    }
}

// MARK: - Chat completions

extension BodySchemas {
    static let openAIMessages = conversation(openAIMessage, one(of: "system", "developer", "user", "assistant"))

    private static let openAIMessage: JSON = {
        func message(_ roles: JSON, _ required: [String], _ more: JSONObject) -> JSON {
            var properties: JSONObject = ["role": roles, "content": openAIContent]
            for (name, schema) in more { properties[name] = schema }
            return object(["role"] + required, properties)
        }
        let call = object(
            ["id", "function"],
            [
                "id": text,
                "function": object(["name"], ["name": text, "arguments": any(of: text, anyObject)]),
            ])
        let assistant: JSONObject = [
            "tool_calls": list(call), "refusal": text, "reasoning_content": [:], "reasoning": [:],
        ]
        return any(
            of: message(one(of: "system", "developer", "user"), ["content"], [:]),
            message(one(of: "assistant"), [], assistant),
            message(one(of: "tool"), ["tool_call_id"], ["tool_call_id": text]))
    }()

    private static let openAIContent: JSON = {
        let image = any(of: dataURI, object(["url"], ["url": dataURI]))
        let file = object(["file_data"], ["file_data": dataURI, "filename": text])
        return content(
            any(
                of: object(["type", "text"], ["type": one(of: "text", "input_text", "output_text"), "text": text]),
                object(["type", "refusal"], ["type": one(of: "refusal"), "refusal": text]),
                object(["type", "image_url"], ["type": one(of: "image_url"), "image_url": image]),
                object(["type", "file"], ["type": one(of: "file"), "file": file])))
    }()

    static let openAITools: JSONObject = {
        let function = object(["name"], ["name": word, "description": text, "parameters": anyObject])
        return ["items": object(["function"], ["type": one(of: "function"), "function": function])]
    }()

    static let openAIToolChoice: JSONObject = {
        let named = object(
            ["type", "function"], ["type": one(of: "function"), "function": object(["name"], ["name": word])])
        return words(any(of: one(of: "auto", "none", "required"), named))
    }()

    static let openAIFormat: JSONObject = {
        let schema = object(["schema"], ["name": text, "schema": anyObject])
        return words(format(object(["type", "json_schema"], ["type": one(of: "json_schema"), "json_schema": schema])))
    }()

    static let stop = words(any(of: text, list(text)))
    static let streamOptions = words(object([], ["include_usage": flag]))
}

// MARK: - Messages

extension BodySchemas {
    static let anthropicMessages: JSONObject = {
        let roles = one(of: "system", "user", "assistant")
        return conversation(object(["role", "content"], ["role": roles, "content": content(anthropicBlock)]), roles)
    }()

    private static let plainBlock = object(["type", "text"], ["type": one(of: "text"), "text": text])
    private static let textBlock = object(
        ["type", "text"], ["type": one(of: "text"), "text": text, "citations": list([:])])

    private static let anthropicBlock: JSON = {
        let bytes: JSON = ["type": "string", "pattern": "^([A-Za-z0-9+/]{4})*$"]
        let mediaType: JSON = ["type": "string", "pattern": #"^[^/\s;,]+/[^/\s;,]+$"#]
        let source = any(
            of: object(
                ["type", "media_type", "data"], ["type": one(of: "base64"), "media_type": mediaType, "data": bytes]),
            object(["type", "data"], ["type": one(of: "text"), "data": text]))
        let result: JSONObject = [
            "type": one(of: "tool_result"), "tool_use_id": text, "content": content(textBlock), "is_error": flag,
        ]
        let call: JSONObject = ["type": one(of: "tool_use"), "id": text, "name": text, "input": anyObject]
        return any(
            of: textBlock,
            object(["type", "source"], ["type": one(of: "image", "document"), "source": source, "title": text]),
            object(["type", "thinking"], ["type": one(of: "thinking"), "thinking": text, "signature": [:]]),
            object(["type", "data"], ["type": one(of: "redacted_thinking"), "data": text]),
            object(["type", "id", "name"], call), object(["type", "tool_use_id"], result))
    }()

    static let anthropicSystem = words(content(plainBlock))

    static let anthropicTools: JSONObject = {
        let tool: JSONObject = [
            "name": word, "type": one(of: "custom"), "description": text, "input_schema": anyObject,
        ]
        return ["items": object(["name", "input_schema"], tool)]
    }()

    static let anthropicToolChoice: JSONObject = {
        let kind = object(["type"], ["type": one(of: "auto", "any", "none"), "disable_parallel_tool_use": flag])
        return words(any(of: kind, object(["type", "name"], ["type": one(of: "tool"), "name": word])))
    }()

    static let anthropicThinking: JSONObject = {
        let budget: JSON = ["type": "integer", "minimum": 1024, "maximum": .int(.max)]
        let enabled: JSONObject = ["type": one(of: "enabled"), "budget_tokens": budget]
        return words(
            any(
                // Other words are left to the server, which may be newer.
                of: object(["type"], ["type": ["type": "string", "not": ["const": "enabled"]]]),
                object(["type", "budget_tokens"], enabled)))
    }()

    static let anthropicOutput: JSONObject = {
        let schema = object(["type", "schema"], ["type": one(of: "json_schema"), "schema": anyObject])
        return words(object([], ["effort": text, "format": schema]))
    }()
}

// MARK: - Responses

extension BodySchemas {
    static let responsesInput: JSONObject = {
        let roles = one(of: "system", "developer", "user", "assistant")
        let summary = object(["text"], ["text": text])
        let call: JSONObject = [
            "type": one(of: "function_call"), "call_id": text, "name": text, "arguments": text,
        ]
        let output: JSONObject = [
            "type": one(of: "function_call_output"), "call_id": text, "output": responsesContent,
        ]
        let item = any(
            of: object(
                ["role", "content"], ["type": one(of: "message"), "role": roles, "content": responsesContent]),
            object(["type", "call_id", "name"], call), object(["type", "call_id"], output),
            object(["type"], ["type": one(of: "reasoning"), "summary": list(summary)]))
        var items = words(list(item))
        items["minItems"] = 1
        items["contains"] = saying(roles, type: one(of: "message"))
        return words(any(of: word, .object(items)))
    }()

    private static let responsesContent = content(
        any(
            of: object(["type", "text"], ["type": one(of: "input_text", "output_text", "text"), "text": text]),
            object(["type", "refusal"], ["type": one(of: "refusal"), "refusal": text]),
            object(["type", "image_url"], ["type": one(of: "input_image"), "image_url": dataURI]),
            object(
                ["type", "file_data"], ["type": one(of: "input_file"), "file_data": dataURI, "filename": text])))

    static let responsesTools: JSONObject = {
        let tool: JSONObject = [
            "type": one(of: "function"), "name": word, "description": text, "parameters": anyObject,
        ]
        return ["items": object(["type", "name"], tool)]
    }()

    static let responsesToolChoice: JSONObject = {
        let named = object(["type", "name"], ["type": one(of: "function"), "name": word])
        return words(any(of: one(of: "auto", "none", "required"), named))
    }()

    static let responsesText: JSONObject = {
        let schema = object(["type", "schema"], ["type": one(of: "json_schema"), "name": text, "schema": anyObject])
        return words(object([], ["format": format(schema)]))
    }()

    static let responsesReasoning = words(object([], ["effort": text]))
}

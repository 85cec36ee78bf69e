import Capabilities
import DialectTesting
import OpenAIDialect

extension Fixture {
    static let ends = [
        Fixture(
            "a reason to finish and the end of the stream are an end", .compatible,
            #"""
            data: {"id":"c","model":"m","choices":[{"index":0,"delta":{"content":"ok"}}]}

            data: {"id":"c","model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}
            """#,
            Reading(model: "m", text: "ok", finish: .stop)),
        Fixture(
            "neither is a cut, and what came is kept", .compatible, isKnownToVendor: false,
            #"""
            data: {"id":"c","model":"m","choices":[{"index":0,"delta":{"content":"half of "}}]}

            data: {"id":"c","model":"m","choices":[{"index":0,"delta":{"content":"it"}}]}
            """#,
            Reading(model: "m", text: "half of it", failure: "model.cut")),
        Fixture(
            "lines may end in CR LF, and the end in spaces", .compatible,
            "data:{\"id\":\"c\",\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"ok\"}}]}\r\n\r\n"
                + "data: [DONE] \r\n\r\n",
            Reading(model: "m", text: "ok", finish: .stop)),
        Fixture(
            "what nobody knows passes: keys, objects, a reason", .compatible,
            #"""
            data: {"id":"c","model":"m","new":{"a":[1]},"choices":[{"index":0,"new":1,"delta":{"content":"ok","new":[]}}]}

            data: {"object":"chat.something","choices":[]}

            data: {"id":"c","model":"m","choices":[{"index":0,"delta":{},"finish_reason":"tired"}]}

            data: [DONE]
            """#,
            Reading(model: "m", text: "ok", finish: .other("tired"))),
        Fixture(
            "events with other names are for others, and so is what is no object", .compatible, isKnownToVendor: false,
            #"""
            event: ping
            data: still here

            data: {"id":"c","model":"m","choices":[{"index":0,"delta":{"content":"ok"}}]}

            event: ping
            data: {}

            data: [1,2]

            data: [DONE]
            """#,
            Reading(model: "m", text: "ok", finish: .stop)),
        Fixture(
            "of several answers the first is taken", .compatible, isKnownToVendor: false,
            #"""
            data: {"id":"c","model":"m","choices":[{"index":1,"delta":{"content":"B"}}]}

            data: {"id":"c","model":"m","choices":[{"index":0,"delta":{"content":"A"}}]}

            data: {"id":"c","model":"m","choices":[{"index":1,"delta":{"content":"B"}},{"index":0,"delta":{"content":"A"}}]}

            data: {"id":"c","model":"m","choices":[{"index":1,"delta":{},"finish_reason":"length"}]}

            data: {"id":"c","model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}

            data: [DONE]
            """#,
            Reading(model: "m", text: "AA", finish: .stop)),
        Fixture(
            "usage under Anthropic's names leaves the cache out of the input", .compatible, isKnownToVendor: false,
            #"""
            data: {"id":"c","model":"m","choices":[{"index":0,"delta":{"content":"ok"},"finish_reason":"stop"}],"usage":{"input_tokens":3,"cache_read_input_tokens":100,"cache_creation_input_tokens":20,"output_tokens":7}}

            data: {"id":"c","model":"m","choices":[],"usage":null}

            data: [DONE]
            """#,
            Reading(
                model: "m", text: "ok",
                usage: Usage(inputTokens: 123, outputTokens: 7, cachedTokens: 100, cacheWriteTokens: 20),
                finish: .stop)),
        Fixture(
            "content in blocks, with thoughts among them", .compatible, isKnownToVendor: false,
            #"""
            data: {"id":"c","model":"m","choices":[{"index":0,"delta":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]}]}}]}

            data: {"id":"c","model":"m","choices":[{"index":0,"delta":{"content":[{"type":"text","text":"o"},{"type":"text","text":"k"}]}}]}

            data: [DONE]
            """#,
            Reading(model: "m", text: "ok", reasoning: "hm", finish: .stop)),
    ]
}

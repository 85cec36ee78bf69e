import Capabilities
import DialectTesting
import OpenAIDialect

extension Fixture {
    static let gateway = [
        Fixture(
            "gateway: calls that it has run, a heartbeat, the model of its own choice", .gateway,
            #"""
            data: {"id":"chatcmpl-g","object":"chat.completion.chunk","created":1,"model":"claude-sonnet-4-5-20250929","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}

            data: {"id":"chatcmpl-g","object":"chat.completion.chunk","created":1,"model":"claude-sonnet-4-5-20250929","choices":[{"index":0,"delta":{"content":"I will look."},"finish_reason":null}]}

            data: {"id":"chatcmpl-g","object":"chat.completion.chunk","created":1,"model":"claude-sonnet-4-5-20250929","choices":[{"index":0,"delta":{"tool_calls":[{"id":"toolu_1","type":"function","function":{"name":"Bash","arguments":"{\"command\": \"ls\"}"},"index":0}]},"finish_reason":null}]}

            : heartbeat

            data: {"id":"chatcmpl-g","object":"chat.completion.chunk","created":1,"model":"claude-sonnet-4-5-20250929","choices":[{"index":0,"delta":{"content":"Two files."},"finish_reason":null}]}

            data: {"id":"chatcmpl-g","object":"chat.completion.chunk","created":1,"model":"claude-sonnet-4-5-20250929","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}

            data: [DONE]
            """#,
            Reading(
                model: "claude-sonnet-4-5-20250929", text: "I will look.Two files.",
                calls: [#"toolu_1 Bash {"command":"ls"}, done"#], finish: .stop)),
        Fixture(
            "gateway: a call that is done is history, even when its input cannot be read", .gateway,
            isKnownToVendor: false,
            #"""
            data: {"id":"chatcmpl-g","object":"chat.completion.chunk","model":"claude","choices":[{"index":0,"delta":{"tool_calls":[{"id":"t1","type":"function","function":{"name":"Bash","arguments":"{'command'}"},"index":0}]},"finish_reason":null}]}

            data: {"id":"chatcmpl-g","object":"chat.completion.chunk","model":"claude","choices":[{"index":0,"delta":{"content":"ok"},"finish_reason":null}]}

            data: {"id":"chatcmpl-g","object":"chat.completion.chunk","model":"claude","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}

            data: [DONE]
            """#,
            Reading(model: "claude", text: "ok", calls: [#"t1 Bash "{'command'}", done"#], finish: .stop)),
        Fixture(
            "gateway fails in its stream", .gateway,
            #"""
            data: {"id":"chatcmpl-g","object":"chat.completion.chunk","created":1,"model":"claude","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}

            data: {"error":{"message":"process exited","type":"error","code":"stream_error"}}

            data: [DONE]
            """#,
            Reading(model: "claude", failure: "model.failed", words: "process exited")),
        Fixture(
            "gateway: its program refuses to start, and the turn is empty", .gateway, isKnownToVendor: false,
            #"""
            data: {"id":"chatcmpl-g","object":"chat.completion.chunk","created":1,"model":"claude","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}

            data: {"id":"chatcmpl-g","object":"chat.completion.chunk","created":1,"model":"claude","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}

            data: [DONE]
            """#,
            Reading(model: "claude", failure: "model.empty")),
        Fixture(
            "rich gateway: frames for tools, results and usage, and one that nobody knows", .gateway,
            isKnownToVendor: false,
            #"""
            data: {"id":"chatcmpl-r","object":"chat.completion.chunk","created":1,"model":"claude","session_id":"s1","project_id":"p1","choices":[{"index":0,"delta":{"role":"assistant","content":"Looking."},"finish_reason":null}]}

            data: {"object":"tool_use","id":"t1","name":"Bash","input":{"command":"ls"}}

            data: {"object":"tool_use","id":"t2","name":"Read","input":{"path":"a"}}

            data: {"object":"weather","sky":"blue"}

            data: {"object":"tool_result","tool_id":"t2","name":"Read","is_error":true,"duration_ms":12,"content":"no such file"}

            data: {"object":"tool_result","tool_id":"t1","name":"Bash","is_error":false,"duration_ms":1500,"exit_code":0,"content":[{"type":"text","text":"a b"}]}

            data: {"id":"chatcmpl-r","object":"chat.completion.chunk","created":1,"model":"claude","choices":[{"index":0,"delta":{"content":"Done."},"finish_reason":"stop"}]}

            data: {"object":"usage","input_tokens":10,"output_tokens":5,"total_tokens":15,"total_cost":0.25}

            data: [DONE]
            """#,
            Reading(
                model: "claude", text: "Looking.Done.",
                calls: [#"t1 Bash {"command":"ls"}, done"#, #"t2 Read {"path":"a"}, done"#],
                results: [
                    ToolResult(call: "t2", content: "no such file", isError: true, duration: .milliseconds(12)),
                    ToolResult(call: "t1", content: "a b", duration: .milliseconds(1500), exitCode: 0),
                ],
                usage: Usage(inputTokens: 10, outputTokens: 5, cost: Cost(nanodollars: 250_000_000)), finish: .stop)),
        Fixture(
            "a gateway that tells of one call in two ways, and knows no cost", .gateway, isKnownToVendor: false,
            #"""
            data: {"object":"tool_use","id":"t1","name":"Bash","input":{"command":"ls"}}

            data: {"id":"c","object":"chat.completion.chunk","model":"claude","choices":[{"index":0,"delta":{"tool_calls":[{"id":"t1","type":"function","function":{"name":"Bash","arguments":"{\"command\":\"ls\"}"},"index":0}]},"finish_reason":null}]}

            data: {"id":"c","object":"chat.completion.chunk","model":"claude","choices":[{"index":0,"delta":{"content":"ok"},"finish_reason":"stop"}]}

            data: {"object":"usage","input_tokens":1,"output_tokens":1,"total_cost":0}

            data: [DONE]
            """#,
            Reading(
                model: "claude", text: "ok", calls: [#"t1 Bash {"command":"ls"}, done"#],
                usage: Usage(inputTokens: 1, outputTokens: 1), finish: .stop)),
    ]
}

import Capabilities
import DialectTesting
import OpenAIDialect

extension Fixture {
    static let openAI = [
        Fixture(
            "openai text", .openAI,
            #"""
            data: {"id":"chatcmpl-9","object":"chat.completion.chunk","created":1760000000,"model":"gpt-5-2026-01-01","service_tier":"default","system_fingerprint":"fp_1","choices":[{"index":0,"delta":{"role":"assistant","content":"","refusal":null},"logprobs":null,"finish_reason":null}],"usage":null,"obfuscation":"aB3"}

            data: {"id":"chatcmpl-9","object":"chat.completion.chunk","created":1760000000,"model":"gpt-5-2026-01-01","service_tier":"default","system_fingerprint":"fp_1","choices":[{"index":0,"delta":{"content":"Größe: "},"logprobs":null,"finish_reason":null}],"usage":null,"obfuscation":"x"}

            data: {"id":"chatcmpl-9","object":"chat.completion.chunk","created":1760000000,"model":"gpt-5-2026-01-01","service_tier":"default","system_fingerprint":"fp_1","choices":[{"index":0,"delta":{"content":"\"3\"\n\ud83d\ude00"},"logprobs":null,"finish_reason":null}],"usage":null,"obfuscation":"yy"}

            data: {"id":"chatcmpl-9","object":"chat.completion.chunk","created":1760000000,"model":"gpt-5-2026-01-01","service_tier":"default","system_fingerprint":"fp_1","choices":[{"index":0,"delta":{},"logprobs":null,"finish_reason":"stop"}],"usage":null,"obfuscation":"zzz"}

            data: {"id":"chatcmpl-9","object":"chat.completion.chunk","created":1760000000,"model":"gpt-5-2026-01-01","service_tier":"default","system_fingerprint":"fp_1","choices":[],"usage":{"prompt_tokens":1024,"completion_tokens":70,"total_tokens":1094,"prompt_tokens_details":{"cached_tokens":512,"audio_tokens":0,"cache_write_tokens":3},"completion_tokens_details":{"reasoning_tokens":64,"audio_tokens":0,"accepted_prediction_tokens":0,"rejected_prediction_tokens":0}},"obfuscation":""}

            data: [DONE]
            """#,
            Reading(
                model: "gpt-5-2026-01-01", text: "Größe: \"3\"\n😀",
                usage: Usage(
                    inputTokens: 1024, outputTokens: 70, cachedTokens: 512, cacheWriteTokens: 3, reasoningTokens: 64),
                finish: .stop)),
        Fixture(
            "openai parallel calls", .openAI,
            #"""
            data: {"id":"chatcmpl-2","object":"chat.completion.chunk","created":1,"model":"gpt-4o","choices":[{"index":0,"delta":{"role":"assistant","content":null},"finish_reason":null}]}

            data: {"id":"chatcmpl-2","object":"chat.completion.chunk","created":1,"model":"gpt-4o","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_a","type":"function","function":{"name":"read","arguments":""}}]},"finish_reason":null}]}

            data: {"id":"chatcmpl-2","object":"chat.completion.chunk","created":1,"model":"gpt-4o","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"path\":"}}]},"finish_reason":null}]}

            data: {"id":"chatcmpl-2","object":"chat.completion.chunk","created":1,"model":"gpt-4o","choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"id":"call_b","type":"function","function":{"name":"list","arguments":"{\"all\""}}]},"finish_reason":null}]}

            data: {"id":"chatcmpl-2","object":"chat.completion.chunk","created":1,"model":"gpt-4o","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"\"a.txt\"}"}},{"index":1,"function":{"arguments":":true}"}}]},"finish_reason":null}]}

            data: {"id":"chatcmpl-2","object":"chat.completion.chunk","created":1,"model":"gpt-4o","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}

            data: [DONE]
            """#,
            Reading(
                model: "gpt-4o", calls: [#"call_a read {"path":"a.txt"}"#, #"call_b list {"all":true}"#],
                finish: .calls)),
        Fixture(
            "openai refusal", .openAI,
            #"""
            data: {"id":"c","object":"chat.completion.chunk","model":"gpt-4o","choices":[{"index":0,"delta":{"role":"assistant","content":null,"refusal":""},"finish_reason":null}]}

            data: {"id":"c","object":"chat.completion.chunk","model":"gpt-4o","choices":[{"index":0,"delta":{"refusal":"I cannot "},"finish_reason":null}]}

            data: {"id":"c","object":"chat.completion.chunk","model":"gpt-4o","choices":[{"index":0,"delta":{"refusal":"do that."},"finish_reason":null}]}

            data: {"id":"c","object":"chat.completion.chunk","model":"gpt-4o","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}

            data: [DONE]
            """#,
            Reading(model: "gpt-4o", refusal: "I cannot do that.", finish: .refused)),
        Fixture(
            "a limit cuts the answer", .openAI,
            #"""
            data: {"id":"c","object":"chat.completion.chunk","model":"gpt-4o","choices":[{"index":0,"delta":{"role":"assistant","content":"Once upon"},"finish_reason":null}]}

            data: {"id":"c","object":"chat.completion.chunk","model":"gpt-4o","choices":[{"index":0,"delta":{},"finish_reason":"length"}]}

            data: [DONE]
            """#,
            Reading(model: "gpt-4o", text: "Once upon", finish: .length)),
        Fixture(
            "a filter holds everything back, and the first chunk is without choices", .openAI,
            #"""
            data: {"id":"","object":"","created":0,"model":"","prompt_filter_results":[{"prompt_index":0,"content_filter_results":{}}],"choices":[]}

            data: {"id":"c","object":"chat.completion.chunk","model":"gpt-4o","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":"content_filter"}]}

            data: [DONE]
            """#,
            Reading(model: "gpt-4o", finish: .refused)),
        Fixture(
            "openai fails in its stream", .openAI,
            #"""
            data: {"id":"c","object":"chat.completion.chunk","model":"gpt-4o","choices":[{"index":0,"delta":{"role":"assistant","content":"Half"},"finish_reason":null}]}

            data: {"error":{"message":"The server had an error\u001b[31m while processing your request.","type":"server_error","param":null,"code":null}}
            """#,
            Reading(
                model: "gpt-4o", text: "Half", failure: "model.failed",
                words: #"The server had an error\u{1B}[31m while processing your request."#)),
    ]
}

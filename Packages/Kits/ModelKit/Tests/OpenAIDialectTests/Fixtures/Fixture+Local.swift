import Capabilities
import DialectTesting
import OpenAIDialect

extension Fixture {
    static let local = [
        Fixture(
            "ollama: role and empty content again and again, whole calls, created changes", .ollama,
            #"""
            data: {"id":"chatcmpl-7","object":"chat.completion.chunk","created":1,"model":"qwen3","system_fingerprint":"fp_ollama","choices":[{"index":0,"delta":{"role":"assistant","content":"","reasoning":"Hm"},"finish_reason":null}]}

            data: {"id":"chatcmpl-7","object":"chat.completion.chunk","created":2,"model":"qwen3","system_fingerprint":"fp_ollama","choices":[{"index":0,"delta":{"role":"assistant","content":"","reasoning":"."},"finish_reason":null}]}

            data: {"id":"chatcmpl-7","object":"chat.completion.chunk","created":3,"model":"qwen3","system_fingerprint":"fp_ollama","choices":[{"index":0,"delta":{"role":"assistant","content":"","tool_calls":[{"id":"call_x1","index":0,"type":"function","function":{"name":"weather","arguments":"{\"city\":\"Oslo\"}"}}]},"finish_reason":null}]}

            data: {"id":"chatcmpl-7","object":"chat.completion.chunk","created":4,"model":"qwen3","system_fingerprint":"fp_ollama","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":"tool_calls"}]}

            data: {"id":"chatcmpl-7","object":"chat.completion.chunk","created":4,"model":"qwen3","system_fingerprint":"fp_ollama","choices":[],"usage":{"prompt_tokens":26,"completion_tokens":9,"total_tokens":35}}

            data: [DONE]
            """#,
            Reading(
                model: "qwen3", reasoning: "Hm.", calls: [#"call_x1 weather {"city":"Oslo"}"#],
                usage: Usage(inputTokens: 26, outputTokens: 9), finish: .calls)),
        Fixture(
            "llama.cpp: reasoning_content, timings, an empty last delta", .llamaCpp,
            #"""
            data: {"choices":[{"finish_reason":null,"index":0,"delta":{"role":"assistant","content":null}}],"created":1,"id":"chatcmpl-L","model":"gemma","system_fingerprint":"b6000","object":"chat.completion.chunk"}

            data: {"choices":[{"finish_reason":null,"index":0,"delta":{"reasoning_content":"So"}}],"created":1,"id":"chatcmpl-L","model":"gemma","system_fingerprint":"b6000","object":"chat.completion.chunk"}

            data: {"choices":[{"finish_reason":null,"index":0,"delta":{"content":"Yes"}}],"created":1,"id":"chatcmpl-L","model":"gemma","system_fingerprint":"b6000","object":"chat.completion.chunk"}

            data: {"choices":[{"finish_reason":"stop","index":0,"delta":{}}],"created":1,"id":"chatcmpl-L","model":"gemma","system_fingerprint":"b6000","object":"chat.completion.chunk"}

            data: {"choices":[],"created":1,"id":"chatcmpl-L","model":"gemma","system_fingerprint":"b6000","object":"chat.completion.chunk","usage":{"completion_tokens":2,"prompt_tokens":11,"total_tokens":13},"timings":{"prompt_n":11,"prompt_ms":20.5,"predicted_n":2,"predicted_per_second":44.1}}

            data: [DONE]
            """#,
            Reading(
                model: "gemma", text: "Yes", reasoning: "So", usage: Usage(inputTokens: 11, outputTokens: 2),
                finish: .stop)),
        Fixture(
            "old llama.cpp: an error as a field of the stream", .llamaCpp, isKnownToVendor: false,
            #"""
            data: {"choices":[{"finish_reason":null,"index":0,"delta":{"content":"Par"}}],"id":"chatcmpl-L","model":"gemma","object":"chat.completion.chunk"}

            error: {"code":500,"message":"context shift is disabled","type":"server_error"}
            """#,
            Reading(model: "gemma", text: "Par", failure: "model.failed", words: "context shift is disabled")),
        Fixture(
            "vllm: an old flat error, then the end", .vLLM, isKnownToVendor: false,
            #"""
            data: {"id":"cmpl-1","object":"chat.completion.chunk","created":1,"model":"llama","choices":[{"index":0,"delta":{"content":"Ab"}}]}

            data: {"object":"error","message":"out of memory","type":"InternalServerError","param":null,"code":500}

            data: [DONE]
            """#,
            Reading(model: "llama", text: "Ab", failure: "model.failed", words: "out of memory")),
        Fixture(
            "vllm: an error, then the end", .vLLM,
            #"""
            data: {"id":"cmpl-1","object":"chat.completion.chunk","created":1,"model":"llama","choices":[{"index":0,"delta":{"content":"Ab"}}]}

            data: {"error":{"message":"EngineCore died","type":"InternalServerError","param":null,"code":500}}

            data: [DONE]
            """#,
            Reading(model: "llama", text: "Ab", failure: "model.failed", words: "EngineCore died")),
        Fixture(
            "vllm: usage in every chunk, choices null, thoughts under two names", .vLLM,
            #"""
            data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"llama","choices":[{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}],"usage":{"prompt_tokens":5,"total_tokens":5,"completion_tokens":0}}

            data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"llama","choices":[{"index":0,"delta":{"reasoning":"A","reasoning_content":"A"}}],"usage":{"prompt_tokens":5,"total_tokens":6,"completion_tokens":1}}

            data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"llama","choices":[{"index":0,"delta":{"content":"B"}}],"usage":{"prompt_tokens":5,"total_tokens":7,"completion_tokens":2}}

            data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"llama","choices":[{"index":0,"delta":{"content":""},"finish_reason":"stop","stop_reason":null}],"usage":{"prompt_tokens":5,"total_tokens":8,"completion_tokens":3}}

            data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"llama","choices":null,"usage":{"prompt_tokens":5,"total_tokens":8,"completion_tokens":3}}

            data: [DONE]
            """#,
            Reading(
                model: "llama", text: "B", reasoning: "A", usage: Usage(inputTokens: 5, outputTokens: 3),
                finish: .stop)),
        Fixture(
            "llama-cpp-python: JSON with spaces, only a role at first", .compatible,
            #"""
            data: {"id": "chatcmpl-p", "model": "m", "created": 1, "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"role": "assistant"}, "logprobs": null, "finish_reason": null}]}

            data: {"id": "chatcmpl-p", "model": "m", "created": 1, "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"content": " four"}, "logprobs": null, "finish_reason": null}]}

            data: {"id": "chatcmpl-p", "model": "m", "created": 1, "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {}, "logprobs": null, "finish_reason": "stop"}]}

            data: [DONE]
            """#,
            Reading(model: "m", text: " four", finish: .stop)),
        Fixture(
            "llama-cpp-python: the context overflows, and nothing more comes", .compatible, isKnownToVendor: false,
            #"""
            data: {"id": "chatcmpl-p", "model": "m", "created": 1, "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"role": "assistant"}, "logprobs": null, "finish_reason": null}]}
            """#,
            Reading(model: "m", failure: "model.cut")),
        Fixture(
            "litellm: no finish_reason in the middle, usage with a choice, a cost", .liteLLM,
            #"""
            data: {"id":"chatcmpl-l","created":1,"model":"claude","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"One","role":"assistant"}}]}

            data: {"id":"chatcmpl-l","created":1,"model":"claude","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":" two"}}]}

            data: {"id":"chatcmpl-l","created":1,"model":"claude","object":"chat.completion.chunk","choices":[{"finish_reason":"stop","index":0,"delta":{}}]}

            data: {"id":"chatcmpl-l","created":1,"model":"claude","object":"chat.completion.chunk","choices":[{"index":0,"delta":{}}],"usage":{"completion_tokens":2,"prompt_tokens":30,"total_tokens":32,"cost":1.5e-05,"cache_creation_input_tokens":4,"cache_read_input_tokens":20,"prompt_tokens_details":{"cached_tokens":20}}}

            data: [DONE]
            """#,
            Reading(
                model: "claude", text: "One two",
                usage: Usage(
                    inputTokens: 30, outputTokens: 2, cachedTokens: 20, cacheWriteTokens: 4,
                    cost: Cost(nanodollars: 15_000)), finish: .stop)),
    ]
}

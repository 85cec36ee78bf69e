import Capabilities
import DialectTesting
import OpenAIDialect

extension Fixture {
    static let openRouter = [
        Fixture(
            "openrouter: comments, thoughts and cost", .openRouter,
            #"""
            : OPENROUTER PROCESSING

            : OPENROUTER PROCESSING

            data: {"id":"gen-1","provider":"Anthropic","model":"anthropic/claude-sonnet-4.5","object":"chat.completion.chunk","created":1,"choices":[{"index":0,"delta":{"role":"assistant","content":"","reasoning":"Let me ","reasoning_details":[{"type":"reasoning.text","text":"Let me ","format":"anthropic-claude-v1","index":0}]},"finish_reason":null,"native_finish_reason":null,"logprobs":null}]}

            data: {"id":"gen-1","provider":"Anthropic","model":"anthropic/claude-sonnet-4.5","object":"chat.completion.chunk","created":1,"choices":[{"index":0,"delta":{"role":"assistant","content":"","reasoning":"think.","reasoning_details":[{"type":"reasoning.text","text":"think.","format":"anthropic-claude-v1","index":0}]},"finish_reason":null,"native_finish_reason":null,"logprobs":null}]}

            data: {"id":"gen-1","provider":"Anthropic","model":"anthropic/claude-sonnet-4.5","object":"chat.completion.chunk","created":1,"choices":[{"index":0,"delta":{"role":"assistant","content":"","reasoning":null,"reasoning_details":[{"type":"reasoning.text","signature":"c2ln","format":"anthropic-claude-v1","index":0}]},"finish_reason":null,"native_finish_reason":null,"logprobs":null}]}

            : OPENROUTER PROCESSING

            data: {"id":"gen-1","provider":"Anthropic","model":"anthropic/claude-sonnet-4.5","object":"chat.completion.chunk","created":1,"choices":[{"index":0,"delta":{"role":"assistant","content":"Hello"},"finish_reason":null,"native_finish_reason":null,"logprobs":null}]}

            data: {"id":"gen-1","provider":"Anthropic","model":"anthropic/claude-sonnet-4.5","object":"chat.completion.chunk","created":1,"choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":"stop","native_finish_reason":"end_turn","logprobs":null}]}

            data: {"id":"gen-1","provider":"Anthropic","model":"anthropic/claude-sonnet-4.5","object":"chat.completion.chunk","created":1,"choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null,"native_finish_reason":null,"logprobs":null}],"usage":{"prompt_tokens":14,"completion_tokens":8,"total_tokens":22,"cost":0.000162,"is_byok":false,"prompt_tokens_details":{"cached_tokens":0},"cost_details":{"upstream_inference_cost":null},"completion_tokens_details":{"reasoning_tokens":4}}}

            data: [DONE]
            """#,
            Reading(
                model: "anthropic/claude-sonnet-4.5", text: "Hello", reasoning: "Let me think.",
                proofs: [
                    #"[{"type":"reasoning.text","text":"Let me think.","format":"anthropic-claude-v1","#
                        + #""index":0,"signature":"c2ln"}]"#
                ],
                usage: Usage(
                    inputTokens: 14, outputTokens: 8, cachedTokens: 0, reasoningTokens: 4,
                    cost: Cost(nanodollars: 162_000)), finish: .stop)),
        Fixture(
            "openrouter fails in its stream", .openRouter,
            #"""
            : OPENROUTER PROCESSING

            data: {"id":"gen-2","model":"openai/gpt-4o","object":"chat.completion.chunk","created":1,"choices":[{"index":0,"delta":{"role":"assistant","content":"Some"},"finish_reason":null}]}

            data: {"id":"gen-2","object":"chat.completion.chunk","created":1,"model":"openai/gpt-4o","provider":"OpenAI","error":{"code":502,"message":"Provider returned error","metadata":{"provider_name":"OpenAI","raw":"upstream is gone"}},"choices":[{"index":0,"delta":{"content":""},"finish_reason":"error"}]}
            """#,
            Reading(
                model: "openai/gpt-4o", text: "Some", failure: "model.failed",
                words: "Provider returned error: upstream is gone")),
    ]
}

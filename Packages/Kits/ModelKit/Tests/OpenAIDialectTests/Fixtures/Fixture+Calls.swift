import Capabilities
import DialectTesting
import OpenAIDialect

extension Fixture {
    static let calls = [
        Fixture(
            "pieces of calls without an index go by their id, else to the last call", .compatible,
            isKnownToVendor: false,
            #"""
            data: {"id":"c","model":"m","choices":[{"index":0,"delta":{"tool_calls":[{"id":"a","function":{"name":"one","arguments":"{\"x\":"}}]}}]}

            data: {"id":"c","model":"m","choices":[{"index":0,"delta":{"tool_calls":[{"id":"b","function":{"name":"two","arguments":"{"}}]}}]}

            data: {"id":"c","model":"m","choices":[{"index":0,"delta":{"tool_calls":[{"function":{"arguments":"}"}}]}}]}

            data: {"id":"c","model":"m","choices":[{"index":0,"delta":{"tool_calls":[{"id":"a","function":{"arguments":"1}"}}]}}]}

            data: {"id":"c","model":"m","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}

            data: [DONE]
            """#,
            Reading(model: "m", calls: [#"a one {"x":1}"#, "b two {}"], finish: .calls)),
        Fixture(
            "a second id at an index begins a new call, and `stop` may want calls answered", .compatible,
            isKnownToVendor: false,
            #"""
            data: {"id":"c","model":"m","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"one","arguments":"{}"}}]}}]}

            data: {"id":"c","model":"m","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"b","type":"function","function":{"name":"two","arguments":"{\"y\""}}]}}]}

            data: {"id":"c","model":"m","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"b","function":{"arguments":":2}"}}]}}]}

            data: {"id":"c","model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}

            data: [DONE]
            """#,
            Reading(model: "m", calls: ["a one {}", #"b two {"y":2}"#], finish: .calls)),
        Fixture(
            "calls without ids, input that is JSON already, none at all, and what cannot be read", .compatible,
            isKnownToVendor: false,
            #"""
            data: {"id":"c","model":"m","choices":[{"index":0,"delta":{"tool_calls":[{"function":{"name":"one","arguments":{"x":1}}},{"id":"","function":{"name":"two"}},{"function":{"name":"three","arguments":"{\"x\":"}},{"function":{"name":"four","arguments":"[1]"}},{"function":{"arguments":null}},{"index":9,"id":"n","function":{"arguments":"{}"}}]}}]}

            data: {"id":"c","model":"m","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}

            data: [DONE]
            """#,
            Reading(
                model: "m", calls: [#"call_1 one {"x":1}"#, "call_2 two {}"],
                badCalls: [#"call_3 three {"x":"#, "call_4 four [1]", "n  {}"], finish: .calls)),
        Fixture(
            "a call that was cut at the limit is no call", .compatible,
            #"""
            data: {"id":"c","model":"m","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"write","arguments":"{\"text\":\"ab"}}]}}]}

            data: {"id":"c","model":"m","choices":[{"index":0,"delta":{},"finish_reason":"length"}]}

            data: [DONE]
            """#,
            Reading(model: "m", badCalls: [#"a write {"text":"ab"#], finish: .length)),
        Fixture(
            "a call whose stream is cut is no call", .compatible, isKnownToVendor: false,
            #"""
            data: {"id":"c","model":"m","choices":[{"index":0,"delta":{"content":"Now","tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"delete","arguments":"{}"}}]}}]}
            """#,
            Reading(model: "m", text: "Now", failure: "model.cut")),
    ]
}

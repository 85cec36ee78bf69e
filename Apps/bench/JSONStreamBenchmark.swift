import Foundation
import JSON

/// Chunks of a chat stream: the pull reader against Foundation's JSONDecoder, both giving the content as a String.
enum JSONStreamBenchmark {
    private struct Chunk: Decodable {
        struct Choice: Decodable {
            struct Delta: Decodable { let content: String? }
            let delta: Delta
        }
        let choices: [Choice]
    }

    static func run() throws -> [Figure] {
        let chunks = (0..<20_000).map { number in
            Array(
                """
                {"id":"chatcmpl-9a7b1c","object":"chat.completion.chunk","created":1763600000,"model":"gpt-5-mini",\
                "system_fingerprint":"fp_44709d6fcb","choices":[{"index":0,"delta":{"content":" word\(number)"},\
                "logprobs":null,"finish_reason":null}]}
                """.utf8)
        }
        let datas = chunks.map { Data($0) }
        let decoder = JSONDecoder()
        var ourLength = 0
        var theirLength = 0
        let (ours, theirs) = try Samples.best(of: 9) {
            ourLength = 0
            for chunk in chunks { ourLength += try content(chunk).utf8.count }
        } theirs: {
            theirLength = 0
            for data in datas {
                theirLength += try decoder.decode(Chunk.self, from: data).choices.first?.delta.content?.utf8.count ?? 0
            }
        }
        guard ourLength == theirLength, ourLength > 0 else { throw BenchmarkError("the two read different texts") }
        return [
            Figure("JSONDecoder / pull reader", theirs / ours, "ratio", .atLeast(15)),
            Figure("pull reader", ours / Double(chunks.count) * 1e9, "ns/chunk"),
            Figure("JSONDecoder", theirs / Double(chunks.count) * 1e9, "ns/chunk"),
        ]
    }

    private static func content(_ chunk: [UInt8]) throws -> String {
        try JSONPullReader.read(chunk) { reader in
            var text = ""
            try reader.object { reader, key in
                guard key == "choices" else { return }
                try reader.array { reader in
                    try reader.object { reader, key in
                        guard key == "delta" else { return }
                        try reader.object { reader, key in
                            if key == "content", !reader.isNull { text = try reader.string() }
                        }
                    }
                }
            }
            return text
        }
    }
}

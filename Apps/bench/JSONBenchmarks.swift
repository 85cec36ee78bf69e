import Foundation
import Glibc
import JSON

/// A strict parse of a document of 100 MB into a tree, against Python's `json`.
enum JSONBenchmark {
    static func run() throws -> [Figure] {
        let text = document(bytes: 100_000_000)
        let path = "/tmp/martlet-bench-\(getpid()).json"
        defer { unsafe unlink(path) }
        guard let file = unsafe fopen(path, "w") else { throw BenchmarkError("cannot write \(path)") }
        unsafe fwrite(text, 1, text.count, file)
        unsafe fclose(file)
        var members = 0
        let ours = try Samples.best(of: 3) {
            members = try JSON(parsing: text)["rows"]?.array?.count ?? 0
        }
        let program = """
            import json, time
            text = open('\(path)', 'rb').read()
            best = 9e9
            for _ in range(3):
                start = time.perf_counter(); rows = len(json.loads(text)['rows']); best = min(best, time.perf_counter() - start)
            print(rows, best)
            """
        let answer = try Child.output("python3", ["-c", program]).split(whereSeparator: \.isWhitespace)
        guard answer.count == 2, Int(answer[0]) == members, let theirs = Double(answer[1]) else {
            throw BenchmarkError("python3 read another number of rows")
        }
        return [
            Figure("100 MB: Python json / ours", theirs / ours, "ratio", .atLeast(3)),
            Figure("ours", Double(text.count) / ours / 1e6, "MB/s"),
            Figure("Python json", Double(text.count) / theirs / 1e6, "MB/s"),
        ]
    }

    /// Rows like those of an API: ids, words, numbers, flags, nested lists, some escapes and some non-ASCII text.
    private static func document(bytes: Int) -> [UInt8] {
        var text: [UInt8] = Array("{\"rows\":[".utf8)
        text.reserveCapacity(bytes + 1000)
        var number = 0
        while text.count < bytes {
            if number > 0 { text.append(UInt8(ascii: ",")) }
            let row = """
                {"id":\(number),"name":"model-\(number % 977)","size":\(number * 4096),"score":\(Double(number % 1000) / 7),\
                "active":\(number % 3 == 0),"owner":null,"note":"line one\\nline \\"two\\" – größer \(number)",\
                "tags":["alpha","beta",\(number % 10)],"limits":{"context":131072,"output":8192}}
                """
            text.append(contentsOf: row.utf8)
            number += 1
        }
        text.append(contentsOf: "]}".utf8)
        return text
    }
}

/// Chunks of a chat stream: the pull reader against Foundation's JSONDecoder, both returning the content as a String.
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

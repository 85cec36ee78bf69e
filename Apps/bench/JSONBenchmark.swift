import Glibc
import JSON

/// A strict parse of a document of 100 MB into a tree, against Python's `json` doing the same.
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

    /// Rows as an API gives them: ids, words, numbers, flags, nested lists, some escapes and some non-ASCII text.
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
